package prove

import (
	"slices"
	"testing"

	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// enumerator goes through every schedule of a scope, one after the other, and
// remembers nothing of states. It shares no code with the search.
type enumerator struct {
	scope  *Scope
	most   int
	branch []int // the choice at each step of the present run
	widths []int // how many there were
	at     int
	used   int // faults
	ticks  int // ticks that had an alternative
}

func isCalm(e history.Event) bool { return e.Kind == history.Calm }

// Choose implements [sim.Chooser].
func (x *enumerator) Choose(w *sim.World) (sim.Transition, bool, error) {
	if !x.scope.Interleave {
		if t, ok := w.Prompt(x.scope.SlowWakes); ok {
			return t, true, nil
		}
	}
	var list []sim.Transition
	normal := w.Normal()
	for _, t := range normal {
		if t.Kind != sim.Tick || normal[0].Kind == sim.Tick || x.ticks < x.scope.Ticks { // time passes when nothing else can
			list = append(list, t)
		}
	}
	// or the faults are over
	if len(normal) > 0 && normal[0].Kind == sim.Tick && !slices.ContainsFunc(w.History.Events, isCalm) {
		list = append(list, sim.Transition{Kind: sim.Calm})
	}
	if x.used < x.most {
		list = append(list, w.Faults()...)
	}
	if first := w.Opening(); len(first) > 0 && !x.scope.Offline {
		list = first
	}
	if len(list) == 0 {
		return sim.Transition{}, false, nil
	}
	if x.at == len(x.branch) {
		x.branch, x.widths = append(x.branch, 0), append(x.widths, 0)
	}
	t := list[x.branch[x.at]]
	x.widths[x.at] = len(list)
	x.at++
	if t.Kind >= sim.FirstFault {
		x.used++
	}
	if t.Kind == sim.Tick && normal[0].Kind != sim.Tick {
		x.ticks++
	}
	return t, true, nil
}

// next goes on to the next schedule.
func (x *enumerator) next() bool {
	x.branch, x.widths = x.branch[:x.at], x.widths[:x.at]
	x.at, x.used, x.ticks = 0, 0, 0
	for i := len(x.branch) - 1; i >= 0; i-- {
		if x.branch[i]++; x.branch[i] < x.widths[i] {
			x.branch = x.branch[:i+1]
			x.widths = x.widths[:i+1]
			return true
		}
	}
	return false
}

// enumerate returns the outcomes of all schedules; not ok if there are more than limit.
func enumerate(t testing.TB, sc Scope, limit int) (set map[string]bool, runs int, ok bool) {
	t.Helper()
	s := newSearch(&sc, Reductions{}, sc.most())
	r := engine.NewRunner()
	defer r.Close()
	x := &enumerator{scope: &sc, most: sc.most()}
	set = map[string]bool{}
	for more := true; more; more = x.next() {
		if runs++; runs > limit {
			return set, runs, false
		}
		res, err := r.Explore(s.scenario, s.schedule, x)
		if err != nil {
			t.Fatal(err)
		}
		set[describe(&res, sc.Scenario.Checkers)] = true
	}
	return set, runs, true
}

// TestSearchReachesWhatEveryScheduleComesTo has no part of the search on the other
// side: neither fingerprints nor the order of what is explored.
func TestSearchReachesWhatEveryScheduleComesTo(t *testing.T) {
	limit := budget(5_000, 15_000, 40_000)
	for _, x := range tinies {
		for i := range 3 {
			interleave := i == 1
			sc := x.scope(t)
			if sc.Interleave = interleave; i == 2 {
				sc.Ticks++
			}
			want, runs, complete := enumerate(t, sc, limit)
			if !complete && (testing.Short() || interleave) {
				continue // a search takes long, too
			}
			got, all := reach(t, sc, Reductions{Monitors: true}, 1_000_000)
			if !all {
				t.Errorf("%s: not complete", x.name)
			}
			if !complete { // at least what was seen
				for text := range want {
					if !got[text] {
						t.Errorf("%s, interleaved %v, ticks %d: lost:\n%s", x.name, interleave, sc.Ticks, text)
						break
					}
				}
				continue
			}
			if d := difference(want, got); d != "" {
				t.Errorf("%s, interleaved %v, ticks %d, %d schedules: %s", x.name, interleave, sc.Ticks, runs, d)
			}
		}
	}
}
