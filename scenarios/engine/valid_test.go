package engine_test

import (
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// sound is a scenario with which nothing is wrong.
func sound() engine.Scenario {
	return engine.Scenario{Name: "my/lock", Clients: 3, Servers: []int{1, 3}, Program: func(p *engine.Process) {},
		Checkers: []checkers.Checker{checkers.Tree{}}, Goals: []engine.Goal{{Name: "it", Reached: never}},
		Caught: []string{"tree", "always"}, Faults: faults.Contract()}
}

// called is a checker of that name.
type called string

func (x called) Name() string                          { return string(x) }
func (called) Doc() string                             { return "something" }
func (called) Check(*history.History) checkers.Verdict { return checkers.Verdict{} }

// needing is a checker that declares one need.
type needing struct {
	called
	need checkers.Need
}

func (x needing) Needs() checkers.Needs { return checkers.Needs{Seen: []checkers.Need{x.need}} }

// spoilt are scenarios with which something is wrong, and the beginnings of the errors.
var spoilt = []struct {
	want  string
	spoil func(s *engine.Scenario)
}{
	{"the name of a scenario is one line ",
		func(s *engine.Scenario) { s.Name = "" }},
	{"my/lock has no Program, expected what each client does",
		func(s *engine.Scenario) { s.Program = nil }},
	{"Clients of my/lock is -3, expected a number from 1 to 1000",
		func(s *engine.Scenario) { s.Clients = -3 }},
	{"Clients of my/lock is 0, expected ",
		func(s *engine.Scenario) { s.Clients = 0 }},
	{"Clients of my/lock is 5000, expected ",
		func(s *engine.Scenario) { s.Clients = 5000 }},
	{"the number of servers of my/lock is 1 or 3, not 2",
		func(s *engine.Scenario) { s.Servers[1] = 2 }},
	{"the number of servers of my/lock is 1 or 3, not 0",
		func(s *engine.Scenario) { s.Servers[0] = 0 }},
	{"Like of my/lock is 77, expected that of zookeeper, keeper, ",
		func(s *engine.Scenario) { s.Like = 77 }},
	{"Rounds of my/lock is -5, expected a number from 0 to 1000",
		func(s *engine.Scenario) { s.Rounds = -5 }},
	{"Dials of my/lock is -1, expected ",
		func(s *engine.Scenario) { s.Dials = -1 }},
	{"MaxSteps of my/lock is -1, expected ",
		func(s *engine.Scenario) { s.MaxSteps = -1 }},
	{"SafetySteps of my/lock is -1, expected ",
		func(s *engine.Scenario) { s.SafetySteps = -1 }},
	{"SafetySteps of my/lock is 500, expected less than the 400 of MaxSteps",
		func(s *engine.Scenario) { s.SafetySteps, s.MaxSteps = 500, 400 }},
	{"SafetySteps of my/lock is 20000, expected less than the 20000 of MaxSteps",
		func(s *engine.Scenario) { s.SafetySteps = 20_000 }},
	{"checker 2 of my/lock is nil",
		func(s *engine.Scenario) { s.Checkers = append(s.Checkers, nil) }},
	{"checker 2 of my/lock is nil",
		func(s *engine.Scenario) { s.Checkers = append(s.Checkers, (*checkers.Belief)(nil)) }},
	{`checker 2 of my/lock is called "", expected a name of one line that can be that of a file`,
		func(s *engine.Scenario) { s.Checkers = append(s.Checkers, called("")) }},
	{`checker 1 of my/lock is called "my/lock", expected `,
		func(s *engine.Scenario) { s.Checkers[0] = called("my/lock") }},
	{`need 1 of checker mine of my/lock is "a lock", expected one with What it is and what tells whether it is In `,
		func(s *engine.Scenario) { s.Checkers[0] = needing{"mine", checkers.Need{What: "a lock"}} }},
	{`need 1 of checker mine of my/lock is "", expected `,
		func(s *engine.Scenario) { s.Checkers[0] = needing{"mine", checkers.Need{In: never}} }},
	{`goal 1 of my/lock is "it", expected one with a Name and what `,
		func(s *engine.Scenario) { s.Goals[0].Reached = nil }},
	{"Heeds of my/lock is of no use without Finally",
		func(s *engine.Scenario) { s.Heeds = []string{} }},
	{`Heeds of my/lock names "lokc", expected an operation of a checker, or of Words, or a kind of events`,
		func(s *engine.Scenario) {
			s.Finally, s.Heeds = func(*history.History) error { return nil }, []string{"lock", "deleted", "lokc"}
			s.Checkers = []checkers.Checker{checkers.Belief{}}
		}},
	{"fault plan: rule 1: no such fault; there are ",
		func(s *engine.Scenario) { s.Faults = faults.Plan{{Fault: "nope", Budget: 1}} }},
	{"fault plan: rule 1: the budget must be a number from 0 ",
		func(s *engine.Scenario) { s.Faults[0].Budget = -1 }},
	{"fault plan: rule 1: lose-request=2 has an aim that no plan can have: {Client:-1 ",
		func(s *engine.Scenario) { s.Faults[0].Aim.Client = -1 }},
	{"fault plan: lose-request=2@client=c9: there is no c9, my/lock has 3 clients",
		func(s *engine.Scenario) { s.Faults[0].Aim.Client = 9 }},
	{"the setup of my/lock fails: create /a/b: zk: node does not exist; the parent ",
		func(s *engine.Scenario) { s.Setup = []model.Request{engine.Mkdir("/a/b")} }},
	{"fault plan: sequence=2@path=/q: there is no znode /q when my/lock begins",
		func(s *engine.Scenario) { s.Faults = faults.MustParse("sequence=2@path=/q") }},
}

func TestEveryFieldOfAScenarioThatIsWrongIsNamedWithWhatWasExpected(t *testing.T) {
	s := sound()
	if err := s.Valid(); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range spoilt {
		s := sound()
		wrong.spoil(&s)
		err := s.Valid()
		if err == nil || !strings.HasPrefix(err.Error(), wrong.want) {
			t.Errorf("%v, not %s", err, wrong.want)
			continue
		}
		told := err.Error()
		if _, err = engine.Run(t.Context(), &s, engine.Options{}); err == nil || err.Error() != told {
			t.Errorf("a run: %v", err)
		}
		if _, err = engine.Exhaust(t.Context(), &s, engine.Bounds{}); err == nil || err.Error() != told {
			t.Errorf("a search: %v", err)
		}
		if _, err = engine.Each(t.Context(), &s, engine.Options{}, nil); err == nil || err.Error() != told {
			t.Errorf("each: %v", err)
		}
		if _, err = engine.NewRunner().Replay(&s, engine.Schedule{Scenario: s.Name}); err == nil || err.Error() != told {
			t.Errorf("a replay: %v", err)
		}
	}
}

func TestARunHasTheCheckersThatAreToCatchAMutant(t *testing.T) {
	s := sound()
	s.Caught = []string{"tree", "nope"}
	const want = `Caught of my/lock names "nope", expected one of its checkers: always, tree`
	if err := s.Valid(); err == nil || err.Error() != want {
		t.Error(err)
	}
	if _, err := engine.Exhaust(t.Context(), &s, engine.Bounds{}); err == nil || err.Error() != want {
		t.Errorf("a search: %v", err)
	}
	r := engine.NewRunner()
	defer r.Close()
	if _, err := r.Replay(&s, s.NewSchedule(0)); err != nil {
		t.Errorf("a replay, which may have some of the checkers: %v", err)
	}
}

func never(*history.History) bool { return false }

func TestASearchHasNoNegativeBounds(t *testing.T) {
	s := sound()
	wrong := map[string]engine.Bounds{"-1 faults": {Faults: -1}, "-2 delays": {Delays: -2}, "-3 runs": {Runs: -3}}
	for want, b := range wrong {
		if _, err := engine.Exhaust(t.Context(), &s, b); err == nil ||
			err.Error() != "the bounds of a search are numbers from 0 on, not "+want {
			t.Error(err)
		}
	}
}

// TestASearchThatEndsAmongItsLastSchedulesIsNotClosed leaves out the last of the schedules that nothing follows.
func TestASearchThatEndsAmongItsLastSchedulesIsNotClosed(t *testing.T) {
	s := sound()
	whole, err := engine.Exhaust(t.Context(), &s, engine.Bounds{Delays: 1})
	if err != nil || !whole.Closed || whole.Made < 3 {
		t.Fatalf("%s, %v", &whole, err)
	}
	for left, closed := range []bool{true, false, false} {
		x, err := engine.Exhaust(t.Context(), &s, engine.Bounds{Delays: 1, Runs: whole.Made - left})
		if err != nil || x.Closed != closed || x.Made != whole.Made-left {
			t.Errorf("%d of %d runs: %s, %v", whole.Made-left, whole.Made, &x, err)
		}
	}
}
