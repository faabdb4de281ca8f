package scenarios_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/scenarios"
	"zksim/scenarios/prove"
)

func init() {
	scenarios.OurSearches = append(scenarios.OurSearches, scenarios.OurSearch{Name: "prove", Judge: exhaust})
}

// exhaust judges a scenario by all schedules of a small size: one that must hold with
// at most one fault, by the checkers that need no order of events; a broken one in
// larger and larger sizes, by the checkers that must find its flaw.
func exhaust(t *testing.T, s *scenarios.Scenario, _ uint64) []string {
	if !s.Broken() {
		return closed(t, s, s.Clients, s.Rounds, 1, prove.OfState)
	}
	caught := func(c checkers.Checker) bool { return slices.Contains(s.Caught, c.Name()) }
	for _, size := range [][2]int{{2, 1}, {2, s.Rounds}, {3, 1}} {
		if found := closed(t, s, size[0], min(size[1], s.Rounds), 2, caught); found != nil {
			return found
		}
	}
	return nil
}

// closed explores a size of a scenario for some time and returns the checker that finds
// it violated, if one does. One that must hold must be explored to the end.
func closed(t *testing.T, s *scenarios.Scenario, clients, rounds, most int, wanted func(checkers.Checker) bool) []string {
	x, err := s.Sized(clients, rounds)
	if err != nil {
		t.Fatal(err)
	}
	limit := 2 * time.Minute
	if s.Broken() {
		limit = 10 * time.Second
	}
	x.Checkers = slices.DeleteFunc(slices.Clone(x.Checkers), func(c checkers.Checker) bool { return !wanted(c) })
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	r, err := prove.Prove(ctx, prove.Scope{Scenario: &x, Servers: 1, Order: 1, Faults: s.Faults, Most: most}, prove.Options{Reductions: prove.Every})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.Certificate.String())
	if r.Outcome == prove.Violated {
		return []string{r.Checker}
	}
	if r.Outcome != prove.Holds && !s.Broken() {
		t.Errorf("no verdict: %s", r.Why)
	}
	return nil
}
