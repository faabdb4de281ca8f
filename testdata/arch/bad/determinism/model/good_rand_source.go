package model

import "math/rand/v2"

func seeded(seed uint64, source rand.Source) (int, *rand.Rand) {
	var r *rand.Rand = rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(3, func(i, j int) {})
	_ = rand.NewChaCha8([32]byte{})
	return r.IntN(6), rand.New(source)
}
