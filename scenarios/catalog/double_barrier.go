package catalog

import (
	"github.com/go-zookeeper/zk"

	"zksim/internal/mutants"
	"zksim/model"
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
