package catalog

import (
	"context"

	"zksim/recipes"
	"zksim/scenarios/catalog/mutants"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

func newGroup(p *engine.Process) *workload.Group {
	g := &workload.Group{}
	r := recipes.NewGroup(p.Conn, p.Env, p.Path(workload.GroupDir), recipes.GroupOptions{Changed: g.Changed})
	g.Join = func(ctx context.Context, name string, data []byte) (workload.Leaver, error) {
		return r.Join(ctx, name, data)
	}
	g.Watch = r.Watch
	return g
}

func newBrokenGroup(f mutants.Flaw) func(p *engine.Process) *workload.Group {
	return func(p *engine.Process) *workload.Group {
		g := &workload.Group{}
		r := mutants.NewGroup(p.Conn, p.Env, p.Path(workload.GroupDir), g.Changed, f)
		g.Join = func(ctx context.Context, name string, data []byte) (workload.Leaver, error) {
			return r.Join(ctx, name, data)
		}
		g.Watch = r.Watch
		return g
	}
}
