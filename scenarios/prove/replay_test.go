package prove

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"zksim/scenarios/catalog"
)

// refuted returns a certificate of a violation, and its scope.
func refuted(t *testing.T, sc Scope) Certificate {
	t.Helper()
	r, err := Prove(t.Context(), sc, Options{Reductions: Every, Workers: 1})
	if err != nil || r.Outcome != Violated {
		t.Fatalf("%s: %+v, %v", sc.Scenario.Name, r.Certificate, err)
	}
	return r.Certificate
}

// What a search has found can be run again, whatever kind of checker has found it and whatever the scope.
func TestTheScheduleOfEveryViolationShowsIt(t *testing.T) {
	found := 0
	for i := range catalog.All {
		s := &catalog.All[i]
		if !s.Broken() {
			continue
		}
		for _, sc := range []Scope{{Servers: 1}, {Servers: 1, SlowWakes: true, Ticks: 1}, {Servers: 3, Offline: true}} {
			x, err := s.Sized(min(2, s.Clients), min(1, s.Rounds))
			if err != nil {
				t.Fatal(err)
			}
			sc.Scenario, sc.Order, sc.Faults, sc.Most = &x, 1, s.Faults, 1
			r, err := Prove(t.Context(), sc, Options{Reductions: Every, Workers: 1, States: 2000})
			if err != nil {
				t.Fatal(err)
			}
			if r.Outcome != Violated {
				continue
			}
			found++
			if err := r.Replay(sc); err != nil {
				t.Errorf("%s on %d servers: %v\n%s", s.Name, sc.Servers, err, r.String())
			}
		}
	}
	if found < 60 {
		t.Errorf("only %d violations", found)
	}
	t.Log(found, "violations")
}

// A certificate that says what its schedule does not show is refused, and the error says what.
func TestADoctoredViolationIsRefused(t *testing.T) {
	for _, name := range []string{"lock/plain-create", "lock/name-sort", "lock/closed-spin"} {
		sc := about(t, name, "", -1)
		sc.Faults = sc.Scenario.Faults
		good := refuted(t, sc)
		if err := good.Replay(sc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, x := range []struct {
			want   string
			change func(c *Certificate)
		}{
			{"the schedule is empty", func(c *Certificate) { c.Schedule = nil }},
			{"step 1: \"serve c2\" is not possible here", func(c *Certificate) { c.Schedule[0] = "serve c2" }},
			{"is not possible: step 2: \"\" is not possible", func(c *Certificate) { c.Schedule[1] = "" }},
			{"", func(c *Certificate) { c.Schedule = c.Schedule[:3] }},
			{"", func(c *Certificate) { c.Schedule = append(c.Schedule, "deliver c9") }},
			{"", func(c *Certificate) { c.Checker = cmp.Or(strings.TrimPrefix("tree", c.Checker), "quiescence") }},
			{`"none" is no checker that can refute ` + name, func(c *Certificate) { c.Checker = "none" }},
			{`"" is no checker`, func(c *Certificate) { c.Checker = "" }},
			{" says of the schedule ", func(c *Certificate) { c.Message += "!" }},
			{" says of the schedule ", func(c *Certificate) { c.Message = "" }},
			{", not 2", func(c *Certificate) { c.Struck = 2 }},
			{"the schedule has ", func(c *Certificate) { c.Struck = 1 - c.Struck }},
			{"a certificate that says \"holds\" tells of a violation", func(c *Certificate) { c.Outcome = Holds }},
		} {
			bad := good
			bad.Schedule = slices.Clone(good.Schedule)
			x.change(&bad)
			if err := bad.Replay(sc); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%s: %v, want %q", name, err, x.want)
			}
		}
	}
	sc := about(t, "lock/lock", "", 0)
	if err := (&Certificate{Outcome: Holds}).Replay(sc); err != nil {
		t.Error(err)
	}
	bad := refuted(t, about(t, "lock/name-sort", "", 0))
	sc.Servers = 2
	if err := bad.Replay(sc); err == nil || err.Error() != "the number of servers is 1 or 3, not 2" {
		t.Error(err)
	}
}
