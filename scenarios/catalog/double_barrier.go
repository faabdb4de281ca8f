package catalog

import (
	"context"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/broken"
	"zksim/scenarios/engine"
)

// doubleBarrier is a double barrier under test.
type doubleBarrier interface {
	Enter(ctx context.Context) error
	Leave(ctx context.Context) error
	Lost() <-chan zk.Event
	Round() int64
	Znodes() []string
}

const doubleBarrierDir = "/double"

// meeting is how clients meet at a double barrier.
type meeting struct {
	enter      limiter // of each Enter and Leave
	leave      limiter
	more       int // clients than participants
	stay       int // steps inside, in a brief run one
	newBarrier func(p *engine.Process, n int) doubleBarrier
}

// program makes the program of each client.
func (m meeting) program() func(p *engine.Process) {
	return func(p *engine.Process) {
		n := max(p.Clients-m.more, 2)
		b := m.newBarrier(p, n)
		o := p.Register(b.Znodes)
		for range p.Rounds {
			if err := m.meet(p, o, b, n); err != nil {
				p.Fail(err)
				return
			}
		}
	}
}

// meet is one round. It returns only errors that a barrier must not have.
func (m meeting) meet(p *engine.Process, o engine.Object, b doubleBarrier, n int) error {
	ctx, end := m.enter(o)
	o.Record(history.Event{Kind: history.Invoke, Op: "enter", Value: int64(n)})
	err := b.Enter(ctx)
	answer := history.Event{Kind: history.Return, Op: "enter", Err: err, OK: gaveUp(err)}
	if err == nil {
		answer.Path, answer.Value = b.Znodes()[0], b.Round()
	}
	o.Record(answer)
	end()
	if gaveUp(err) {
		return nil
	}
	if err != nil {
		return err
	}
	lost := b.Lost()
	for k := 0; k < repeat(p, m.stay) && len(lost) == 0; k++ {
		p.Step()
	}
	if len(lost) > 0 {
		o.Lost()
	}
	ctx, end = m.leave(o)
	defer end()
	o.Invoke("leave")
	err = b.Leave(ctx)
	o.Return("leave", err, gaveUp(err))
	if gaveUp(err) {
		return nil
	}
	return err
}

// newDoubleBarrier makes the correct one.
func newDoubleBarrier(how recipes.Leaving) func(p *engine.Process, n int) doubleBarrier {
	return func(p *engine.Process, n int) doubleBarrier {
		return recipes.NewDoubleBarrier(p.Conn, p.Env, p.Path(doubleBarrierDir), n, recipes.DoubleBarrierOptions{Leaving: how})
	}
}

func newBrokenDoubleBarrier(f broken.Flaw) func(p *engine.Process, n int) doubleBarrier {
	return func(p *engine.Process, n int) doubleBarrier {
		return broken.NewDoubleBarrier(p.Conn, p.Env, p.Path(doubleBarrierDir), n, f)
	}
}

func doubleBarrierScenario(s engine.Scenario, m meeting) engine.Scenario {
	s = withDefaults(s, 3)
	if s.Source == "" {
		s.Source = "ZooKeeper recipes page, Double Barriers"
	}
	s.Program = m.program()
	if !s.Broken() {
		s.Alike = func(int, int) int { return 0 }
	}
	if s.SafetySteps == 0 {
		s.SafetySteps = limitedSteps
	}
	s.Checkers = []checkers.Checker{checkers.Entry{}, checkers.Exit{}, checkers.Rounds{}, checkers.Gather{},
		checkers.Liveness{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}
	return s
}

// doubleBarrierTwin is a scenario of a broken double barrier that must be caught.
func doubleBarrierTwin(name string, f broken.Flaw, s engine.Scenario, m meeting) engine.Scenario {
	s.Name, s.Row = "double-barrier/"+name, int(f)
	for _, path := range []string{doubleBarrierDir, doubleBarrierDir + "/ready"} {
		s.Setup = append(s.Setup, model.Request{Op: model.OpCreate, Path: path, ACL: zk.WorldACL(zk.PermAll)})
	}
	m.newBarrier, m.leave, m.stay = newBrokenDoubleBarrier(f), unlimited, 3
	if m.enter == nil {
		m.enter = limited
	}
	return doubleBarrierScenario(s, m)
}
