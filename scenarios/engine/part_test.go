package engine_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"zksim/faults"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// summed runs a scenario in parts and returns the sum of what they have written down.
func summed(t *testing.T, s *engine.Scenario, n uint64) (sum engine.Part, rep engine.Report) {
	t.Helper()
	sum = s.NewPart()
	for i := range n {
		x := run(t, *s, engine.Options{Seeds: engine.Range{First: 1, Last: 130}, Shard: i, Shards: n, Keep: 2})
		text, err := json.Marshal(x.Part)
		var part engine.Part
		if err == nil {
			err = json.Unmarshal(text, &part)
		}
		if err == nil {
			err = sum.Add(&part)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	rep, err := s.Sum(&sum, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return sum, rep
}

// A goal that one part does not reach, and a checker that has nothing to judge there, say nothing of the whole. A
// mutant that is not caught by what it is to be caught by may be violated otherwise, in some part.
func TestPartsAddUpToTheWhole(t *testing.T) {
	plan := faults.MustParse("lose-reply=2 expire=1")
	s := lockLike("test/parts", plan, "a lost reply after a create", "three clients in the queue")
	mutant := *catalog.Named("lock/plain-create")
	mutant.Caught = []string{"steps"}
	for _, s := range []engine.Scenario{s, mutant} {
		whole := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 130}})
		if s.Broken() && (whole.Status != engine.Escaped || !strings.Contains(whole.Why, " violates ")) {
			t.Errorf("%+v", whole)
		}
		for _, n := range []uint64{1, 2, 7, 64} {
			sum, rep := summed(t, &s, n)
			if sum.Runs != 130 || !reflect.DeepEqual(sum, whole.Part) || rep.Status != whole.Status ||
				rep.Why != whole.Why || !reflect.DeepEqual(rep.Coverage, whole.Coverage) {
				t.Errorf("%d parts: %+v\nand the whole: %+v", n, rep, whole)
			}
		}
	}
}

func TestAScenarioGoesOnAfterFailuresAndKeepsTheFirst(t *testing.T) {
	s := *catalog.Named("lock/plain-create")
	s.Caught = nil // as if it were a recipe that must hold
	all := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 40}, Keep: 2, Workers: 3})
	if all.Runs != 40 || all.Status != engine.Violation || len(all.Failures) < 2 || all.Cut {
		t.Fatalf("%d runs, %d failures, %v", all.Runs, len(all.Failures), all.Status)
	}
	if n := len(all.Part.Failed); n == 0 || all.Part.Failed[0].Runs <= 2 {
		t.Errorf("of %d failing runs only those are counted that are kept: %v", n, all.Part.Failed)
	}
	checker := map[string]int{}
	for i, f := range all.Failures {
		if checker[f.Verdict.Checker]++; checker[f.Verdict.Checker] > 2 || len(f.Schedule.Names) == 0 ||
			i > 0 && f.Schedule.Seed <= all.Failures[i-1].Schedule.Seed {
			t.Errorf("failure %d is seed %d, by %s", i, f.Schedule.Seed, f.Verdict.Checker)
		}
	}
	twice := s.NewPart()
	for range 2 {
		if err := twice.Add(&all.Part); err != nil {
			t.Fatal(err)
		}
	}
	for i, x := range twice.Failed {
		if y := all.Part.Failed[i]; x.Checker != y.Checker || x.Runs != 2*y.Runs {
			t.Errorf("%v and %v are %v", y, y, x)
		}
	}
	one := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 40}})
	if len(one.Failures) != 1 || one.Failure.Schedule.Seed != all.Failure.Schedule.Seed || one.Runs >= 40 {
		t.Errorf("%d failures in %d runs", len(one.Failures), one.Runs)
	}
	mutant := *catalog.Named("lock/plain-create")
	if rep := run(t, mutant, engine.Options{Seeds: engine.Range{First: 1, Last: 40}, Keep: 2}); rep.Runs >= 40 ||
		rep.Status != engine.Caught {
		t.Errorf("a mutant goes on: %d runs", rep.Runs)
	}
}

func TestPartsOfOtherScenariosAreNotAdded(t *testing.T) {
	s := lockLike("test/parts", faults.MustParse("lose-reply=2"), "three clients in the queue")
	for want, change := range map[string]func(*engine.Part){
		"0 rules, 1 goals":         func(p *engine.Part) { p.Rules = nil },
		"the rule \"expire=1\"":    func(p *engine.Part) { p.Rules[0].Rule = "expire=1" },
		"the goal \"a blue moon\"": func(p *engine.Part) { p.Goals[0].Name = "a blue moon" },
		"what \"other\" has seen":  func(p *engine.Part) { p.Needs[0].Checker = "other" },
		"cannot be added to":       func(p *engine.Part) { p.Needs = p.Needs[1:] },
	} {
		p := s.NewPart()
		change(&p)
		if _, err := s.Sum(&p, nil, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
