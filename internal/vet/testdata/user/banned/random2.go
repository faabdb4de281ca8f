package banned

import "math/rand/v2"

func rand1() int {
	own := rand.New(rand.NewPCG(1, 2))
	return own.IntN(6) + rand.IntN(6) // want `^math/rand/v2.IntN draws .* \(simulated because draws uses rand1\)$`
}
