//go:build zksim_exact

package turns

import _ "unsafe" // for linkname

// Exact reports whether the program was built with the overlay.
const Exact = true

// Seed has the goroutines of the bubble of its caller run one at a time from now on, and draws their turns, the order
// of cases in select and of maps, the order of timers of one instant, and the global random numbers of math/rand/v2,
// each from a stream of its own. No other goroutine of the bubble may be able to run when it is called.
func Seed(seed uint64) { seedBubble(seed) }

// Read returns what has been drawn in the bubble of its caller.
func Read() Drawn {
	turns, hash := readBubble()
	return Drawn{Turns: turns, Hash: hash}
}

// The runtime of the overlay has these.
//
//go:linkname seedBubble
func seedBubble(seed uint64)

//go:linkname readBubble
func readBubble() (turns, hash uint64)
