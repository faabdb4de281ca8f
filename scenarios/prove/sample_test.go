package prove

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"zksim/checkers"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// TestWhatTheSearchOverlooksARandomRunFinds has programs in which something matters that is in no state: a variable
// that clients share, and which of two equal values code keeps. Of the latter a search sees the one that it comes to
// first, in one order or the other.
func TestWhatTheSearchOverlooksARandomRunFinds(t *testing.T) {
	n, busy := 0, []error{errors.New("busy"), errors.New("busy")}
	keeps := func(p *engine.Process) {
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
			return
		}
		err := func() (err error) {
			defer recipes.Forget(p.Env)(&err)
			data, _, _ := p.Conn.Get("/d")
			return busy[len(data)]
		}()
		p.Conn.Exists("/w")
		p.Always("it is the first", err == busy[0])
	}
	overlooked := 0
	for _, x := range []struct {
		program func(p *engine.Process)
		reverse bool
	}{{keeps, false}, {keeps, true}, {program: func(p *engine.Process) {
		n++
		p.Always("one at a time", n <= 1)
		p.Conn.Exists("/d")
		n--
	}}} {
		sc := Scope{Scenario: &engine.Scenario{Name: "test/overlooked", Clients: 2, Program: x.program,
			Checkers: []checkers.Checker{checkers.Steps{}},
			Setup:    []model.Request{{Op: model.OpCreate, Path: "/d", ACL: world}}}, Servers: 1, Order: 1}
		o := Options{Reductions: Every, Reverse: x.reverse, Workers: 1, Samples: -1}
		r, err := Prove(t.Context(), sc, o)
		held := r.Outcome == Holds

		if held {
			overlooked++
		}
		o.Samples = 0
		if r, err = Prove(t.Context(), sc, o); err != nil || r.Outcome != Violated ||
			r.Checker != "always" || len(r.Schedule) == 0 {
			t.Errorf("%v, %s", err, r.Certificate.String())
		}
		says := strings.Contains(r.Certificate.String(),
			"; by a random run, of a scope in which the search has found nothing")
		if says != held || held && len(r.Levels) > 0 {
			t.Errorf("held %v, and then %s", held, r.Certificate.String())
		}
	}
	if overlooked != 2 {
		t.Errorf("the search overlooks %d", overlooked)
	}
}

// prompt is a checker that counts steps: b comes next after a, if nothing else is recorded between them.
type prompt struct{}

func (prompt) Name() string { return "prompt" }
func (prompt) Doc() string  { return "b comes next after a" }
func (prompt) Check(h *history.History) (v checkers.Verdict) {
	for i := 1; i < len(h.Events); i++ {
		if a, b := &h.Events[i-1], &h.Events[i]; a.Op == "a" && b.Op == "b" && b.Step > a.Step+1 {
			return checkers.Verdict{Level: checkers.Violated, Event: i, Message: "b comes late"}
		}
	}
	return v
}

// TestStepsBetweenEventsAreInNoState has a server do something between two events or before both: the state is the
// same after that, and so is the order of events.
func TestStepsBetweenEventsAreInNoState(t *testing.T) {
	x := tiny{name: "prompt", checker: prompt{}, program: func(p *engine.Process) {
		if p.ID == 2 {
			p.Conn.Get("/d")
			return
		}
		o := register(p)
		say(o, "a")
		p.Step()
		say(o, "b")
	}}
	r, err := Prove(t.Context(), x.scope(t), Options{Reductions: Every})
	if err != nil || r.Outcome != Violated || !strings.HasSuffix(r.Why, "or of the numbers of steps") {
		t.Errorf("%v, %s", err, r.Certificate.String())
	}
}

// TestAProofThatHadNothingToJudgeIsInconclusive has a lock that is never held, and one that two clients cannot contend
// for within the scope.
func TestAProofThatHadNothingToJudgeIsInconclusive(t *testing.T) {
	belief := []checkers.Checker{checkers.Belief{}}
	for _, x := range []struct {
		program func(p *engine.Process)
		outcome Outcome
		idle    string
	}{
		{func(p *engine.Process) { p.Conn.Exists("/x") }, Inconclusive, "belief has nothing to judge here: it needs " +
			"Acquired events; record them with Object.Acquired"},
		{func(p *engine.Process) {
			if p.Clients > 2 || p.ID == 1 {
				register(p).Acquired("", 0)
			}
		}, Holds, "belief has nothing to judge here: it needs Acquired events of 2 clients; let more clients get it in one " +
			"run"},
		{func(p *engine.Process) {
			o := register(p)
			o.Acquired("", 0)
			o.Released()
		}, Holds, ""},
	} {
		s := engine.Scenario{Name: "test/idle", Clients: 3, Program: x.program, Checkers: belief}
		small, err := s.Sized(2, 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Prove(t.Context(), Scope{Scenario: &small, Servers: 1, Order: 1}, Options{Reductions: Every})
		if err != nil || r.Outcome != x.outcome || strings.Join(r.Idle, "; ") != x.idle {
			t.Errorf("%v, %s, %q, expected %s, %q", err, r.Certificate.String(), r.Idle, x.outcome, x.idle)
		}
	}
}

// TestACheckpointThatCannotBeSavedEndsNoSearch puts a file in the place of its folder while the search goes on. The
// folder is a link, since a file can replace one at once.
func TestACheckpointThatCannotBeSavedEndsNoSearch(t *testing.T) {
	file, folder := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "folder")
	write(t, file, nil)
	if err := os.Symlink(t.TempDir(), folder); err != nil {
		t.Fatal(err)
	}
	sc := about(t, "lock/lock", "disconnect=2", -1) // long enough for many looks at the clock
	program, runs := sc.Scenario.Program, atomic.Int64{}
	sc.Scenario.Program = func(p *engine.Process) {
		if runs.Add(1) == 10 {
			if err := os.Rename(file, folder); err != nil {
				t.Error(err)
			}
		}
		program(p)
	}
	o := Options{Reductions: Every, Checkpoint: filepath.Join(folder, "checkpoint"), Every: 1}
	r, err := Prove(t.Context(), sc, o)
	if r.Outcome != Holds || err == nil || !strings.HasPrefix(err.Error(), "checkpoint: ") {
		t.Errorf("%v, %s", err, r.Certificate.String())
	}
}
