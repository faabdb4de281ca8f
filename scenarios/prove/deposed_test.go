package prove

import (
	"slices"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// missed finds a history violated in which c2 asks after c1 has been told that its znode is made, syncs, and does
// not see it.
type missed struct{ checkers.Liveness }

func (missed) Name() string              { return "missed" }
func (missed) Monitor() checkers.Monitor { return &words{} }

func (missed) Check(h *history.History) checkers.Verdict {
	var told []string
	for _, e := range h.Events {
		if e.Kind == history.Told {
			told = append(told, e.Op)
		}
	}
	if slices.Equal(told, []string{"made", "asks", "missing"}) {
		return checkers.Verdict{Level: checkers.Violated, Checker: "missed", Message: "a stale read behind a sync"}
	}
	return checkers.Verdict{}
}

// asking is that history's program; fresh is what comes before the read.
func asking(fresh func(p *engine.Process) error) func(p *engine.Process) {
	return func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			if _, err := p.Conn.Create("/d/x", nil, 0, world); err == nil {
				say(o, "made")
			}
			return
		}
		p.Step()
		say(o, "asks")
		err := fresh(p)
		if made, _, failed := p.Conn.Exists("/d/x"); err == nil && failed == nil && !made {
			say(o, "missing")
		}
	}
}

// TestADeposedLeaderIsInAProofThatHasOne proves that a read behind a sync lacks nothing, where no leader is deposed,
// refutes it where one is, and finds nothing wrong, as far as it comes, with a read behind a write.
func TestADeposedLeaderIsInAProofThatHasOne(t *testing.T) {
	sync := func(p *engine.Process) error { _, err := p.Conn.Sync("/d"); return err }
	write := func(p *engine.Process) error { _, err := p.Conn.Multi(); return err }
	for _, x := range []struct {
		faults  string
		fresh   func(p *engine.Process) error
		limit   int // of states
		outcome Outcome
		said    string
	}{
		{"depose=1", sync, 600_000, Violated, "faults depose=1, at most 1, deposed leaders, "},
		{"depose=0", sync, 0, Holds, "faults depose=0, at most 0, no deposed leaders, "},
		{"depose=1", write, 5_000, Inconclusive, "faults depose=1, at most 1, deposed leaders, "},
	} {
		sc := tiny{name: "missed", servers: 3, faults: x.faults, program: asking(x.fresh), checker: missed{}}.scope(t)
		r, err := Prove(t.Context(), sc, Options{Reductions: Every, Doubt: 20, States: x.limit})
		if err != nil || r.Outcome != x.outcome || !strings.Contains(r.Certificate.String(), x.said) {
			t.Errorf("%s: %v, %v", x.faults, &r.Certificate, err)
		}
	}
}

// TestWhatAnEarlierSessionHasSentEndsNoUpdateOfAConfiguration looks at as many schedules as it once took to find the
// flag set by the try of a session that a deposed leader had given up, after the update had ended.
func TestWhatAnEarlierSessionHasSentEndsNoUpdateOfAConfiguration(t *testing.T) {
	sc := Scope{Scenario: catalog.Named("config/alone"), Servers: 3, Order: 1, Faults: plan(t, "disconnect=1 depose=1"),
		Most: -1}
	r, err := Prove(t.Context(), sc, Options{Reductions: Every, Reverse: true, States: 30_000})
	if said := r.Certificate.String(); err != nil || r.Outcome != Inconclusive ||
		!strings.Contains(said, "the number of states is reached with at most 2 faults") {
		t.Errorf("%s, %v", said, err)
	}
}
