package engine

import (
	"testing"

	"zksim/checkers"
	"zksim/faults"
)

// A step is observed in a time that grows with the sessions, and not with their square: recordings have many.
func TestASessionCostsAnObserverNoMoreAmongMany(t *testing.T) {
	const clients, perSession = 200, 100
	s := &Scenario{Name: "many", Clients: clients, Servers: []int{3}, Faults: faults.Plan{},
		Checkers: []checkers.Checker{checkers.Steps{}}, Program: func(p *Process) {
			p.Conn.ExistsW("/")
		}}
	r := NewRunner()
	defer r.Close()
	most := 0.0
	r.world.OnStep = func() {
		if n := r.world.Stores()[0].Sessions(); len(n) == clients && most == 0 {
			most = testing.AllocsPerRun(1, func() { observe(r.world) })
		}
	}
	if res := r.Seed(s, 1); res.Misuse != nil || most == 0 || most > perSession*clients {
		t.Errorf("%v allocations for %d sessions, expected at most %d each (%+v)", most, clients, perSession, res.Misuse)
	}
}
