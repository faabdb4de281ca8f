package workload

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// Elector is an election under test. It may also be [Acknowledging], [Losing], [Tokened] and [Placed].
type Elector interface {
	// Campaign waits until the client leads, or ctx is done. Then it returns the error of ctx and must leave nothing
	// behind, since nobody calls Resign.
	Campaign(ctx context.Context) error
	// Resign gives up the leadership, or what is left of it.
	Resign(ctx context.Context) error
}

// Acknowledging is an election whose leader announces that it begins to lead, and that tells everybody who leads.
type Acknowledging interface {
	// Acknowledge returns recipes.ErrNotLeading when another client leads by now.
	Acknowledge(ctx context.Context) error
	// Leader returns the leader that has acknowledged, with its token, or recipes.ErrNoLeader.
	Leader(ctx context.Context) (recipes.Leader, error)
}

// FullElector is an election that reports all that can be judged.
type FullElector interface {
	Elector
	Acknowledging
	Losing
	Tokened
	Placed
}

// someElector is an election with those methods of a [FullElector] that the recipe has.
type someElector struct {
	held
	campaign, resign, acknowledge func(ctx context.Context) error
	leader                        func(ctx context.Context) (recipes.Leader, error)
}

func (e someElector) Campaign(ctx context.Context) error                 { return e.campaign(ctx) }
func (e someElector) Resign(ctx context.Context) error                   { return e.resign(ctx) }
func (e someElector) Acknowledge(ctx context.Context) error              { return e.acknowledge(ctx) }
func (e someElector) Leader(ctx context.Context) (recipes.Leader, error) { return e.leader(ctx) }

func (e someElector) tries() bool { return e.leader != nil }

// Elections returns the scenario of a user's election: three clients want to lead, under every fault.
func Elections[E Elector](name string, newElection func(p *engine.Process) E) engine.Scenario {
	s := preset(name, "an election under every fault", 2)
	s.Program = electionRounds(1, byTurns,
		func(p *engine.Process) FullElector { return electorOf(p, newElection(p)) })
	s.Checkers = ElectionCheckers
	s.Goals = []engine.Goal{goalLostWrite, goalHolderExpired, goalContended}
	s = WithDefaults(s.Symmetric(ByThree), 3)
	return s.Without(unless(has[E, Acknowledging](), withoutUntold[E](), "acknowledged")...)
}

// electorOf adds to an election what the programs need.
func electorOf(p *engine.Process, e Elector) someElector {
	x := someElector{held: heldBy(p, e), campaign: patient(p, e.Campaign), resign: thorough(p, e.Resign)}
	if y, ok := e.(Acknowledging); ok {
		x.acknowledge = patient(p, y.Acknowledge)
		x.leader = func(ctx context.Context) (leader recipes.Leader, err error) {
			err = patient(p, func(ctx context.Context) error {
				leader, err = y.Leader(ctx)
				return err
			})(ctx)
			return leader, err
		}
	}
	return x
}

// acknowledge acknowledges, and meanwhile listens for the loss of the leadership, since the call may wait long for a
// connection. It reports whether it has heard of a loss.
func acknowledge(p *engine.Process, o engine.Object, e FullElector) (lost bool, err error) {
	defer recipes.Forget(p.Env)(&lost, &err)
	event := history.Event{Kind: history.Invoke, Op: "acknowledge", Path: first(e), Value: e.Token()}
	o.Record(event)
	acknowledged := make(chan zk.Event, 1)
	p.Env.Go("acknowledge", func() {
		event.Err = e.Acknowledge(context.Background())
		event.Kind, event.OK = history.Return, errors.Is(event.Err, recipes.ErrNotLeading)
		o.Record(event) // at once: later it would say more than it means
		acknowledged <- zk.Event{}
	})
	i, _, _ := p.Env.Await(context.Background(), acknowledged, e.Lost())
	if lost = i == 1; lost {
		o.Lost()
		p.Env.Await(context.Background(), acknowledged)
	}
	return lost, event.Err
}

// Pace is how many steps a leader takes before and after the acknowledgement.
type Pace struct{ Procedure, Stay int }

// ElectionRounds makes a program that asks for the leader and campaigns in each round; every third attempt is given up
// after a while. In a brief run only followers ask, after they have led.
func ElectionRounds(steps Pace, newElector func(p *engine.Process) FullElector) func(p *engine.Process) {
	return electionRounds(steps.Procedure, always(steps.Stay), newElector)
}

func electionRounds(procedure int, stay func(p *engine.Process, r int) int,
	newElector func(p *engine.Process) FullElector,
) func(p *engine.Process) {
	return func(p *engine.Process) {
		e := newElector(p)
		o := p.Register(e.Znodes)
		Rounds(p, func(r int) error {
			var asked error
			if !Brief(p) && tries(e) {
				asked = Ask(o, e)
			}
			return errors.Join(asked, LeadOnce(p, o, e, Pace{procedure, stay(p, r)}, (p.ID+r)%3 == 2))
		})
	}
}

// ElectionAtWork makes a program in which leaders work long. Two goroutines of each process campaign with a deadline,
// give up, and come back with the same object.
func ElectionAtWork(newElector func(p *engine.Process) FullElector) func(p *engine.Process) {
	return byTwo(func(p *engine.Process) {
		e := newElector(p)
		o := p.Register(e.Znodes)
		Rounds(p, func(int) error { return LeadOnce(p, o, e, Pace{Procedure: 1, Stay: longWork}, true) })
	})
}

// Ask asks for the leader.
func Ask(o engine.Object, e FullElector) (err error) {
	defer recipes.Forget(o.Process().Env)(&err)
	o.Invoke("leader")
	leader, err := e.Leader(context.Background())
	none := errors.Is(err, recipes.ErrNoLeader)
	o.Record(history.Event{Kind: history.Return, Op: "leader", Value: leader.Token, Err: err, OK: none})
	if none {
		return nil
	}
	return err
}

// LeadOnce makes one candidacy. It returns only errors that an election must not have.
func LeadOnce(p *engine.Process, o engine.Object, e FullElector, steps Pace, impatient bool) error {
	ctx, end := p.Interruptible()
	if impatient {
		defer end()
		ctx, end = p.Env.WithTimeout(ctx, time.Second)
	}
	o.Invoke("campaign")
	err := e.Campaign(ctx)
	o.Return("campaign", err, context.DeadlineExceeded)
	end()
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return nil
	case err != nil:
		return err
	}
	o.Acquired(first(e), e.Token())
	Steps(p, steps.Procedure)
	lost, err := false, error(nil)
	if tries(e) {
		lost, err = acknowledge(p, o, e)
	}
	switch {
	case err != nil && !errors.Is(err, recipes.ErrNotLeading):
		return err
	case err == nil && !lost:
		Work(p, o, e, steps.Stay)
	case err != nil && !lost: // a client that leads no longer is also told so by Lost
		p.Env.Await(context.Background(), e.Lost())
	}
	o.Released()
	var asked error
	if Follows(p) && tries(e) {
		asked = Ask(o, e)
	}
	o.Invoke("resign")
	err = e.Resign(context.Background())
	o.Return("resign", err)
	return errors.Join(asked, err)
}

// ElectionCheckers are what every election must satisfy.
var ElectionCheckers = []checkers.Checker{checkers.Ownership{}, checkers.Claim{}, checkers.Belief{}, checkers.Fenced{},
	checkers.Acknowledged{}, checkers.Liveness{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}
