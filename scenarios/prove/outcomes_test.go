package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model/history"
	"zksim/scenarios"
)

// nobody is the checker that must catch a scenario of which all outcomes are wanted: a
// search for it never stops at a violation.
var nobody = []string{"nobody"}

// describe is what a complete run came to: the verdict, and if nothing is violated how
// everything stands and what each client's code has done. The order of what different
// clients did is not part of it.
func describe(r *scenarios.Result, all []checkers.Checker) string {
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

// witness is a checker that looks at all that describe tells of clients, so that no search
// forgets it.
type witness struct{ checkers.Liveness }

func (witness) Order() (o checkers.Order) {
	for k := history.Invoke; k <= history.Released; k++ {
		o[k] = 1 << 31
	}
	return o
}

// reach returns the outcomes that a search comes to, and whether it was complete.
func reach(t testing.TB, sc Scope, r Reductions, limit time.Duration) (map[string]bool, bool) {
	t.Helper()
	x := *sc.Scenario
	sc.Scenario = &x
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for known := (needs{}); ; {
		s := newSearch(&sc, r, sc.most())
		s.needs, s.scenario.Caught = known, nobody
		s.scenario.Checkers = append(slices.Clip(s.scenario.Checkers), witness{})
		set := map[string]bool{}
		var mu sync.Mutex
		s.outcome = func(res *scenarios.Result) {
			text := describe(res, x.Checkers)
			mu.Lock()
			defer mu.Unlock()
			set[text] = true
		}
		if err := s.run(ctx, 2, []edge{{}}, func() bool { return false }); err != nil {
			t.Fatal(err)
		}
		if known = s.more; !s.asked.Load() {
			return set, len(s.pool.queue) == 0 && s.unsure == ""
		}
	}
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

// sound compares what searches with reductions reach with what a plain search does.
func sound(t *testing.T, sc Scope, limit time.Duration, all ...Reductions) int {
	t.Helper()
	want, complete := reach(t, sc, Reductions{}, limit)
	if !complete {
		return 0
	}
	for _, r := range all {
		got, complete := reach(t, sc, r, 10*limit)
		if !complete {
			t.Errorf("%s, %s, %+v: takes longer than a plain search", sc.Scenario.Name, sc.Faults, r)
			continue
		}
		if d := difference(want, got); d != "" {
			t.Errorf("%s, %s, servers %d, %+v: %s", sc.Scenario.Name, sc.Faults, sc.Servers, r, d)
		}
	}
	return len(want)
}
