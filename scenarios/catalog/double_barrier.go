package catalog

import (
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/internal/mutants"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

const doubleBarrierDir = "/double"

// newDoubleBarrier makes the correct one.
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

// doubleBarrierMutant is a scenario of a broken double barrier that must be caught.
func doubleBarrierMutant(f mutants.Flaw, s engine.Scenario, m workload.Meeting) engine.Scenario {
	s = mutated(f, s)
	for _, path := range []string{doubleBarrierDir, doubleBarrierDir + "/ready"} {
		s.Setup = append(s.Setup, model.Request{Op: model.OpCreate, Path: path, ACL: zk.WorldACL(zk.PermAll)})
	}
	m.NewBarrier, m.Leave, m.Stay = newBrokenDoubleBarrier(f), workload.Unlimited, 3
	if m.Enter == nil {
		m.Enter = workload.Limited
	}
	return workload.BaseDoubleBarrier(s, m)
}

// leavingFanOut is a judge of how many clients those who leave notify, other than themselves: one change of a member's
// znode, or of the list of them, at most so many, and all changes together so many. Those by which a round begins do
// not count.
func leavingFanOut(most, total int) func(h *history.History) error {
	return func(h *history.History) error {
		author, notified := map[int64]int32{}, map[int64]int{} // by txn
		all, leaving := 0, false
		for i := range h.Events {
			switch e := &h.Events[i]; e.Kind {
			case history.Invoke:
				leaving = leaving || e.Op == "leave"
			case history.Deleted, history.Changed:
				author[e.Zxid] = e.Client
			case history.Notify:
				if !leaving || author[e.Zxid] == e.Client || strings.HasSuffix(e.Path, "/ready") {
					continue
				}
				all++
				if notified[e.Zxid]++; notified[e.Zxid] > most || all > total {
					return fmt.Errorf("leaving notifies %d clients of one change of %s, and %d of all so far; at most %d and %d "+
						"may be", notified[e.Zxid], e.Path, all, most, total)
				}
			}
		}
		return nil
	}
}
