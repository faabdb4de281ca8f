package sim

type World struct{}
