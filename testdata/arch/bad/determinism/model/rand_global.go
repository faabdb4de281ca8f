package model

import "math/rand/v2"

func draw() int { return rand.IntN(6) }
