package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"zksim/checkers"
	"zksim/internal/mutants"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

func newGroup(p *engine.Process) *workload.Group {
	g := &workload.Group{}
	r := recipes.NewGroup(p.Conn, p.Env, p.Path(workload.GroupDir), recipes.GroupOptions{Changed: g.Changed})
	g.Join = func(ctx context.Context, name string, data []byte) (workload.Leaver, error) {
		m, err := r.Join(ctx, name, data)
		clear(data) // the group has its own
		return m, err
	}
	g.Watch = r.Watch
	return g
}

func newBrokenGroup(f mutants.Flaw) func(p *engine.Process) *workload.Group {
	return newMendedGroup(f, 0)
}

// newMendedGroup makes groups that look again at the given interval; 0: never.
func newMendedGroup(f mutants.Flaw, interval time.Duration) func(p *engine.Process) *workload.Group {
	return func(p *engine.Process) *workload.Group {
		g := &workload.Group{}
		r := mutants.NewGroup(p.Conn, p.Env, p.Path(workload.GroupDir), g.Changed, f)
		r.Interval = interval
		r.Dial = func() (recipes.Conn, recipes.Env, error) {
			q, err := p.Dial()
			if err != nil {
				return nil, nil, err
			}
			return q.Conn, q.Env, nil
		}
		g.Join = func(ctx context.Context, name string, data []byte) (workload.Leaver, error) {
			return r.Join(ctx, name, data)
		}
		g.Watch = r.Watch
		return g
	}
}

// groupAsked is a program in which every other client is a member in each round, and the rest only list the members:
// one that goes must not hide another.
func groupAsked(p *engine.Process) {
	if p.ID%2 == 1 {
		if err := workload.ComeAndGoAs(p, newGroup(p), fmt.Sprintf("m%d", p.ID)); err != nil {
			p.Fail(err)
		}
		return
	}
	dir := p.Path(workload.GroupDir)
	g, o := recipes.NewGroup(p.Conn, p.Env, dir, recipes.GroupOptions{}), p.Register(nil)
	for range p.Rounds {
		o.Invoke(checkers.ListMembers)
		list, err := g.List(background)
		var paths []string
		for _, c := range list {
			paths = append(paths, dir+"/"+c.Name)
		}
		o.Record(history.Event{Kind: history.Return, Op: checkers.ListMembers, Path: strings.Join(paths, " "), Err: err})
		if err != nil {
			p.Fail(err)
			return
		}
	}
}

// evicted is a program in which the first client deletes the znodes of members, as an operator may. The others are
// members that stay until all is quiet: they join again, and are listed in the end.
func evicted(p *engine.Process) {
	dir := p.Path(workload.GroupDir)
	if p.ID == 1 {
		for range p.Rounds {
			names, _, err := p.Conn.Children(dir)
			for _, name := range names {
				if err == nil && strings.HasPrefix(name, "m") {
					p.Conn.Delete(dir+"/"+name, -1) // whether it is there or not
				}
			}
		}
		return
	}
	g, o := recipes.NewGroup(p.Conn, p.Env, dir, recipes.GroupOptions{}), p.Register(nil)
	name := fmt.Sprintf("m%d", p.ID)
	o.Invoke(checkers.Join)
	m, err := g.Join(background, name, nil)
	o.Return(checkers.Join, err)
	if err != nil {
		p.Fail(err)
		return
	}
	p.AtRest()
	var list []recipes.Child
	listed := func() bool { return slices.ContainsFunc(list, func(c recipes.Child) bool { return c.Name == name }) }
	for range 20 { // on a real ensemble the operator may still be at work
		if list, err = g.List(background); err != nil || listed() {
			break
		}
		p.Env.Sleep(background, 100*time.Millisecond)
	}
	p.Always("a member that was evicted has joined again when all is quiet", err != nil || listed())
	o.Invoke(checkers.Leave)
	err = m.Leave(background)
	o.Return(checkers.Leave, err)
	if err != nil {
		p.Fail(err)
	}
}
