package catalog

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"zksim/scenarios/engine"
)

// trace is all that a run shows.
func trace(r *engine.Runner, s *engine.Scenario, seed uint64) string {
	res := r.Seed(s, seed)
	r.Names(&res)
	res.Schedule.Checker = res.Verdict.Checker
	var b strings.Builder
	res.Schedule.Write(&b)
	fmt.Fprintf(&b, "%x %d %+v %x\n", res.Hash, res.Steps, res.Verdict, r.Hashes()[len(r.Hashes())/2])
	for _, e := range res.History.Events {
		fmt.Fprintln(&b, e.Step, e)
	}
	return b.String()
}

const traced = 5

// sample is all scenarios, and with -short, as the race detector needs, every sixteenth.
func sample() (some []*engine.Scenario) {
	for i := range All {
		if !testing.Short() || i%16 == 0 {
			some = append(some, &All[i])
		}
	}
	return some
}

// traces is what all scenarios show with some seeds, by one runner.
func traces() []string {
	r := engine.NewRunner()
	defer r.Close()
	var all []string
	for _, s := range sample() {
		for seed := uint64(1); seed <= traced; seed++ {
			all = append(all, trace(r, s, seed))
		}
	}
	return all
}

func sameTraces(t *testing.T, how string, got, want []string) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: %s, seed %d: another run:\n%s\nwant\n%s", how, sample()[i/traced].Name, i%traced+1, got[i], want[i])
		}
	}
}

func TestASeedIsTheSameRunEverywhere(t *testing.T) {
	want := traces()
	for _, procs := range []int{1, 2, 4} {
		old := runtime.GOMAXPROCS(procs)
		sameTraces(t, fmt.Sprintf("GOMAXPROCS %d", procs), traces(), want)
		results := make([][]string, 3)
		var wg sync.WaitGroup
		for i := range results {
			wg.Go(func() { results[i] = traces() })
		}
		wg.Wait()
		for _, got := range results {
			sameTraces(t, fmt.Sprintf("GOMAXPROCS %d, among others", procs), got, want)
		}
		runtime.GOMAXPROCS(old)
	}
}

func TestAUsedRunnerIsAsGoodAsANewOne(t *testing.T) {
	used := engine.NewRunner()
	defer used.Close()
	// Backwards and across scenarios, so that each run follows another one than
	// in a fresh runner, with other clients and servers.
	for seed := uint64(traced); seed > 0; seed-- {
		for _, s := range slices.Backward(sample()) {
			r := engine.NewRunner()
			want := trace(r, s, seed)
			r.Close()
			if got := trace(used, s, seed); got != want {
				t.Fatalf("%s, seed %d: another run in a used runner:\n%s\nwant\n%s", s.Name, seed, got, want)
			}
		}
	}
}

func TestEverySeedReplaysFromItsScheduleAlone(t *testing.T) {
	r, fresh := engine.NewRunner(), engine.NewRunner()
	defer r.Close()
	defer fresh.Close()
	for _, s := range sample() {
		for seed := uint64(1); seed <= traced; seed++ {
			res := r.Seed(s, seed)
			r.Names(&res)
			var b strings.Builder
			res.Schedule.Write(&b)
			p, err := engine.ParseSchedule(strings.NewReader(b.String()))
			if err != nil {
				t.Fatal(err)
			}
			again, err := fresh.Replay(s, p)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if again.Hash != res.Hash || again.Verdict != res.Verdict ||
				!slices.Equal(again.Schedule.Names, res.Schedule.Names) {
				t.Fatalf("%s, seed %d: replay %x %+v, want %x %+v", s.Name, seed, again.Hash, again.Verdict, res.Hash,
					res.Verdict)
			}
		}
	}
}

func TestTheReportDoesNotDependOnTheNumberOfWorkers(t *testing.T) {
	for _, s := range sample() {
		var want engine.Report
		for _, workers := range []int{1, 8} {
			rep, err := engine.Run(context.Background(), s,
				engine.Options{Seeds: engine.Range{First: 1, Last: 20}, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if workers == 1 {
				want = rep
			} else if !reflect.DeepEqual(rep, want) {
				t.Errorf("%s with %d workers: %+v, want %+v", s.Name, workers, rep, want)
			}
		}
	}
}

func TestAProgramThatIsNotDeterministicIsFoundOut(t *testing.T) {
	calls := 0 // shared by the runs, which a program must not do
	s := engine.Scenario{Name: "test/coin", Clients: 2, Program: func(p *engine.Process) {
		calls++
		for range calls {
			p.Step()
		}
	}}
	rep, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: 10}, Workers: 1})
	if err != nil || rep.Status != engine.Nondeterministic ||
		!strings.HasPrefix(rep.Why, "seed 1: two runs part at step ") {
		t.Errorf("%+v, %v", rep, err)
	}
}
