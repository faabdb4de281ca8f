package checkers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"zksim/model/history"
)

// stoppedAfter is the history of a run that was stopped after n events of h.
func stoppedAfter(h *history.History, n int) *history.History {
	cut := &history.History{}
	cut.Reset(h.Clients)
	cut.Events, cut.Txns, cut.Outcome = h.Events[:n:n], h.Txns, history.Stopped
	return cut
}

// cutAt compares what a checker says of a history, and of what begins it: that is no worse. It returns how often either
// was violated.
func cutAt(t *testing.T, c Checker, h *history.History) (violated int) {
	t.Helper()
	whole := c.Check(h)
	for n := range h.Events {
		v := c.Check(stoppedAfter(h, n))
		if v.Level == Violated && whole.Level != Violated {
			t.Fatalf("%v of the first %d events of a history of which it says %v:\n%s", v, n, whole, listed(h))
		}
		if v.Level == Violated || n == 0 && whole.Level == Violated {
			violated++
		}
	}
	return violated
}

// TestNothingIsWrongWithTheBeginningOfWhatIsRight cuts random histories of every sort at each event, as if the run had
// been stopped there.
func TestNothingIsWrongWithTheBeginningOfWhatIsRight(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	const all = 200
	sort := func(c Checker, history func() *history.History) {
		t.Run(fmt.Sprintf("%s %+v", c.Name(), c), func(t *testing.T) {
			found := 0
			for range all {
				found += cutAt(t, c, history())
			}
			if found == 0 {
				t.Errorf("nothing is wrong with any of %d", all)
			}
		})
	}
	everySort(r, sort)
}

// everySort calls sort with each checker for which there are random histories, and what makes them.
func everySort(r *rand.Rand, sort func(c Checker, history func() *history.History)) {
	seed := 0
	games := func(start func(whims *rand.Rand) game) func() *history.History {
		return func() *history.History {
			seed++
			return played(start, seed, 4+seed%30, seed).history()
		}
	}
	for _, f := range slices.Concat(queueFamilies, waitsFamilies, watchesFamilies, placeFamilies, configFamilies,
		[]workload{counterFamily, namesFamily, tasksFamily, alarmOracle, passageOracle, suspicionOracle}) {
		sort(f.checker, func() *history.History {
			h := &history.History{}
			h.Reset(3)
			h.Txns = true
			f.grow(r, h, 4+r.IntN(max(f.most, usualMost)))
			f.end(r, h)
			return h
		})
	}
	for _, f := range slices.Concat(doubleBarrierFamilies, heldFamilies, beliefFamilies, lapseFamilies, commitFamilies,
		[]family{claimFamily, barrierFamily}) {
		sort(f.checker, func() *history.History {
			return newNumbering(r).history(extend(r, f.start.clone(), 8+r.IntN(20)))
		})
	}
	for _, x := range watchersJudged {
		sort(x.Monitored, games(newGroup(x.sorts...)))
	}
	for _, x := range configsJudged {
		sort(x.Monitored, games(newUpdated(x.ops...)))
	}
	sort(Settled{}, games(newSettling(false)))
	for _, f := range plays {
		for _, c := range f.checkers {
			sort(c, func() *history.History { return historyOf(f.play(r, &scene{}, f.most)) })
		}
	}
	sort(Linearizability{}, func() *history.History { return disorderly(r) })
	sort(Rounds{Listed: true}, func() *history.History { return barriersListed(r) })
}
