package catalog

import (
	"context"
	"strings"
	"testing"

	"zksim/faults"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// leavingFanOut returns how many clients other than its author the change of a
// member's znode, or of the list of them, notified at most, and how many such
// notifications there were. Those by which a round begins do not count.
func leavingFanOut(h *history.History) (most, total int) {
	author := map[int64]int32{} // of a txn
	count := map[int64]int{}
	leaving := false
	for _, e := range h.Events {
		switch e.Kind {
		case history.Invoke:
			leaving = leaving || e.Op == "leave"
		case history.Deleted, history.Changed:
			author[e.Zxid] = e.Client
		case history.Notify:
			if leaving && author[e.Zxid] != e.Client && !strings.HasSuffix(e.Path, "/ready") {
				count[e.Zxid]++
				total++
				most = max(most, count[e.Zxid])
			}
		}
	}
	return most, total
}

func TestTheFanOutOfLeaving(t *testing.T) {
	const k = 6
	r := engine.NewRunner()
	defer r.Close()
	for how, want := range []struct{ most, total int }{
		recipes.LeaveLowest:     {k - 1, 2 * (k - 1)},           // one each for the lowest, then the lowest for all
		recipes.LeaveNaive:      {k - 1, k * (k - 1) / 2},       // the i-th to go for the i-1 that went before
		recipes.LeaveSequential: {1, (k - 1) + 1 + (k - 1) - 1}, // marks, the last of them for the highest as well; ends
	} {
		s := workload.BaseDoubleBarrier(engine.Scenario{Name: "test/fan-out", Clients: k, Rounds: 1},
			workload.Meeting{Enter: workload.Unlimited, Leave: workload.Unlimited, Stay: 2,
				NewBarrier: newDoubleBarrier(recipes.Leaving(how))})
		most, total := 0, 0
		for seed := range uint64(500) {
			res := r.Seed(&s, seed)
			if res.Verdict.Level != 0 {
				t.Fatalf("seed %d: %+v", seed, res.Verdict)
			}
			m, n := leavingFanOut(res.History)
			most, total = max(most, m), max(total, n)
		}
		if most != want.most || total > want.total {
			t.Errorf("way %d: one change notified %d and all %d; want %d and at most %d", how, most, total, want.most,
				want.total)
		}
	}
}

// Without their flaws the mutants are correct under the faults that wake the flaws.
func TestMutantsOfBarriersHoldWithoutTheirFlaws(t *testing.T) {
	var sound []engine.Scenario
	for _, s := range barrierScenarios {
		if s.Broken() {
			s.Caught, s.Program = nil, barrierRelay(0)
			sound = append(sound, s)
		}
	}
	for _, x := range []struct {
		faults string
		rounds int
		m      workload.Meeting
	}{
		{"", 2, workload.Meeting{}},
		{"", 1, workload.Meeting{Enter: workload.Unlimited}},
		{"", 1, workload.Meeting{More: 1}},
		{"learn-late=1", 2, workload.Meeting{}},
	} {
		sound = append(sound, doubleBarrierMutant(0,
			engine.Scenario{Rounds: x.rounds, Faults: faults.MustParse(x.faults), SafetySteps: 60}, x.m))
	}
	for i := range sound {
		rep, err := engine.Run(context.Background(), &sound[i], engine.Options{Seeds: engine.Range{First: 1, Last: 1000}})
		if err != nil || !unharmed(rep) {
			t.Errorf("%s with %v: %+v, %v", sound[i].Name, sound[i].Faults, rep, err)
		}
	}
}
