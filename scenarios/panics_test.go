package scenarios_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios"
)

// TestCodeThatLooksAtARunAndPanicsIsNamed has each kind of it, which need not do so in the first runs.
func TestCodeThatLooksAtARunAndPanicsIsNamed(t *testing.T) {
	var runs atomic.Int32
	dies := func() {
		if runs.Add(1) > 40 {
			panic("out of luck")
		}
	}
	for what, s := range map[string]scenarios.Scenario{
		"a checker": {Checkers: []checkers.Checker{dying(dies)}, Program: idle},
		"a goal": {Program: idle, Goals: []scenarios.Goal{{Name: "x", Reached: func(*history.History) bool {
			dies()
			return true
		}}}},
		"Finally": {Program: idle, Finally: func(*history.History) error {
			dies()
			return nil
		}},
		"a function of Register": {Program: func(p *scenarios.Process) {
			p.Register(func() []string {
				dies()
				return nil
			})
		}},
	} {
		s.Name, s.Clients = "my/lock", 1
		runs.Store(0)
		f := check(t, s, "1-100", "")
		if !regexp.MustCompile(`^my/lock, seed \d+: a checker, a monitor, a goal or a function of Register panics: out of ` +
			`luck\n    zksim/scenarios_test.*scenarios/panics_test.go:\d+\n`).MatchString(f.fatal) {
			t.Errorf("%s: %s", what, f.fatal)
		}
	}
}

// TestACheckerThatChangesTheHistoryIsNamed has one that sorts the events before another one judges them, and Finally.
func TestACheckerThatChangesTheHistoryIsNamed(t *testing.T) {
	sorts := func(h *history.History) {
		slices.SortStableFunc(h.Events, func(a, b history.Event) int { return cmp.Compare(a.Client, b.Client) })
	}
	for name, s := range map[string]scenarios.Scenario{
		"sorting": {Checkers: []checkers.Checker{sorting(sorts), checkers.Belief{}, checkers.Liveness{}}},
		"finally": {Finally: func(h *history.History) error { sorts(h); return nil }},
	} {
		s.Name, s.Clients = "my/lock", 2
		s.Program = func(p *scenarios.Process) {
			o := p.Register(nil)
			o.Invoke("lock")
			o.Return("lock", nil)
			o.Acquired("", 0)
			p.Step()
			o.Released()
		}
		f := check(t, s, "1-20", "")
		if !strings.HasPrefix(f.fatal, "my/lock, seed 1: checker "+name+" changes the events of the history that it judges") {
			t.Errorf("%s: %s", name, f.fatal)
		}
	}
}

// TestAGoalThatChangesTheHistoryHidesNoOther has one that leaves out all events, among them that of Sometimes.
func TestAGoalThatChangesTheHistoryHidesNoOther(t *testing.T) {
	f := check(t, scenarios.Scenario{Name: "my/lock", Clients: 1,
		Program: func(p *scenarios.Process) { p.Sometimes("it is refused", false) },
		Goals: []scenarios.Goal{{Name: "x", Reached: func(h *history.History) bool {
			h.Events = h.Events[:0]
			return true
		}}},
	}, "1-500", "")
	if !strings.HasPrefix(f.fatal, "my/lock: no run had it is refused") {
		t.Errorf("%+v", f)
	}
}

// sorting is a checker that changes what it gets.
type sorting func(h *history.History)

func (sorting) Name() string { return "sorting" }
func (sorting) Doc() string  { return "" }
func (f sorting) Check(h *history.History) checkers.Verdict {
	f(h)
	return checkers.Verdict{}
}

// dying is a checker of a user.
type dying func()

func (dying) Name() string { return "dying" }
func (dying) Doc() string  { return "" }
func (f dying) Check(*history.History) checkers.Verdict {
	f()
	return checkers.Verdict{}
}

// TestAFailureIsTheSameInOtherWords has words with an address in them, which differs in each run.
func TestAFailureIsTheSameInOtherWords(t *testing.T) {
	words := func() error { return fmt.Errorf("no answer to %p", new(int)) } //zksim:ignore this is to be reported
	for what, fails := range map[string]func(p *scenarios.Process){
		"liveness": func(p *scenarios.Process) { p.Fail(words()) },
		"panic":    func(*scenarios.Process) { panic(words()) },
	} {
		f := check(t, scenarios.Scenario{Name: "my/lock", Clients: 1, Program: fails}, "1-5", "")
		for _, want := range []string{what + ": ", "no answer to 0x", "2 of 2 identical"} {
			if !strings.Contains(f.fatal, want) {
				t.Errorf("no %q in %s", want, f.fatal)
			}
		}
	}
}
