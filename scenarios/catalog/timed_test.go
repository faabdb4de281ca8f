package catalog

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
	"zksim/sim"
)

func TestTimedRunsAreAFunctionOfTheSeed(t *testing.T) {
	s := lockScenario(engine.Scenario{Name: "test/timed", Clients: 30, Rounds: 2, Program: workload.LockRounds(newLock)})
	r := engine.NewRunner()
	defer r.Close()
	res, times := r.Timed(&s, 7, sim.DefaultTiming)
	if res.Verdict.Level != checkers.OK || res.History.Outcome != history.Quiet || len(times) != res.Steps {
		t.Fatalf("%+v, outcome %d, %d times for %d steps", res.Verdict, res.History.Outcome, len(times), res.Steps)
	}
	if !slices.IsSorted(times) || times[0] <= 0 || times[len(times)-1] > time.Minute {
		t.Errorf("from %v to %v", times[0], times[len(times)-1])
	}
	first := slices.Clone(times)
	again, times := r.Timed(&s, 7, sim.DefaultTiming)
	if again.Hash != res.Hash || !slices.Equal(times, first) {
		t.Errorf("hash %x, and then %x", res.Hash, again.Hash)
	}
	if other, _ := r.Timed(&s, 8, sim.DefaultTiming); other.Hash == res.Hash {
		t.Error("two seeds, one run")
	}
}

func TestATimedRunEndsWhenItIsDone(t *testing.T) {
	s := lockScenario(engine.Scenario{Name: "test/timed", Clients: 5, Rounds: 2, Program: workload.LockRounds(newLock)})
	r := engine.NewRunner()
	defer r.Close()
	whole, times := r.Timed(&s, 7, sim.DefaultTiming)
	half, last := slices.Clone(times[:whole.Steps/2]), time.Duration(0)
	res, times := r.TimedUntil(&s, 7, sim.DefaultTiming, func(h *history.History, now time.Duration) bool {
		if now < last || len(h.Events) == 0 {
			t.Errorf("at %v after %v, with %d events", now, last, len(h.Events))
		}
		last = now
		return now >= half[len(half)-1]
	})
	if !slices.Equal(times, half) || res.Steps != len(half) || last != half[len(half)-1] {
		t.Errorf("%d steps of %d, until %v", res.Steps, whole.Steps, last)
	}
}

// Ten times the clients take about ten times the steps, and the time of a step
// does not grow: so a sweep up to many clients is possible.
func BenchmarkTimed(b *testing.B) {
	for _, clients := range []int{100, 400} {
		b.Run(strconv.Itoa(clients), func(b *testing.B) {
			s := lockScenario(engine.Scenario{Name: "bench", Clients: clients, Rounds: 1,
				Program: workload.LockRounds(newSingleNodeLock)})
			s.Checkers = nil
			r := engine.NewRunner()
			defer r.Close()
			steps := 0
			for b.Loop() {
				res, _ := r.Timed(&s, 1, sim.DefaultTiming)
				steps += res.Steps
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
		})
	}
}
