package catalog

import (
	"testing"

	"zksim/checkers"
	"zksim/scenarios/engine"
)

// The zxids that the checker of znodes goes by are the simulator's own; porcupine,
// which is not told of them, has to find some order as well.
func TestPorcupineFindsSimulatedZnodesLinearizable(t *testing.T) {
	seeds := uint64(3000)
	if testing.Short() {
		seeds = 300
	}
	r := engine.NewRunner()
	defer r.Close()
	s := Named("znodes/random")
	for seed := uint64(1); seed <= seeds; seed++ {
		h := r.Seed(s, seed).History
		h.Txns = false
		if v := (checkers.Znodes{}).Check(h); v.Level != checkers.OK {
			t.Fatalf("seed %d: %+v", seed, v)
		}
	}
}
