package scenarios_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"zksim/checkers"
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
