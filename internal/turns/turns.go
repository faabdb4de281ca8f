// Package turns decides from a seed which goroutine of a testing/synctest bubble runs next, and everything that Go's
// runtime draws at random there. It works in programs built with the runtime overlay that package internal/overlay
// generates, and with its build tag. In all other programs it does nothing.
package turns

import "reflect"

// Tag is the build tag of programs with the overlay.
const Tag = "zksim_exact"

// Drawn is what has been drawn in a bubble.
type Drawn struct {
	Turns uint64 // how often more than one goroutine could run
	Hash  uint64 // of which goroutine ran then
}

// Package returns the import path of this package, which the overlay must know.
func Package() string { return reflect.TypeFor[Drawn]().PkgPath() }
