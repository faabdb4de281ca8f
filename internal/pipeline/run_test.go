package pipeline_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/internal/pipeline"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
)

// TestTheScopeOfExhaustiveSearchHasNoFaultsThatTheScenarioHasNot looks at a scenario without
// faults, one with some, and what -faults says.
func TestTheScopeOfExhaustiveSearchHasNoFaultsThatTheScenarioHasNot(t *testing.T) {
	for _, x := range []struct{ name, plan, want string }{
		{"lock/fan-out", "", "none"},
		{"lock/lock", "", prove.Losses},
		{"lock/lock", "pause=1", "pause=1"},
		{"lock/plain-create", "", "lose-reply=2"},
	} {
		s := catalog.Named(x.name)
		sc, err := pipeline.Small(s, x.plan).Of(s)
		if err != nil || sc.Faults.String() != x.want || sc.Scenario.Clients != 2 {
			t.Errorf("%+v: %s, %v", x, sc.Faults, err)
		}
	}
}

// TestWhatIsExploredOfAScenarioWithRoundsIsOneOfThem looks at what is said of a search that has come to its end.
func TestWhatIsExploredOfAScenarioWithRoundsIsOneOfThem(t *testing.T) {
	for name, want := range map[string]string{
		"lock/lock":    "; every schedule of 2 clients in 1 round with no fault",
		"lock/fan-out": "; every schedule of 2 clients with no fault",
	} {
		x := pipeline.NewOutcome(&engine.Report{Scenario: catalog.Named(name)}, "")
		x.Every = 0
		if sc, err := x.Scope.Of(x.Scenario); err != nil || sc.Scenario.Rounds > 1 || x.Certain() != want {
			t.Errorf("%s: %d rounds, %q, %v", name, sc.Scenario.Rounds, x.Certain(), err)
		}
	}
}

// TestAScheduleAloneLeavesNothingOfAnEarlierFailure writes one into a folder that has everything.
func TestAScheduleAloneLeavesNothingOfAnEarlierFailure(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"report.json", "index.html", "history.jsonl", "schedule.full.txt", "mine"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s := catalog.Named("lock/lock").NewSchedule(1)
	if err := pipeline.WriteSchedule(dir, &s); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("left are %q, %v", left, err)
	}
}

// mustHold returns a mutant as if it had to hold.
func mustHold(name string) *engine.Scenario {
	s := *catalog.Named(name)
	s.Caught = nil
	return &s
}

// TestASearchThatIsNotDeterministicIsAVerdict has code that is, but with the rounds of the small scope. The clients
// race, so that the code must run more than once.
func TestASearchThatIsNotDeterministicIsAVerdict(t *testing.T) {
	for _, workers := range []int{1, 3} {
		var calls atomic.Int64
		s := &engine.Scenario{Name: "test/fickle", Clients: 2, Rounds: 2, Program: func(p *engine.Process) {
			if p.Rounds > 1 {
				return // a run of a seed, perhaps beside the search
			}
			for range calls.Add(1) % 3 {
				p.Conn.Create("/race", nil, 0, zk.WorldACL(zk.PermAll))
			}
		}}
		x, err := pipeline.Run(t.Context(), s, pipeline.Options{Options: engine.Options{
			Seeds: engine.Range{First: 1, Last: 1}, Strategy: engine.Portfolio, Workers: workers}})
		if err != nil || x.Status != engine.Nondeterministic || !strings.Contains(x.Why, "lead to another state") {
			t.Errorf("%d workers: %v, %q, %v", workers, x.Status, x.Why, err)
		}
	}
}

// TestASearchBesideTheSeedsSaysWhatOneAfterThemSays runs what holds, what only the search finds and what a seed finds
// first, with one worker, which searches after the seeds, and with three.
func TestASearchBesideTheSeedsSaysWhatOneAfterThemSays(t *testing.T) {
	for _, x := range []struct {
		name     string
		s        *engine.Scenario
		last     uint64
		plan     string
		status   engine.Status
		searched bool
		every    int
	}{
		{"held", catalog.Named("lock/lock"), 20, "", engine.Held, false, 0},
		{"searched", mustHold("lock/plain-create"), 1, "lose-reply=1", engine.Violation, true, -1},
		{"by a seed", mustHold("lock/plain-create"), 500, "", engine.Violation, false, -1},
		{"a mutant", catalog.Named("lock/plain-create"), 1, "", engine.Caught, true, -1},
	} {
		var first pipeline.Outcome
		for _, workers := range []int{1, 3} {
			got, err := pipeline.Run(t.Context(), x.s, pipeline.Options{Options: engine.Options{
				Seeds: engine.Range{First: 1, Last: x.last}, Strategy: engine.Portfolio, Workers: workers},
				Faults: x.plan})
			if err != nil || got.Status != x.status || got.Searched != x.searched || got.Every != x.every {
				t.Errorf("%s, %d workers: status %d, searched %v, every %d, %v", x.name, workers, got.Status, got.Searched,
					got.Every, err)
			}
			if workers == 1 {
				first = got
			} else if got.Says() != first.Says() || !slices.Equal(got.Failure.Schedule.Names, first.Failure.Schedule.Names) {
				t.Errorf("%s: %s, and with one worker %s", x.name, got.Says(), first.Says())
			}
		}
	}
}

// TestASearchBesideTheSeedsEndsWithThem has a seed fail, and the context be done.
func TestASearchBesideTheSeedsEndsWithThem(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := pipeline.Options{Options: engine.Options{Seeds: engine.Range{First: 1, Last: 1 << 40},
		Strategy: engine.Portfolio, Workers: 2, Progress: cancel}}
	got, err := pipeline.Run(ctx, catalog.Named("lock/lock"), o)
	if err != nil || !got.Cut || got.Status != engine.Held {
		t.Errorf("cut %v, status %d, %v", got.Cut, got.Status, err)
	}
	before := runtime.NumGoroutine()
	for range 20 {
		o.Seeds.Last, o.Progress = 500, nil
		if _, err := pipeline.Run(t.Context(), mustHold("lock/plain-create"), o); err != nil {
			t.Fatal(err)
		}
	}
	if after := runtime.NumGoroutine(); after > before+5 {
		t.Errorf("%d goroutines, %d before", after, before)
	}
}
