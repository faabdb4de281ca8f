// Package active says which mutant of a package is active. Code that package mutate has rewritten holds all mutants of
// it and asks here; in the code of this module nothing does.
package active

import (
	"cmp"
	"fmt"
)

// loopsPerRun is how often loops of the rewritten code may come by their beginning in one run. A correct run needs some
// thousands at most; a loop without a call of a Conn or an Env, which no limit of steps ends, comes here instead.
const loopsPerRun = 2_000_000

var (
	id    int    // the active mutant, 0 if there is none
	seen  []bool // by mutant: Begin's
	loops int
)

// Select makes a mutant the active one; 0 is none. No rewritten code may run meanwhile.
func Select(mutant int) { id = mutant }

// Begin begins a run. Mutants that would make a difference to it, were they active, are marked in reached, if it is not
// nil. Only one run may be in progress then.
func Begin(reached []bool) { seen, loops = reached, 0 }

// On reports whether a mutant is active, where its code differs from the correct one.
func On(mutant int) bool {
	if seen != nil {
		seen[mutant] = true
	}
	return mutant == id
}

// Less is a < b, and a <= b in the mutant.
func Less[T cmp.Ordered](mutant int, a, b T) bool { return a < b || a == b && On(mutant) }

// AtMost is a <= b, and a < b in the mutant.
func AtMost[T cmp.Ordered](mutant int, a, b T) bool { return a < b || a == b && !On(mutant) }

// More is a > b, and a >= b in the mutant.
func More[T cmp.Ordered](mutant int, a, b T) bool { return a > b || a == b && On(mutant) }

// AtLeast is a >= b, and a > b in the mutant.
func AtLeast[T cmp.Ordered](mutant int, a, b T) bool { return a > b || a == b && !On(mutant) }

// Drop is err, and nil in the mutant.
func Drop(mutant int, err error) error {
	if err != nil && On(mutant) {
		return nil
	}
	return err
}

// Plus is a constant, and by one larger or smaller in the mutants of these numbers; 0 stands for no mutant.
func Plus[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](
	larger, smaller int, n T,
) T {
	switch {
	case On(larger):
		n++
	case smaller > 0 && On(smaller):
		n--
	}
	return n
}

// Loop begins an iteration of a loop. It panics in a run that has had too many.
func Loop() {
	if loops++; loops > loopsPerRun {
		loops = 0 // code that the panic unwinds may loop as well
		panic(fmt.Sprintf("a loop of mutant %d does not end", id))
	}
}

// Missing is where a function of the mutant has no return statement left.
func Missing() { panic("a function of the mutant ends without a result") }
