package engine_test

import (
	"testing"

	"zksim/checkers"
	"zksim/scenarios/engine"
)

// TestEachReplyTellsAllThatARunHad: nobody knows which replies are counted. A run that warms up a process is not, and a
// replay of a committed schedule is not.
func TestEachReplyTellsAllThatARunHad(t *testing.T) {
	s := engine.Scenario{Name: "test/asks", Clients: 1, Checkers: []checkers.Checker{checkers.Liveness{}},
		Program: func(p *engine.Process) { p.Conn.Exists("/") }}
	c := engine.NewContractor(&s, nil, nil)
	for n := range 3 {
		reply := c.Run(&engine.Order{By: engine.BySeed, Seed: 1, Strategy: engine.Random})
		if had := reply.Sight.Had; len(had) != 1 || had[0] != 1 {
			t.Errorf("run %d has %b of what its checker needs", n+1, had)
		}
	}
}
