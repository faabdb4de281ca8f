package sim_test

import (
	"strings"
	"testing"

	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/sim"
)

// deposing runs random programs, in which deposed leaders are slow to find out, until ok says that it has seen
// something.
func deposing(t *testing.T, what string, ok func(tp *tape) bool) {
	t.Helper()
	w := sim.NewWorld()
	defer w.Close()
	var tp tape
	for seed := range uint64(2000) {
		r := &sim.Random{FaultRate: 6000}
		r.Seed(seed)
		r.SlowKinds |= 1 << sim.StepDown
		tp.Reset(faults.Plan{{Fault: "depose", Budget: 1}, {Fault: "disconnect", Budget: 3}, {Fault: "elect", Budget: 1}})
		tp.start(w, config(3, seed), r)
		if err := tp.run(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if ok(&tp) {
			return
		}
	}
	t.Errorf("no run shows %s", what)
}

// TestASyncAtADeposedLeaderSucceedsAndIsStale finds what M8 excepts.
func TestASyncAtADeposedLeaderSucceedsAndIsStale(t *testing.T) {
	deposing(t, "a read behind a sync that misses what was acknowledged before", func(tp *tape) bool {
		return allSyncsCatchUp(tp) != nil && syncsCatchUp(tp) == nil
	})
}

// TestADeposedLeaderTellsExpiryOfASessionThatLives finds sessions of which clients were told that they had expired, and
// which go on to own znodes.
func TestADeposedLeaderTellsExpiryOfASessionThatLives(t *testing.T) {
	deposing(t, "a session that outlives the news of its end", func(tp *tape) bool {
		told := map[int64]bool{}
		for i := range tp.w.History.Events {
			switch e := &tp.w.History.Events[i]; {
			case e.Kind == history.Session && e.Op == "StateExpired":
				told[tp.sessionBefore(i)] = true
			case e.Kind == history.Deleted && told[e.Session] && e.Session != 0:
				return true
			}
		}
		return false
	})
}

// sessionBefore returns the session that the client of an event had.
func (tp *tape) sessionBefore(i int) int64 {
	list := tp.w.History.Events
	for k := i - 1; k >= 0; k-- {
		if e := &list[k]; e.Kind == history.Session && e.Client == list[i].Client && e.Session != 0 {
			return e.Session
		}
	}
	return 0
}

// TestZxidsStartAnewAtAnElection looks at the zxids of the log: within an epoch they count, and each election begins
// another one.
func TestZxidsStartAnewAtAnElection(t *testing.T) {
	deposing(t, "two elections with txns in between", func(tp *tape) bool {
		elections, epochs, last := 0, 0, int64(0)
		for _, name := range tp.w.Schedule() {
			if strings.HasPrefix(name, "depose ") || strings.HasPrefix(name, "elect ") {
				elections++
			}
		}
		for i := range tp.notes {
			n := &tp.notes[i]
			if n.kind != "commit" {
				continue
			}
			switch {
			case n.zxid == last+1:
			case n.zxid>>32 > last>>32 && n.zxid&(1<<32-1) == 1:
				epochs++
			default:
				t.Fatalf("zxid %x comes after %x", n.zxid, last)
			}
			last = n.zxid
		}
		if epochs > elections+1 { // the first txn begins one, too
			t.Fatalf("%d epochs and %d elections", epochs, elections)
		}
		return epochs == 3
	})
}

// TestNothingLastsOfADeposedLeader looks at the end of each run: all servers have the same, and no leader is deposed.
func TestNothingLastsOfADeposedLeader(t *testing.T) {
	struck := 0
	deposing(t, "100 deposed leaders", func(tp *tape) bool {
		for _, name := range tp.w.Schedule() {
			if strings.HasPrefix(name, "depose ") {
				struck++
			}
		}
		if k := tp.w.Deposed(); k >= 0 {
			t.Fatalf("s%d is still deposed at the end", k+1)
		}
		trees := [3][]model.Znode{}
		for k, s := range tp.w.Stores() {
			trees[k] = s.Tree()
		}
		for k := range trees {
			if len(trees[k]) != len(trees[0]) {
				t.Fatalf("s%d has %d znodes, s1 %d", k+1, len(trees[k]), len(trees[0]))
			}
		}
		return struck >= 100
	})
}
