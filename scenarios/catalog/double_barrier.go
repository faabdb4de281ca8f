package catalog

import (
	"fmt"
	"strings"

	"zksim/internal/mutants"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

const doubleBarrierDir = "/double"

// newDoubleBarrier makes the correct double barrier.
func newDoubleBarrier(how recipes.Leaving) func(p *engine.Process, n int) workload.FullDoubleBarrier {
	return func(p *engine.Process, n int) workload.FullDoubleBarrier {
		return recipes.NewDoubleBarrier(p.Conn, p.Env, p.Path(doubleBarrierDir), n,
			recipes.DoubleBarrierOptions{Leaving: how})
	}
}

func newBrokenDoubleBarrier(f mutants.Flaw) func(p *engine.Process, n int) workload.FullDoubleBarrier {
	return func(p *engine.Process, n int) workload.FullDoubleBarrier {
		return mutants.NewDoubleBarrier(p.Conn, p.Env, p.Path(doubleBarrierDir), n, f)
	}
}

func newHerd(p *engine.Process, n int) workload.FullDoubleBarrier {
	return mutants.NewHerd(p.Conn, p.Env, p.Path(doubleBarrierDir), n)
}

// doubleBarrierMutant is a scenario of a broken double barrier that must be caught.
func doubleBarrierMutant(f mutants.Flaw, s engine.Scenario, m workload.Meeting) engine.Scenario {
	s = mutated(f, s)
	s.Setup = []model.Request{engine.Mkdir(doubleBarrierDir), engine.Mkdir(doubleBarrierDir + "/ready")}
	m.NewBarrier, m.Leave, m.Stay = newBrokenDoubleBarrier(f), workload.Unlimited, 3
	if m.Enter == nil {
		m.Enter = workload.Limited
	}
	return workload.BaseDoubleBarrier(s, m)
}

// leaving are the kinds of events that leavingFanOut reads.
var leaving = []string{"invoke", "return", "changed", "deleted", "notify"}

// leavingFanOut is a judge of how many leaving clients others notify: at most most by one end or mark of a member, and
// at most total in a whole round. Clients that wait for the next round do not count.
func leavingFanOut(bounds func(clients int) (most, total int)) func(h *history.History) error {
	type change struct {
		by       int32
		round    int
		notified int
	}
	return func(h *history.History) error {
		most, total := bounds(h.Clients)
		changes, all, round := map[int64]*change{}, map[int]int{}, 0 // by txn; by round
		leaves := map[int32]bool{}
		for i := range h.Events {
			switch e := &h.Events[i]; e.Kind {
			case history.Invoke, history.Return:
				leaves[e.Client] = e.Kind == history.Invoke && e.Op == "leave"
			case history.Changed, history.Deleted:
				if strings.HasSuffix(e.Path, "/ready") {
					round++
				} else {
					changes[e.Zxid] = &change{by: e.Client, round: round}
				}
			case history.Notify:
				c := changes[e.Zxid]
				if c == nil || c.by == e.Client || !leaves[e.Client] {
					continue
				}
				c.notified++
				if all[c.round]++; c.notified > most || all[c.round] > total {
					return fmt.Errorf("leaving notifies %d clients of one change of %s, and %d in this round so far; at most %d "+
						"and %d may be", c.notified, e.Path, all[c.round], most, total)
				}
			}
		}
		return nil
	}
}
