package engine

// Strategy is how a seed chooses the order of events.
type Strategy string

// The strategies. The empty one is Random.
const (
	Random    Strategy = "random"    // [zksim/sim.Random]
	PCT       Strategy = "pct"       // [zksim/sim.PCT]
	Portfolio Strategy = "portfolio" // Random for odd seeds, PCT for even ones
)

// Strategies are all strategies by name.
var Strategies = []Strategy{Random, PCT, Portfolio}

// pct reports whether the seed is one for PCT.
func (s Strategy) pct(seed uint64) bool { return s == PCT || s == Portfolio && seed%2 == 0 }
