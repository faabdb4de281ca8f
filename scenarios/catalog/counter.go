package catalog

import (
	"context"
	"errors"

	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

const counterPath = "/counter"

func newCounter(p *engine.Process) workload.FullCounter {
	return recipes.NewCounter(p.Conn, p.Env, p.Path(counterPath), recipes.CounterOptions{})
}

// countAndGuess makes a program in which the first client adds one in each round, the second asks, and the fourth adds
// zero, which also asks. The others set the number to itself if it equals the number of their round, without asking
// first.
func countAndGuess(newCounter func(p *engine.Process) workload.FullCounter) func(p *engine.Process) {
	return func(p *engine.Process) {
		c := newCounter(p)
		o := p.Register(nil)
		workload.Rounds(p, func(r int) error { return guessOnce(p, o, c, int64(r+2)/2) })
	}
}

func guessOnce(p *engine.Process, o engine.Object, c workload.FullCounter, number int64) error {
	if p.ID == 1 {
		return workload.CountOnce(p, o, history.Event{Op: "add", Value: 1},
			func(ctx context.Context) (int64, error) { return c.Add(ctx, 1) })
	}
	if p.ID%4 == 0 {
		return workload.CountOnce(p, o, history.Event{Op: "add"},
			func(ctx context.Context) (int64, error) { return c.Add(ctx, 0) })
	}
	if p.ID%2 == 0 {
		return workload.CountOnce(p, o, history.Event{Op: "get"}, c.Get)
	}
	return workload.SwapOnce(p, o, number, number, c.CompareAndSet)
}

// counterScenario is what all scenarios of counters have in common.
func counterScenario(s engine.Scenario) engine.Scenario {
	s = workload.WithDefaults(s, 3)
	s.Checkers = workload.CounterCheckers
	return s
}

// counterMutant is a scenario of a broken counter that must be caught.
func counterMutant(f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s = mutated(f, s)
	s.Rounds, s.Program = 2, workload.CountRounds(func(p *engine.Process) workload.FullCounter {
		return mutants.NewCounter(p.Conn, p.Env, p.Path(counterPath), f)
	})
	s.Setup = makeZnodes(counterPath, "")
	return counterScenario(s)
}

var counterScenarios = []engine.Scenario{
	counterScenario(engine.Scenario{
		Name: "counter/counter", Doc: "the counter under every fault",
		Faults: faults.Contract().Except("watch-delay", "overtake"), // it watches nothing
		Rounds: 2, Program: workload.CountRounds(newCounter),
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
		Rounds: 6, Clients: 4, Program: countAndGuess(newCounter),
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
