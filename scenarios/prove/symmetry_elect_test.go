package prove

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// unrefused finds a history violated in which the guarded resource refuses a write.
type unrefused struct{ checkers.Liveness }

func (unrefused) Name() string              { return "unrefused" }
func (unrefused) Monitor() checkers.Monitor { return refusing{} }

func (unrefused) Check(h *history.History) (v checkers.Verdict) {
	for i := range h.Events {
		if v = (refusing{}).Step(h, i); v.Level != checkers.OK {
			break
		}
	}
	return v
}

// refusing is the monitor of unrefused.
type refusing struct{}

func (refusing) Reset() {}

func (refusing) Step(h *history.History, i int) checkers.Verdict {
	if e := &h.Events[i]; e.Kind == history.Write && !e.OK {
		return checkers.Verdict{Level: checkers.Violated, Checker: "unrefused", Message: "a write is refused", Event: i}
	}
	return checkers.Verdict{}
}

// elected is the scope of two clients that get a token, if not 0, and write with it to the guarded resource when an
// election cuts their connections.
func elected(t *testing.T, token func(p *engine.Process) int64) Scope {
	s := engine.Scenario{Name: "tiny/elected", Clients: 2, Servers: []int{3}, Checkers: []checkers.Checker{unrefused{}},
		Program: func(p *engine.Process) {
			o, n := register(p), token(p)
			_, ev, _ := p.Env.Await(context.Background(), p.Env.SessionEvents())
			if n > 0 && ev.State == zk.StateDisconnected {
				o.Write(n)
			}
		}}.Symmetric(func(int, int) int { return 1 })
	return Scope{Scenario: &s, Servers: 3, Order: 1, Faults: plan(t, "elect=1"), Most: -1}
}

// TestClientsThatAnElectionWakesTogetherAreNotExchanged has clients that draw tokens: only a run in which c2 has drawn
// first has a write that is refused, since c1 goes on first.
func TestClientsThatAnElectionWakesTogetherAreNotExchanged(t *testing.T) {
	sc := elected(t, func(p *engine.Process) int64 {
		name, _ := p.Conn.Create("/x", nil, zk.FlagSequence, world)
		n, err := strconv.ParseInt(strings.TrimPrefix(name, "/x"), 10, 64)
		if err != nil {
			return 0
		}
		return n + 1
	})
	for _, symmetry := range []bool{false, true} {
		o := Options{Reductions: Every, Samples: -1}
		o.Reductions.Symmetry = symmetry
		if r, err := Prove(t.Context(), sc, o); err != nil || r.Outcome != Violated {
			t.Errorf("symmetry %v: %s, %v, expected a violation", symmetry, &r.Certificate, err)
		}
	}
}

// TestTheSecondOfTwoClientsThatAnElectionWakesGoesFirstWithSlowWakes has a write of c1 that is refused after that of
// c2.
func TestTheSecondOfTwoClientsThatAnElectionWakesGoesFirstWithSlowWakes(t *testing.T) {
	sc := elected(t, func(p *engine.Process) int64 { return int64(p.ID) })
	for outcome, slow := range map[Outcome]bool{Holds: false, Violated: true} {
		sc.SlowWakes = slow
		if r, err := Prove(t.Context(), sc, Options{Reductions: Every}); err != nil || r.Outcome != outcome {
			t.Errorf("%s, %v", &r.Certificate, err)
		}
	}
}
