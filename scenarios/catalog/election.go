package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/broken"
	"zksim/scenarios/engine"
)

// elector is an election under test.
type elector interface {
	Campaign(ctx context.Context) error
	Acknowledge(ctx context.Context) error
	Leader(ctx context.Context) (recipes.Leader, error)
	Resign(ctx context.Context) error
	Lost() <-chan zk.Event
	Token() int64
	Znodes() []string
}

const (
	electionDir   = "/election"
	candidatesDir = electionDir + "/candidates"
)

// acknowledge acknowledges, and listens for the loss of the leadership meanwhile,
// since an operation may wait for a connection for long. Lost says that it has heard of that.
func acknowledge(p *engine.Process, o engine.Object, e elector) (lost bool, err error) {
	defer p.Env.Forget()(&lost, &err)
	event := history.Event{Kind: history.Invoke, Op: "acknowledge", Path: e.Znodes()[0], Value: e.Token()}
	o.Record(event)
	acknowledged := make(chan zk.Event, 1)
	p.Env.Go("acknowledge", func() {
		event.Err = e.Acknowledge(context.Background())
		acknowledged <- zk.Event{}
	})
	i, _, _ := p.Env.Await(context.Background(), acknowledged, e.Lost())
	if lost = i == 1; lost {
		o.Lost()
		p.Env.Await(context.Background(), acknowledged)
	}
	event.Kind, event.OK = history.Return, errors.Is(event.Err, recipes.ErrNotLeading)
	o.Record(event)
	return lost, event.Err
}

// pace is how many steps a leader takes before and after the acknowledgement.
type pace struct{ procedure, stay int }

// electionRounds makes a program that asks for the leader and campaigns in each
// round; every third attempt is given up after a while. In a brief run only followers ask, after they have led.
func electionRounds(steps pace, newElector func(p *engine.Process) elector) func(p *engine.Process) {
	return func(p *engine.Process) {
		e := newElector(p)
		o := p.Register(e.Znodes)
		for r := range p.Rounds {
			var asked error
			if !brief(p) {
				asked = ask(o, e)
			}
			if err := errors.Join(asked, leadOnce(p, o, e, steps, (p.ID+r)%3 == 2)); err != nil {
				p.Fail(err)
				return
			}
		}
	}
}

// ask asks for the leader.
func ask(o engine.Object, e elector) (err error) {
	defer o.Process().Env.Forget()(&err)
	o.Invoke("leader")
	leader, err := e.Leader(context.Background())
	none := errors.Is(err, recipes.ErrNoLeader)
	o.Record(history.Event{Kind: history.Return, Op: "leader", Value: leader.Token, Err: err, OK: none})
	if none {
		return nil
	}
	return err
}

// withFollower adds a goroutine that waits for a leader, with patience for a while; not
// in a brief run.
func withFollower(program func(p *engine.Process)) func(p *engine.Process) {
	return func(p *engine.Process) {
		if !brief(p) {
			awaitLeader(p)
		}
		program(p)
	}
}

// observed makes a program in which the odd clients campaign, and the even ones wait for a
// leader and ask for it, round by round.
func observed(newElector func(p *engine.Process) elector) func(p *engine.Process) {
	campaign := electionRounds(pace{1, 2}, newElector)
	return func(p *engine.Process) {
		if p.ID%2 == 1 {
			campaign(p)
			return
		}
		awaitLeader(p)
		e := newElector(p)
		o := p.Register(e.Znodes)
		for range p.Rounds {
			if err := ask(o, e); err != nil {
				p.Fail(err)
				return
			}
		}
	}
}

// awaitLeader starts that goroutine.
func awaitLeader(p *engine.Process) {
	p.Env.Go("follower", func() {
		defer p.Env.Forget()()
		e := recipes.NewElection(p.Conn, p.Env, p.Path(electionDir), recipes.ElectionOptions{})
		o := p.Register(e.Znodes)
		ctx, end := p.Env.WithTimeout(context.Background(), time.Second)
		defer end()
		o.Invoke("leader")
		leader, err := e.AwaitLeader(ctx)
		o.Record(history.Event{Kind: history.Return, Op: "leader", Value: leader.Token, Err: err})
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			p.Fail(err)
		}
	})
}

// leadOnce is one candidacy. It returns only errors that an election must not
// have.
func leadOnce(p *engine.Process, o engine.Object, e elector, steps pace, impatient bool) error {
	ctx, end := p.Interruptible()
	if impatient {
		defer end()
		ctx, end = p.Env.WithTimeout(ctx, time.Second)
	}
	o.Invoke("campaign")
	err := e.Campaign(ctx)
	o.Return("campaign", err, errors.Is(err, context.DeadlineExceeded))
	end()
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return nil
	case err != nil:
		return err
	}
	o.Acquired(e.Znodes()[0], e.Token())
	for range steps.procedure {
		p.Step()
	}
	lost, err := acknowledge(p, o, e)
	switch {
	case err != nil && !errors.Is(err, recipes.ErrNotLeading):
		return err
	case err == nil && !lost:
		work(p, o, e, steps.stay)
	}
	o.Released()
	var asked error
	if follows(p) {
		asked = ask(o, e)
	}
	o.Invoke("resign")
	err = e.Resign(context.Background())
	o.Return("resign", err, false)
	return errors.Join(asked, err)
}

// slowFirst is a program in which c1 takes long to acknowledge, and the others
// stay long.
func slowFirst(p *engine.Process) {
	steps := pace{1, 40}
	if p.ID == 1 {
		steps = pace{40, 1}
	}
	electionRounds(steps, newBrokenElection(broken.BlindAck))(p)
}

func newElection(p *engine.Process) elector {
	return recipes.NewElection(p.Conn, p.Env, p.Path(electionDir), recipes.ElectionOptions{})
}

func newHerdElection(p *engine.Process) elector {
	return recipes.NewHerdElection(p.Conn, p.Env, p.Path(electionDir), recipes.ElectionOptions{})
}

func newBrokenElection(f broken.Flaw) func(p *engine.Process) elector {
	return func(p *engine.Process) elector { return broken.NewElection(p.Conn, p.Env, p.Path(electionDir), f) }
}

var electionSetup = []model.Request{
	{Op: model.OpCreate, Path: electionDir, ACL: zk.WorldACL(zk.PermAll)},
	{Op: model.OpCreate, Path: candidatesDir, ACL: zk.WorldACL(zk.PermAll)},
	{Op: model.OpCreate, Path: electionDir + "/leader", ACL: zk.WorldACL(zk.PermAll)},
}

// electionCheckers is everything that every election must satisfy.
var electionCheckers = []checkers.Checker{checkers.Ownership{}, checkers.Belief{}, checkers.Fenced{}, checkers.Acknowledged{},
	checkers.Liveness{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}

var electionFaults = append(faults.Contract(), faults.Rule{Fault: "sequence", Budget: 2, Aim: faults.Aim{Path: candidatesDir}})

// electionScenario is what all scenarios of elections have in common.
func electionScenario(s engine.Scenario) engine.Scenario {
	s.Setup = electionSetup
	if s.Checkers == nil {
		s.Checkers = electionCheckers
	}
	return withDefaults(s, 3)
}

// electionHerd is six candidates without faults, judged by fan-out as well.
func electionHerd(s engine.Scenario, newElector func(p *engine.Process) elector) engine.Scenario {
	s.Source, s.Clients = "ZooKeeper recipes page, Leader Election", 6
	s.Program = func(p *engine.Process) {
		e := newElector(p)
		if err := leadOnce(p, p.Register(e.Znodes), e, pace{1, 1}, false); err != nil {
			p.Fail(err)
		}
	}
	s.Checkers = append(electionCheckers[:len(electionCheckers):len(electionCheckers)], checkers.Herd{PerEvent: 1})
	return electionScenario(s)
}

// electionScenarios are those of the elections.
var electionScenarios = []engine.Scenario{
	electionScenario(engine.Scenario{
		Name: "election/election", Doc: "the election under every fault",
		Source: "ZooKeeper recipes page, Leader Election",
		Rounds: 2, Program: withFollower(electionRounds(pace{1, 2}, newElection)), Alike: byThree, Faults: electionFaults,
		Goals: []engine.Goal{goalLostCreate, goalExpiry, goalQueue,
			{Name: "an acknowledgement that comes after the deposition", Reached: returned("acknowledge", recipes.ErrNotLeading)},
			{Name: "a question that is answered by nobody leads", Reached: returned("leader", recipes.ErrNoLeader)},
			{Name: "a question that is answered by a leader", Reached: returned("leader", nil)},
			{Name: "a candidate that gives up", Reached: returned("campaign", context.DeadlineExceeded)}},
	}),
	electionScenario(engine.Scenario{
		Name: "election/observed", Doc: "clients wait for a leader, and ask for it, under every fault",
		Source: "ZooKeeper recipes page, Leader Election",
		Rounds: 2, Program: observed(newElection), Faults: electionFaults,
		Goals: []engine.Goal{goalExpiry,
			{Name: "a question that is answered by nobody leads", Reached: returned("leader", recipes.ErrNoLeader)},
			{Name: "a question that is answered by a leader", Reached: returned("leader", nil)}},
	}),
	electionHerd(engine.Scenario{Name: "election/fan-out", Doc: "the end of a leader wakes one candidate of six"}, newElection),
	electionScenario(engine.Scenario{
		Name: "election/smallest", Doc: "the election in which all watch the first candidate, under every fault",
		Source: "ZooKeeper recipes page, Leader Election",
		Rounds: 2, Program: electionRounds(pace{1, 2}, newHerdElection), Alike: byThree, Faults: electionFaults,
		Goals: []engine.Goal{goalLostCreate, goalExpiry, goalQueue},
	}),

	electionHerd(engine.Scenario{Name: "election/smallest-herd", Doc: "all candidates watch the first one",
		Row: 125, Wakes: "nothing is needed", Caught: []string{"herd"}}, newHerdElection),
	electionScenario(engine.Scenario{Name: "election/event-leads", Doc: "a deletion event alone makes a leader, without listing again",
		Source: "the ZooKeeper recipes page has no re-check", Row: int(broken.EventLeads),
		Rounds: 3, Program: electionRounds(pace{1, 6}, newBrokenElection(broken.EventLeads)),
		Caught: []string{"ownership", "belief"},
		Wakes:  "the schedule alone"}),
	electionScenario(engine.Scenario{Name: "election/blind-ack", Doc: "the acknowledgement is written without a check of the own candidate",
		Source: "derived from the recipes page", Faults: faults.MustParse("learn-late=3"), Servers: []int{1}, Row: int(broken.BlindAck),
		Rounds: 3, Program: slowFirst,
		Caught: []string{"acknowledged"},
		Wakes:  "a pause between election and acknowledgement (learn-late)"}),
	electionScenario(engine.Scenario{Name: "election/no-ack", Doc: "the first candidate is taken for the leader",
		Source: "derived from the note of the recipes page", Row: int(broken.NoAck),
		Rounds: 2, Program: electionRounds(pace{1, 2}, newBrokenElection(broken.NoAck)),
		Caught: []string{"acknowledged"},
		Wakes:  "the schedule alone"}),
}
