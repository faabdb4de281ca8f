package sim_test

import (
	"slices"
	"testing"

	"zksim/faults"
	"zksim/sim"
)

func TestPrioritiesAreAFunctionOfTheSeed(t *testing.T) {
	w := sim.NewWorld()
	defer w.Close()
	run := func(ch sim.Chooser, seed uint64) (uint64, []string) {
		var in faults.Injector
		in.Reset(faults.Contract())
		w.Reset(sim.Config{Clients: 3, Servers: 3, SafetySteps: 500}, &in, func(c *sim.Client) {
			for range 4 {
				c.Conn().Exists("/")
				c.Env().Now()
			}
		})
		if err := w.Run(ch); err != nil {
			t.Fatal(err)
		}
		return w.Hash(), w.Schedule()
	}
	seen := map[uint64]bool{}
	for seed := range uint64(50) {
		var p, again sim.PCT
		p.FaultRate, again.FaultRate = 3000, 3000
		p.Seed(seed)
		hash, names := run(&p, seed)
		run(&again, seed+1) // what was before does not matter
		again.Seed(seed)
		if twice, _ := run(&again, seed); twice != hash {
			t.Errorf("seed %d: hash %x and then %x", seed, hash, twice)
		}
		if replayed, _ := run(&sim.Replay{Names: names}, seed); replayed != hash {
			t.Errorf("seed %d: hash %x, and %x by its schedule", seed, hash, replayed)
		}
		seen[hash] = true
	}
	if len(seen) < 40 {
		t.Errorf("only %d different runs of 50", len(seen))
	}
}

// Without changes of priority the first of all goes on until it cannot; with one
// it falls behind.
func TestTheHighestPriorityMovesUntilItFalls(t *testing.T) {
	longest := map[bool]int{}
	w := sim.NewWorld()
	defer w.Close()
	for seed := range uint64(200) {
		var p sim.PCT
		p.Seed(seed)
		w.Reset(sim.Config{Clients: 2, SafetySteps: 1000}, nil, func(c *sim.Client) {
			for range 100 {
				c.Env().Now()
			}
		})
		if err := w.Run(&p); err != nil {
			t.Fatal(err)
		}
		names := w.Schedule()
		n := 0
		for n < len(names) && names[n] == names[0] {
			n++
		}
		fell := slices.Contains(names[n:], names[0]) && n < 40
		longest[fell] = max(longest[fell], n)
	}
	// Nobody makes more than 41 steps while others could move.
	if longest[false] != 41 || longest[true] < 10 {
		t.Errorf("%v", longest)
	}
}
