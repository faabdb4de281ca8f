package catalog

import (
	"context"
	"errors"
	"strconv"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// counter is a counter under test.
type counter interface {
	Get(ctx context.Context) (int64, error)
	Add(ctx context.Context, delta int64) (int64, error)
	CompareAndSet(ctx context.Context, old, next int64) (bool, error)
}

const counterPath = "/counter"

// countRounds makes a program that adds, looks, and changes what it has seen, in
// each round; in a brief run one client adds and the other does the rest.
func countRounds(newCounter func(p *engine.Process) counter) func(p *engine.Process) {
	return func(p *engine.Process) {
		c := newCounter(p)
		o := p.Register(func() []string { return nil })
		workload.Rounds(p, func(int) error { return countOnce(p, o, c) })
	}
}

// countAndGuess makes a program in which the first client adds one in each round, the second asks, the fourth adds
// zero, which is to ask, too, and the others change the number to itself if it is the one of their round, which they
// have not asked for.
func countAndGuess(newCounter func(p *engine.Process) counter) func(p *engine.Process) {
	return func(p *engine.Process) {
		c := newCounter(p)
		o := p.Register(func() []string { return nil })
		workload.Rounds(p, func(r int) error { return guessOnce(p, o, c, int64(r+2)/2) })
	}
}

func guessOnce(p *engine.Process, o engine.Object, c counter, number int64) error {
	if p.ID == 1 {
		return count(p, o, history.Event{Op: "add", Value: 1},
			func(ctx context.Context) (int64, error) { return c.Add(ctx, 1) })
	}
	if p.ID%4 == 0 {
		return count(p, o, history.Event{Op: "add"}, func(ctx context.Context) (int64, error) { return c.Add(ctx, 0) })
	}
	if p.ID%2 == 0 {
		return count(p, o, history.Event{Op: "get"}, c.Get)
	}
	e := history.Event{Op: "cas", Path: strconv.FormatInt(number, 10), Value: number}
	return count(p, o, e, func(ctx context.Context) (int64, error) {
		ok, err := c.CompareAndSet(ctx, number, number)
		if ok {
			return 1, err
		}
		return 0, err
	})
}

// countOnce is one round. It returns only errors that a counter must not have.
func countOnce(p *engine.Process, o engine.Object, c counter) error {
	delta, seen := int64(p.ID), int64(0)
	var err error
	if workload.Leads(p) {
		err = count(p, o, history.Event{Op: "add", Value: delta},
			func(ctx context.Context) (int64, error) { return c.Add(ctx, delta) })
	}
	if err == nil && workload.Follows(p) {
		err = count(p, o, history.Event{Op: "get"}, func(ctx context.Context) (n int64, err error) {
			seen, err = c.Get(ctx)
			return seen, err
		})
	}
	if err == nil && workload.Follows(p) {
		e := history.Event{Op: "cas", Path: strconv.FormatInt(seen, 10), Value: seen + 10}
		err = count(p, o, e, func(ctx context.Context) (int64, error) {
			ok, err := c.CompareAndSet(ctx, seen, seen+10)
			if ok {
				return 1, err
			}
			return 0, err
		})
	}
	return err
}

// count records one operation.
func count(p *engine.Process, o engine.Object, e history.Event, f func(ctx context.Context) (int64, error)) error {
	ctx, end := p.Interruptible()
	defer end()
	e.Kind = history.Invoke
	o.Record(e)
	n, err := f(ctx)
	unknown := errors.Is(err, recipes.ErrUnknownOutcome)
	o.Record(history.Event{Kind: history.Return, Op: e.Op, Value: n, Err: err, OK: err != nil && !unknown})
	if unknown || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// counterScenario is what all scenarios of counters have in common.
func counterScenario(s engine.Scenario) engine.Scenario {
	s = workload.WithDefaults(s, 3)
	s.Checkers = []checkers.Checker{checkers.Counter{}, checkers.Liveness{}, checkers.Quiescence{}, checkers.Tree{},
		checkers.Steps{}}
	return s
}

// counterMutant is a scenario of a broken counter that must be caught.
func counterMutant(f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s = mutated(f, s)
	s.Rounds, s.Program = 2, countRounds(func(p *engine.Process) counter {
		return mutants.NewCounter(p.Conn, p.Env,
			p.Path(counterPath), f)
	})
	s.Setup = makeZnodes(counterPath, "")
	return counterScenario(s)
}

var counterScenarios = []engine.Scenario{
	counterScenario(engine.Scenario{
		Name: "counter/counter", Doc: "the counter under every fault",
		Faults: faults.Contract().Except("watch-delay", "overtake"), // it watches nothing
		Rounds: 2, Program: countRounds(func(p *engine.Process) counter {
			return recipes.NewCounter(p.Conn, p.Env, p.Path(counterPath), recipes.CounterOptions{})
		}),
		Goals: []engine.Goal{workload.GoalLostMulti,
			{Name: "an outcome that nobody can know", Reached: workload.Answered("add", func(e *history.Event) bool {
				return errors.Is(e.Err, recipes.ErrUnknownOutcome) && !errors.Is(e.Err, context.Canceled)
			})},
			{Name: "a number that was changed since it was seen",
				Reached: workload.Answered("cas", func(e *history.Event) bool { return e.Err == nil && e.Value == 0 })}},
	}),

	counterScenario(engine.Scenario{
		Name: "counter/guesses", Doc: "clients that never add ask, or guess, while leaders are deposed",
		Faults: faults.MustParse("depose=3 elect=1"), Servers: []int{3},
		Rounds: 6, Clients: 4, Program: countAndGuess(func(p *engine.Process) counter {
			return recipes.NewCounter(p.Conn, p.Env, p.Path(counterPath), recipes.CounterOptions{})
		}),
		Setup: makeZnodes(counterPath, ""),
		Goals: []engine.Goal{{Name: "a guess that is right",
			Reached: workload.Answered("cas", func(e *history.Event) bool { return e.Err == nil && e.Value == 1 })}},
	}),

	counterMutant(mutants.DoubleCount, engine.Scenario{Faults: faults.MustParse("lose-reply=2")}),
	counterMutant(mutants.StaleGet, engine.Scenario{Servers: []int{3},
		Faults: faults.MustParse("stale-read=3")}),
	counterMutant(mutants.LastingReceipt, engine.Scenario{ // it makes no ephemeral znodes
		Faults: faults.MustParse("lose-request=1@op=delete")}).Without("tree"),
}
