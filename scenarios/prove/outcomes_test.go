package prove

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// nobody is the checker that must catch a scenario of which all outcomes are wanted: a
// search for it never stops at a violation.
var nobody = []string{"nobody"}

// describe is what a complete run came to: the verdict, and if nothing is violated how
// everything stands and what each client's code has done. The order of what different
// clients did is not part of it.
func describe(r *engine.Result, all []checkers.Checker) string {
	if v := checkers.Worst(r.History, all); v.Level == checkers.Violated {
		return "violated"
	}
	h := r.History
	var b strings.Builder
	fmt.Fprintf(&b, "%v", h.Outcome)
	for _, n := range h.Tree {
		fmt.Fprintf(&b, " %s=%q@%x v%d", n.Path, n.Data, n.Owner, n.Version)
	}
	for _, x := range h.Waiting {
		fmt.Fprintf(&b, "\nc%d/%s waits for %v", x.Client, x.Where, x.Paths)
	}
	for id := range h.Finished {
		fmt.Fprintf(&b, "\nc%d finished %v, failed %q:", id, h.Finished[id], h.Failed[int32(id)])
		for _, e := range h.Events {
			if int(e.Client) == id && id > 0 && e.Kind <= history.Released {
				fmt.Fprintf(&b, " %v %s %s %v %v", e.Kind, e.Op, e.Path, e.OK, e.Err)
			}
		}
	}
	return b.String()
}

// witness is a checker that remembers all that describe tells of clients, so that no search
// forgets it.
type witness struct{ checkers.Liveness }

func (witness) Monitor() checkers.Monitor { return &deeds{} }

// deeds is what each client has done.
type deeds struct{ of [8]string }

func (d *deeds) Step(h *history.History, i int) checkers.Verdict {
	e := &h.Events[i]
	d.of[e.Client] += fmt.Sprintf(" %v %s %s %v %v", e.Kind, e.Op, e.Path, e.OK, e.Err)
	return checkers.Verdict{}
}

func (d *deeds) Sees(k history.Kind) bool { return k <= history.Released }
func (d *deeds) Reset()                   { *d = deeds{} }

// reach returns the outcomes that a search comes to, and whether it was complete within so many states.
func reach(t testing.TB, sc Scope, r Reductions, limit int) (map[string]bool, bool) {
	t.Helper()
	x := *sc.Scenario
	sc.Scenario = &x
	s := newSearch(&sc, r, sc.most())
	s.scenario.Caught, s.limit = nobody, int64(limit)
	s.scenario.Checkers = append(slices.Clip(s.scenario.Checkers), witness{})
	set := map[string]bool{}
	var mu sync.Mutex
	s.outcome = func(res *engine.Result) {
		text := describe(res, x.Checkers)
		mu.Lock()
		defer mu.Unlock()
		set[text] = true
	}
	if err := s.run(t.Context(), 2, []edge{{}}, func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	return set, !s.full.Load() && s.unsure == ""
}

// difference returns an outcome that one set has and the other has not.
func difference(a, b map[string]bool) string {
	for _, x := range [...]struct {
		what string
		a, b map[string]bool
	}{{"lost", a, b}, {"new", b, a}} {
		var list []string
		for text := range x.a {
			if !x.b[text] {
				list = append(list, text)
			}
		}
		if len(list) > 0 {
			return fmt.Sprintf("%d of %d and %d outcomes are %s, as:\n%s", len(list), len(a), len(b), x.what, slices.Min(list))
		}
	}
	return ""
}

// combinations are each reduction of Every alone, all without it, and all.
func combinations() []Reductions {
	all := []Reductions{Every}
	for i := range Every.Switches() {
		alone, without := Reductions{}, Every
		*alone.Switches()[i].On, *without.Switches()[i].On = true, false
		all = append(all, alone, without)
	}
	return all
}

// plan parses a fault plan.
func plan(t testing.TB, text string) faults.Plan {
	t.Helper()
	p, err := faults.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sound compares what searches with reductions reach with what a plain search does that is closed within so many
// states; where there are too many orders of events for that, with one that takes the monitors' word for what
// matters of them.
func sound(t *testing.T, sc Scope, limit int, all ...Reductions) int {
	t.Helper()
	want, complete := reach(t, sc, Reductions{}, limit)
	if !complete {
		want, complete = reach(t, sc, Reductions{Monitors: true}, limit)
		all = slices.DeleteFunc(slices.Clone(all), func(r Reductions) bool { return !r.Monitors })
	}
	if !complete {
		return 0
	}
	for _, r := range all {
		got, complete := reach(t, sc, r, limit)
		if !complete {
			t.Errorf("%s, %s, %+v: more states than a plain search", sc.Scenario.Name, sc.Faults, r)
			continue
		}
		if d := difference(want, got); d != "" {
			t.Errorf("%s, %s, servers %d, %+v: %s", sc.Scenario.Name, sc.Faults, sc.Servers, r, d)
		}
	}
	return len(want)
}
