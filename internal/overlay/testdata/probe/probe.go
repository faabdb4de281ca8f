// Package probe is what the tests of package overlay build and run with an overlay.
package probe

import _ "unsafe" // for linkname

//go:linkname seedBubble
func seedBubble(seed uint64)

//go:linkname readBubble
func readBubble() (turns, hash uint64)
