// Package turns decides which goroutine of a testing/synctest bubble runs next, and all that Go's runtime draws at
// random there, from a seed. It works in programs that were built with the overlay of the runtime that package
// internal/overlay generates, and with its build tag. In all others it does nothing.
package turns

import "reflect"

// Tag is the build tag of programs with the overlay.
const Tag = "zksim_exact"

// Drawn is what has been drawn in a bubble.
type Drawn struct {
	Turns uint64 // how often more than one goroutine could run
	Hash  uint64 // of who ran then
}

// Package returns the import path of this package, which the overlay must know.
func Package() string { return reflect.TypeFor[Drawn]().PkgPath() }
