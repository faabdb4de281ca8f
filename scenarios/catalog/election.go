package catalog

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

const (
	electionDir   = "/election"
	candidatesDir = electionDir + "/candidates"
)

// withFollower adds a goroutine that waits for a leader for a while, except in a brief run.
func withFollower(program func(p *engine.Process)) func(p *engine.Process) {
	return func(p *engine.Process) {
		if !workload.Brief(p) {
			awaitLeader(p)
		}
		program(p)
	}
}

// besides makes a program in which the odd clients campaign, and the even ones do something else.
func besides(newElector func(p *engine.Process) workload.FullElector, even func(p *engine.Process)) func(
	p *engine.Process) {
	campaign := workload.ElectionRounds(workload.Pace{Procedure: 1, Stay: 2}, newElector)
	return func(p *engine.Process) {
		if p.ID%2 == 1 {
			campaign(p)
		} else {
			even(p)
		}
	}
}

// observed makes a program in which some clients campaign, and the others wait for a leader and ask for it, round by
// round.
func observed(newElector func(p *engine.Process) workload.FullElector) func(p *engine.Process) {
	return besides(newElector, func(p *engine.Process) {
		awaitLeader(p)
		e := newElector(p)
		o := p.Register(e.Znodes)
		workload.Rounds(p, func(int) error { return workload.Ask(o, e) })
	})
}

// awaitLeader starts a goroutine that waits for a leader once.
func awaitLeader(p *engine.Process) { p.Env.Go("follower", func() { awaitOnce(p) }) }

// awaitOnce waits up to a second for a leader.
func awaitOnce(p *engine.Process) {
	defer recipes.Forget(p.Env)()
	ctx, end := p.Env.WithTimeout(context.Background(), time.Second)
	defer end()
	awaitUntil(ctx, p)
}

// awaitUntil waits for a leader until ctx is done. It knows nothing of earlier leaders.
func awaitUntil(ctx context.Context, p *engine.Process) {
	defer recipes.Forget(p.Env)()
	e := recipes.NewElection(p.Conn, p.Env, p.Path(electionDir), recipes.ElectionOptions{})
	o := p.Register(e.Znodes)
	o.Invoke("leader")
	leader, err := e.AwaitLeader(ctx)
	o.Record(history.Event{Kind: history.Return, Op: "leader", Value: leader.Token, Err: err})
	if err != nil && !errors.Is(err, ctx.Err()) {
		p.Fail(err)
	}
}

// withPatience adds a goroutine that waits for leaders, one after the other, until nothing else can happen; except in a
// brief run.
func withPatience(program func(p *engine.Process)) func(p *engine.Process) {
	return func(p *engine.Process) {
		if !workload.Brief(p) {
			p.Env.Go("follower", func() {
				ctx := workload.UntilRest(p)
				for range p.Rounds {
					awaitUntil(ctx, p)
				}
			})
		}
		program(p)
	}
}

// awaitAgain waits for a leader again and again.
func awaitAgain(p *engine.Process) {
	for range 4 * p.Rounds {
		awaitOnce(p)
	}
}

// slowFirst is a program in which c1 takes long to acknowledge and the others lead for long.
func slowFirst(p *engine.Process) {
	steps := workload.Pace{Procedure: 1, Stay: 40}
	if p.ID == 1 {
		steps = workload.Pace{Procedure: 40, Stay: 1}
	}
	workload.ElectionRounds(steps, newBrokenElection(mutants.BlindAck))(p)
}

func newElection(p *engine.Process) workload.FullElector {
	return recipes.NewElection(p.Conn, p.Env, p.Path(electionDir), recipes.ElectionOptions{})
}

func newHerdElection(p *engine.Process) workload.FullElector {
	return recipes.NewHerdElection(p.Conn, p.Env, p.Path(electionDir), recipes.ElectionOptions{})
}

func newBrokenElection(f mutants.Flaw) func(p *engine.Process) workload.FullElector {
	return func(p *engine.Process) workload.FullElector {
		return mutants.NewElection(p.Conn, p.Env, p.Path(electionDir), f)
	}
}

// reign makes a program of candidates that lead until they are told to stop, or until nothing more happens. Meanwhile
// they do something else for busy steps.
func reign(busy int, newElector func(p *engine.Process) workload.FullElector) func(p *engine.Process) {
	return func(p *engine.Process) {
		e := newElector(p)
		o := p.Register(e.Znodes)
		p.Env.Go("work", func() {
			workload.Steps(p, busy)
		})
		ctx := workload.UntilRest(p)
		for ctx.Err() == nil {
			o.Invoke("campaign")
			err := e.Campaign(context.Background())
			o.Return("campaign", err)
			if err != nil {
				p.Fail(err)
				return
			}
			o.Acquired(e.Znodes()[0], e.Token())
			if _, _, err := p.Env.Await(ctx, e.Lost()); err == nil {
				o.Lost()
			}
			o.Released()
			o.Invoke("resign")
			o.Return("resign", e.Resign(context.Background()))
		}
	}
}

func newMarkedElection(f mutants.Flaw) func(p *engine.Process) workload.FullElector {
	return func(p *engine.Process) workload.FullElector {
		return mutants.NewMarkedElection(p.Conn, p.Env, p.Path(electionDir), f)
	}
}

func newHeardElection(f mutants.Flaw) func(p *engine.Process) workload.FullElector {
	return func(p *engine.Process) workload.FullElector {
		return mutants.NewHeardElection(p.Conn, p.Env, p.Path(electionDir), f)
	}
}

var electionSetup = []model.Request{engine.Mkdir(electionDir), engine.Mkdir(candidatesDir),
	engine.Mkdir(electionDir + "/leader")}

var electionFaults = append(faults.Contract(),
	faults.Rule{Fault: "sequence", Budget: 2, Aim: faults.Aim{Path: candidatesDir}})

// electionScenario is what all scenarios of elections have in common.
func electionScenario(s engine.Scenario) engine.Scenario {
	s.Setup = electionSetup
	if s.Checkers == nil {
		s.Checkers = workload.ElectionCheckers
	}
	return workload.WithDefaults(s, 3)
}

// electionHerd is six candidates without faults, judged by fan-out as well.
func electionHerd(s engine.Scenario, newElector func(p *engine.Process) workload.FullElector) engine.Scenario {
	s.Clients = 6
	s.Program = func(p *engine.Process) {
		e := newElector(p)
		if err := workload.LeadOnce(p, p.Register(e.Znodes), e, workload.Pace{Procedure: 1, Stay: 1}, false); err != nil {
			p.Fail(err)
		}
	}
	s.Checkers = append(slices.Clip(workload.ElectionCheckers), checkers.Herd{PerEvent: 1})
	return electionScenario(s)
}

// endNotifies returns the condition of a goal: the end of one candidate whose name has the suffix notifies at least
// that many other clients.
func endNotifies(others int, suffix string) func(h *history.History) bool {
	return func(h *history.History) bool {
		owner, notified := map[int64]int32{}, map[int64]map[int32]bool{} // by the txn that deletes it
		for i := range h.Events {
			switch e := &h.Events[i]; {
			case e.Kind == history.Deleted && strings.HasPrefix(e.Path, candidatesDir+"/") && strings.HasSuffix(e.Path, suffix):
				owner[e.Zxid], notified[e.Zxid] = e.Client, map[int32]bool{}
			case e.Kind == history.Notify && notified[e.Zxid] != nil && e.Client != owner[e.Zxid]:
				if notified[e.Zxid][e.Client] = true; len(notified[e.Zxid]) >= others {
					return true
				}
			}
		}
		return false
	}
}

// electionScenarios are the scenarios of the elections.
var electionScenarios = []engine.Scenario{
	electionScenario(engine.Scenario{
		Name: "election/election", Doc: "the election under every fault",
		Rounds: 2, Program: withFollower(workload.ElectionRounds(workload.Pace{Procedure: 1, Stay: 2}, newElection)),
		Faults: electionFaults,
		Goals: []engine.Goal{workload.GoalLostCreate, workload.GoalExpiry, workload.GoalQueue,
			{Name: "an acknowledgement that comes after the deposition",
				Reached: workload.Returned("acknowledge", recipes.ErrNotLeading)},
			{Name: "a question that is answered by nobody leads", Reached: workload.Returned("leader", recipes.ErrNoLeader)},
			{Name: "a question that is answered by a leader", Reached: workload.Returned("leader", nil)},
			{Name: "a candidate that gives up", Reached: workload.Returned("campaign", context.DeadlineExceeded)}},
	}.Symmetric(workload.ByThree)),
	electionScenario(engine.Scenario{
		Name: "election/at-work", Doc: "leaders work for long, and candidates give up and come back",
		Clients: 2, Rounds: 3, Program: workload.ElectionAtWork(newElection), Faults: electionFaults,
		Goals: []engine.Goal{workload.GoalQueue, {Name: "a candidate that gives up",
			Reached: workload.Returned("campaign", context.DeadlineExceeded)}},
	}.Symmetric(workload.BySix)),
	electionScenario(engine.Scenario{
		Name: "election/observed", Doc: "clients wait for a leader, and ask for it, under every fault",
		Rounds: 2, Program: observed(newElection), Faults: electionFaults,
		Goals: []engine.Goal{workload.GoalExpiry,
			{Name: "a question that is answered by nobody leads", Reached: workload.Returned("leader", recipes.ErrNoLeader)},
			{Name: "a question that is answered by a leader", Reached: workload.Returned("leader", nil)}},
	}),
	workload.AtRest(electionScenario(engine.Scenario{
		Name: "election/idle", Doc: "leaders that do nothing but wait to be told that they lead no longer",
		Rounds: 2, Faults: withLosses(electionFaults),
		Program: withPatience(workload.ElectionRounds(workload.Pace{Procedure: 1, Stay: workload.UntilLost}, newElection)),
		Goals:   []engine.Goal{workload.GoalExpiry},
	}.Symmetric(workload.ByThree)).Without("fenced"), 0), // nobody writes
	electionScenario(engine.Scenario{
		Name: "election/deposed", Doc: "clients wait for a leader, and ask for it, while servers are deposed",
		Rounds: 2, Program: observed(newElection), Servers: []int{3}, Faults: faults.MustParse("depose=3 elect=1"),
		Goals: []engine.Goal{
			{Name: "a question that is answered by a leader", Reached: workload.Returned("leader", nil)}},
	}),
	electionScenario(engine.Scenario{
		Name: "election/awaited", Doc: "clients wait for a leader again and again while servers are deposed",
		Rounds: 3, Clients: 4, Program: besides(newElection, awaitAgain), Servers: []int{3},
		// two rules: more runs have one
		Faults: faults.MustParse("depose=4 depose=4 elect=2"),
		Goals: []engine.Goal{
			{Name: "a leader that was waited for", Reached: workload.Returned("leader", nil)}},
	}),
	electionHerd(engine.Scenario{Name: "election/fan-out", Doc: "the end of a leader wakes one candidate of six"},
		newElection),
	electionScenario(engine.Scenario{
		Name: "election/smallest", Doc: "the election in which all watch the first candidate, under every fault",
		Rounds: 2, Program: workload.ElectionRounds(workload.Pace{Procedure: 1, Stay: 2}, newHerdElection),
		Faults: electionFaults,
		Goals:  []engine.Goal{workload.GoalLostCreate, workload.GoalExpiry, workload.GoalQueue},
	}.Symmetric(workload.ByThree)),
	electionHerd(engine.Scenario{
		Name: "election/smallest-fan-out", Doc: "the end of a leader wakes all candidates where all watch the first",
		Faults: faults.MustParse("sequence=2@path=" + candidatesDir),
		Goals: []engine.Goal{
			{Name: "the end of a leader that wakes three others", Reached: endNotifies(3, "")},
			{Name: "the same where sequence numbers end", Reached: endNotifies(3, "2147483647")}},
	}, newHerdElection).Without("herd"),

	electionHerd(mutated(125, engine.Scenario{}), newHerdElection),
	electionScenario(mutated(mutants.EventLeads, engine.Scenario{Rounds: 3,
		Program: workload.ElectionRounds(workload.Pace{Procedure: 1, Stay: 6}, newBrokenElection(mutants.EventLeads))})),
	electionScenario(mutated(mutants.BlindAck, engine.Scenario{
		Faults: faults.MustParse("learn-late=3"), Servers: []int{1}, Rounds: 3,
		Program: slowFirst})),
	electionScenario(mutated(mutants.OldMark, engine.Scenario{Clients: 2, Servers: []int{1}, Rounds: 1,
		// two rules of each: more runs have both
		Faults:  faults.MustParse("disconnect=4 disconnect=4 lost-early=4 lost-early=4"),
		Program: reign(80, newMarkedElection(mutants.OldMark))})),
	electionScenario(mutated(mutants.ToldEarly, engine.Scenario{Clients: 2, Rounds: 1,
		// two rules of each: more runs have both
		Faults:  faults.MustParse("disconnect=4 disconnect=4 expire=4 expire=4"),
		Program: reign(0, newHeardElection(mutants.ToldEarly))})),
	electionScenario(mutated(mutants.NoAck, engine.Scenario{Rounds: 2,
		Program: workload.ElectionRounds(workload.Pace{Procedure: 1, Stay: 2}, newBrokenElection(mutants.NoAck))})),
}
