package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"zksim/internal/mutate"
	"zksim/internal/mutate/trial"
)

// sampled are a few mutants of the locks, all of which two scenarios notice.
const sampled = `^(hold.go hold.Lost: return|place.go newPlace: remove|place.go place.made: remove|` +
	`place.go place.(enqueue|znodes): return func \(p|place_order.go place.blocker: bound)`

// TestASampleOfMutantsIsCaught builds all mutants and tries a few. docs/mutation.md tells of more.
func TestASampleOfMutantsIsCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	m, err := measure(context.Background(), options{match: regexp.MustCompile(sampled), workers: 1,
		only: []string{"lock/lock", "recipes/locks"}})
	if err != nil {
		t.Fatal(err)
	}
	var all counts
	for i := range m.tried {
		all[m.class(&m.tried[i])]++
		t.Log(m.line(&m.tried[i]))
	}
	if all[byChecker] != len(m.tried) || len(m.tried) < 6 {
		t.Errorf("of %d mutants, expected six or more, %d are caught by a checker, expected all", len(m.tried),
			all[byChecker])
	}
	page := m.page()
	for _, want := range []string{fmt.Sprintf("Tried were %d of %d changes.", len(m.tried), len(m.all)),
		fmt.Sprintf("| all | %d | 0 | 0 | 0 | 100.0 %% |", len(m.tried)), "None of those that were tried.",
		"go run ./internal/mutate/mutation -run '" + sampled + "' > docs/mutation.md"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

// A page lists what survives, and not what is argued to be equivalent.
func TestThePageTellsOfSurvivors(t *testing.T) {
	mutant := func(id int, o mutate.Operator) mutate.Mutant {
		return mutate.Mutant{ID: id, File: "a.go", Line: 10 * id, Func: "F", Operator: o, Old: "x", Nth: 1}
	}
	list := []mutate.Mutant{mutant(1, mutate.Skip), mutant(2, mutate.Negate), mutant(3, mutate.Swap),
		mutant(4, mutate.Flip)}
	m := &measured{all: list, tried: list, reasoned: map[string]string{"a.go F: swap x": "so it is"},
		outcomes: map[int]trial.Outcome{1: {Caught: true, Checker: "belief", Seed: 3}, 2: {Caught: true, Goal: true},
			4: {Runs: 7, Differ: 2}}}
	page := m.page()
	for _, want := range []string{"| `skip` | 1 | 0 | 0 | 0 | 100.0 % |", "| `negate` | 0 | 1 | 0 | 0 | 100.0 % |",
		"| `swap` | 0 | 0 | 1 | 0 | - |", "| `flip` | 0 | 0 | 0 | 1 | 0.0 % |", "| all | 1 | 1 | 1 | 1 | 66.7 % |",
		"a.go F: flip x (line 40), 2 of 7 runs differ"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if got := len(m.survivors()); got != 1 {
		t.Errorf("%d survivors, expected 1", got)
	}
}

// Each entry of the list of equivalent mutants must be one of the present source, and have a reason.
func TestEquivalentMutantsExist(t *testing.T) {
	s, err := mutate.Load(recipes, hints...)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for i := range s.Mutants {
		there[s.Mutants[i].String()] = true
	}
	list, err := equivalents(equivalentList)
	if err != nil {
		t.Fatal(err)
	}
	for mutant, why := range list { // order-free: each is a test of its own
		if !there[mutant] {
			t.Errorf("equivalent.txt: there is no mutant %q", mutant)
		}
		if len(strings.Fields(why)) < 3 {
			t.Errorf("equivalent.txt: %q has no reason", mutant)
		}
	}
}

func TestTheListOfEquivalentMutantsIsRead(t *testing.T) {
	list, err := equivalents("# comment\na.go F: skip x\n  since\n  y\n\nb.go G: return z\n  so\n")
	if err != nil || list["a.go F: skip x"] != "since y" || list["b.go G: return z"] != "so" || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	for text, want := range map[string]string{"  reason\n": "a reason without a mutant",
		"a\n  b\na\n  b\n": "is there twice"} {
		if _, err := equivalents(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
}

func TestALineSaysWhereAMutantWasCaught(t *testing.T) {
	x := mutate.Mutant{ID: 1, File: "a.go", Line: 10, Func: "F", Operator: mutate.Skip, Old: "x", Nth: 1}
	for _, c := range []struct {
		o    trial.Outcome
		want string
	}{{trial.Outcome{Caught: true, Checker: "crash"}, "caught   a.go F: skip x (line 10), the program ends by crash"},
		{trial.Outcome{Caught: true, Scenario: "s", Checker: "goal"}, "caught   a.go F: skip x (line 10), s by goal"}} {
		m := &measured{outcomes: map[int]trial.Outcome{1: c.o}}
		if got := m.line(&x); got != c.want {
			t.Errorf("%q, expected %q", got, c.want)
		}
	}
}

func TestASampleStaysWhereTheSourceChanges(t *testing.T) {
	var all []mutate.Mutant
	for i := range 100 {
		all = append(all, mutate.Mutant{ID: i + 1, File: "a", Func: fmt.Sprint("F", i)})
	}
	names := func(all []mutate.Mutant, o options) (list []string) {
		for _, x := range sample(all, o) {
			list = append(list, x.Func)
		}
		return list
	}
	whole := names(all, options{})
	first, second := names(all, options{n: 40}), names(all, options{n: 60, beside: 40})
	if both := slices.Concat(first, second); len(whole) != 100 || len(first) != 40 || len(second) != 60 ||
		slices.ContainsFunc(whole, func(x string) bool { return !slices.Contains(both, x) }) {
		t.Errorf("%v, %v of %v", first, second, whole)
	}
	if !slices.IsSortedFunc(sample(all, options{n: 40}), func(a, b mutate.Mutant) int { return a.ID - b.ID }) {
		t.Errorf("%v is not in the order of the source", first)
	}
	kept := 0
	for _, x := range names(slices.Delete(slices.Clone(all), 10, 20), options{n: 40}) {
		if slices.Contains(first, x) {
			kept++
		}
	}
	if kept < 30 {
		t.Errorf("without 10 of 100 only %d of 40 are the same", kept)
	}
	if got := names(all, options{n: 2, match: regexp.MustCompile("^a F9[1-3]:")}); len(got) != 2 {
		t.Errorf("%v, expected 2 of 3", got)
	}
}
