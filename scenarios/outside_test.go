package scenarios_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// hasty is an [engine.Worker] whose first run is violated, after which time is up.
type hasty struct{ up func() }

func (h hasty) Run(o *engine.Order) (*engine.Reply, error) {
	if o.By != engine.BySeed || o.Seed > 1 {
		return nil, errors.New("no time")
	}
	h.up()
	return &engine.Reply{Result: engine.Result{Steps: 1, Verdict: checkers.Verdict{Level: checkers.Violated,
		Checker: "always", Message: "it is broken"}}, Names: []string{"tick"}}, nil
}

func (hasty) Close() {}

// timedT is a test whose time is that of a context.
type timedT struct {
	*fakeT
	ctx context.Context
}

func (t timedT) Context() context.Context { return t.ctx }

// TestAFailureThatIsFoundLastIsTold has no time left in which a failure could be repeated.
func TestAFailureThatIsFoundLastIsTold(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	s := scenarios.Scenario{Name: "test/last", Doc: "runs elsewhere", Clients: 1,
		Outside:   func(*sim.World, func() error) error { panic("runs are elsewhere") },
		Elsewhere: func() (engine.Worker, error) { return hasty{cancel}, nil }}
	f := &fakeT{}
	f.run(func() { scenarios.Check(timedT{f, ctx}, s) })
	for _, want := range []string{"test/last  seed 1  always: it is broken\n", "not repeated", "time is up", " 1 tick\n",
		"try again  go test "} {
		if !strings.Contains(f.fatal, want) {
			t.Errorf("no %q in:\n%s", want, f.fatal)
		}
	}
}

// wavering is an [engine.Worker] of code whose runs part. A schedule of three steps fails in most of its runs, and a
// shorter one in the first that are made of it in turn, and seldom afterwards.
type wavering struct {
	names []string
	turn  int
}

func (w *wavering) Run(o *engine.Order) (*engine.Reply, error) {
	whole := []string{"tick", "serve c1", "deliver c1"}
	names := o.Schedule.Names
	switch {
	case o.Trace:
		return nil, errors.New("not told")
	case o.By == engine.BySeed:
		names = whole
	}
	if w.turn++; !slices.Equal(names, w.names) {
		w.names, w.turn = names, 0
	}
	reply := &engine.Reply{Result: engine.Result{Schedule: o.Schedule, Steps: len(names), History: &history.History{}},
		Names: names, Taken: len(names)}
	fails := w.turn < 4 || w.turn%5 == 0
	if len(names) == len(whole) {
		fails = w.turn != 1
	}
	if fails {
		reply.Verdict = checkers.Verdict{Level: checkers.Violated, Checker: "always", Message: "it is broken"}
	}
	return reply, nil
}

func (*wavering) Close() {}

// TestAShortestScheduleThatMostlyHoldsIsNotTold has runs that part, and shrinks them to one that seldom fails again.
func TestAShortestScheduleThatMostlyHoldsIsNotTold(t *testing.T) {
	t.Chdir(t.TempDir())
	s := scenarios.Scenario{Name: "test/wavering", Doc: "runs elsewhere", Clients: 1,
		Outside:   func(*sim.World, func() error) error { panic("runs are elsewhere") },
		Elsewhere: func() (engine.Worker, error) { return &wavering{}, nil }}
	f := &fakeT{}
	f.run(func() { scenarios.Check(f, s) })
	want := "not made shorter: seed 1: its shortest schedule has failed again in 5 of 10 replays"
	if !strings.Contains(f.fatal, want) {
		t.Errorf("no %q in:\n%s", want, f.fatal)
	}
}

// parting is an [engine.Worker] of code whose runs go the same way in ten replays, and not later: from then on a
// schedule fits only if steps may be left out.
type parting struct{}

func (parting) Run(o *engine.Order) (*engine.Reply, error) {
	names := o.Schedule.Names
	if o.By == engine.BySeed {
		names = []string{"tick", "serve c1", "deliver c1"}
	} else if !o.Loose && !o.Schedule.Loose() {
		return &engine.Reply{Failed: "step 1 is not possible here"}, nil
	}
	h := &history.History{Events: []history.Event{{Kind: history.Calm}}}
	verdict := checkers.Verdict{Level: checkers.Violated, Checker: "always", Message: "it is broken"}
	return &engine.Reply{Result: engine.Result{Schedule: o.Schedule, Steps: len(names), History: h, Verdict: verdict},
		Names: names, Taken: len(names), Trace: &history.Trace{}}, nil
}

func (parting) Close() {}

// TestAFailureThatPartsLateIsShrunk has a failure that repeats ten times before it is shrunk, and parts then.
func TestAFailureThatPartsLateIsShrunk(t *testing.T) {
	t.Chdir(t.TempDir())
	s := scenarios.Scenario{Name: "test/parting", Doc: "runs elsewhere", Clients: 1,
		Outside:   func(*sim.World, func() error) error { panic("runs are elsewhere") },
		Elsewhere: func() (engine.Worker, error) { return parting{}, nil }}
	f := &fakeT{}
	f.run(func() { scenarios.Check(f, s) })
	for _, want := range []string{"test/parting  seed 1  always: it is broken\n", "minimal    0 of 3 steps",
		"repeated   failed again in 10 of 10 replays", "reproduce  go test "} {
		if !strings.Contains(f.fatal, want) {
			t.Errorf("no %q in:\n%s", want, f.fatal)
		}
	}
}
