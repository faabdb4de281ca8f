package scenarios_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios"
)

// monitored is a checker of a user, whose Check is what its monitor says.
type monitored func() checkers.Monitor

func (monitored) Name() string                { return "mine" }
func (monitored) Doc() string                 { return "something" }
func (f monitored) Monitor() checkers.Monitor { return f() }

func (f monitored) Check(h *history.History) checkers.Verdict {
	m := f()
	for i := range h.Events {
		if m == nil {
			break
		}
		if v := m.Step(h, i); v.Level != checkers.OK {
			return v
		}
	}
	return checkers.Verdict{}
}

// tallying is a monitor that counts the ends of operations.
type tallying struct {
	Ended int
	step  checkers.Constant[func(m *tallying, h *history.History, e *history.Event) checkers.Verdict]
	keeps bool // of what it has counted, whatever Reset says
}

func (m *tallying) Step(h *history.History, i int) checkers.Verdict {
	e := &h.Events[i]
	if e.Kind == history.Return {
		m.Ended++
	}
	if f := m.step.Value(); f != nil {
		return f(m, h, e)
	}
	return checkers.Verdict{}
}

func (m *tallying) Reset() {
	if !m.keeps {
		m.Ended = 0
	}
}

// attending is a scenario in which each of two clients ends one operation.
func attending(monitor func() checkers.Monitor) scenarios.Scenario {
	return scenarios.Scenario{Name: "my/monitor", Clients: 2, Checkers: []checkers.Checker{monitored(monitor)},
		Program: func(p *scenarios.Process) {
			p.Register(nil).Must("look", func(context.Context) error { _, _, err := p.Conn.Exists(p.Path("/x")); return err })
		}}
}

// proving returns what Prove says of monitors whose step is a function.
func proving(t *testing.T, step func(m *tallying, h *history.History, e *history.Event) checkers.Verdict) *fakeT {
	return prove(t, "", attending(func() checkers.Monitor { return &tallying{step: checkers.ConstantOf(step)} }))
}

// TestAMonitorSeesHowManyClientsThereAre has one that judges when all have ended, as its checker does.
func TestAMonitorSeesHowManyClientsThereAre(t *testing.T) {
	f := proving(t, func(m *tallying, h *history.History, e *history.Event) checkers.Verdict {
		if m.Ended > h.Clients {
			return checkers.Verdict{Level: checkers.Violated, Checker: "mine", Message: "too many"}
		}
		return checkers.Verdict{}
	})
	if !strings.HasPrefix(f.logs, "holds: ") {
		t.Errorf("%+v", f)
	}
}

// TestAMutantIsRefutedByAMonitorThatSaysNoName has a verdict without the name of its checker.
func TestAMutantIsRefutedByAMonitorThatSaysNoName(t *testing.T) {
	s := attending(func() checkers.Monitor {
		return &tallying{step: checkers.ConstantOf(
			func(m *tallying, h *history.History, e *history.Event) checkers.Verdict {
				if m.Ended == 2 {
					return checkers.Verdict{Level: checkers.Violated, Message: "two"}
				}
				return checkers.Verdict{}
			})}
	})
	s.Caught = []string{"mine"}
	if f := prove(t, "", s); !strings.HasPrefix(f.logs, "violated: ") || !strings.Contains(f.logs, ": mine: two; ") {
		t.Errorf("%+v", f)
	}
	if f := check(t, s, "1-5", ""); !strings.HasPrefix(f.logs, "my/monitor caught by mine, seed ") {
		t.Errorf("%+v", f)
	}
}

// TestWhatIsWrongWithAMonitorIsSaid has monitors that a search can make nothing of.
func TestWhatIsWrongWithAMonitorIsSaid(t *testing.T) {
	one := &tallying{}
	for want, monitor := range map[string]func() checkers.Monitor{
		"the monitor of checker mine is nil; ":                                        func() checkers.Monitor { return nil },
		"the method Monitor of checker mine returns the same monitor again, expected": func() checkers.Monitor { return one },
		"the monitor of checker mine remembers something after its Reset": func() checkers.Monitor {
			return &tallying{keeps: true}
		},
		"a checker, a monitor, a goal or a function of Register panics: none": func() checkers.Monitor { panic("none") },
	} {
		if f := prove(t, "", attending(monitor)); !strings.HasPrefix(f.fatal, "my/monitor: "+want) {
			t.Errorf("%+v, want %s", f, want)
		}
	}
}

// TestAMonitorThatPanicsIsNamed has one that does so in a search only: that is no sign of a program that is not
// deterministic.
func TestAMonitorThatPanicsIsNamed(t *testing.T) {
	f := proving(t, func(m *tallying, h *history.History, e *history.Event) checkers.Verdict {
		if e.Kind == history.Return && e.Step == 0 {
			panic("no step")
		}
		return checkers.Verdict{}
	})
	if want := "my/monitor: a checker, a monitor, a goal or a function of Register panics: no step\n"; !strings.Contains(
		f.fatal, want) || !strings.Contains(f.fatal, "scenarios/monitors_test.go:") {
		t.Errorf("%+v", f)
	}
}

// TestACheckerThatIsNotDeterministicIsNamed has one that finds one run of the search violated, whatever that is: that
// says nothing of zxids. Six runs come before the search.
func TestACheckerThatIsNotDeterministicIsNamed(t *testing.T) {
	s := attending(nil)
	var runs atomic.Int32
	s.Checkers, s.Finally = nil, func(h *history.History) error {
		if runs.Add(1)%3 == 0 {
			return errors.New("the third")
		}
		return nil
	}
	f := prove(t, "", s)
	if !strings.Contains(f.fatal, "the same steps lead to another state, ") ||
		!strings.Contains(f.fatal, " (what finally says, after connect c1 s1, ") {
		t.Errorf("%+v", f)
	}
}
