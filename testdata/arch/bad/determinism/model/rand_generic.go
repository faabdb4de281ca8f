package model

import dice "math/rand/v2"

func roll() int64 { return dice.N(int64(6)) }
