//go:build zksim_exact

package turns

import _ "unsafe" // for linkname

// Exact reports whether the program was built with the overlay.
const Exact = true

// Seed makes the goroutines of its caller's bubble run one at a time from now on. It draws their turns, the order of
// cases in select and of maps, the order of timers of one instant, and the global random numbers of math/rand/v2, each
// from its own stream. No other goroutine of the bubble may be able to run when Seed is called.
func Seed(seed uint64) { seedBubble(seed) }

// Read returns what has been drawn in its caller's bubble.
func Read() Drawn {
	turns, hash := readBubble()
	return Drawn{Turns: turns, Hash: hash}
}

// The overlay's runtime has these functions.
//
//go:linkname seedBubble
func seedBubble(seed uint64)

//go:linkname readBubble
func readBubble() (turns, hash uint64)
