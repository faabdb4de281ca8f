package catalog

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/scenarios/engine"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/schedules anew, from the lowest seeds that catch")

func scheduleFile(name string) string {
	return filepath.Join("testdata", "schedules", strings.ReplaceAll(name, "/", ".")+".txt")
}

// rewriteSchedule finds the lowest seed that catches a mutant and writes its
// schedule, shortened.
func rewriteSchedule(t *testing.T, r *engine.Runner, s *engine.Scenario) {
	t.Helper()
	for seed := uint64(1); seed <= 20_000; seed++ {
		res := r.Seed(s, seed)
		if !s.Catches(res.Verdict) {
			continue
		}
		r.Names(&res)
		small, err := r.Shrink(t.Context(), s, res.Schedule, engine.ShrinkOptions{})
		if err != nil {
			t.Fatal(err)
		}
		res = small.Result
		var b bytes.Buffer
		res.Schedule.Write(&b)
		fmt.Fprintf(&b, "\n# %s\n# hash %016x after %d steps\n", res.Verdict.Message, res.Hash, res.Steps)
		if err := os.WriteFile(scheduleFile(s.Name), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is not caught", s.Name)
}

func TestACommittedScheduleCatchesEveryMutant(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	for i := range All {
		s := &All[i]
		if !s.Broken() {
			continue
		}
		if *rewrite {
			rewriteSchedule(t, r, s)
		}
		text, err := os.ReadFile(scheduleFile(s.Name))
		if err != nil {
			t.Error(err)
			continue
		}
		p, err := engine.ParseSchedule(bytes.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		res, err := r.Replay(s, p)
		if err != nil {
			t.Error(err)
			continue
		}
		if res.Verdict.Checker != p.Checker || !s.Catches(res.Verdict) {
			t.Errorf("%s: %+v, want %s, one of %v", s.Name, res.Verdict, p.Checker, s.Caught)
		}
		want := fmt.Sprintf("\n# %s\n# hash %016x after %d steps\n", res.Verdict.Message, res.Hash, res.Steps)
		if !strings.HasSuffix(string(text), want) {
			t.Errorf("%s ends otherwise than the run, want%s(-rewrite if the simulator was meant to change)",
				scheduleFile(s.Name), want)
		}
	}
}

func TestCommittedSchedulesAreThoseOfTheMutants(t *testing.T) {
	files, err := filepath.Glob(scheduleFile("*"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	mutants := 0
	for _, s := range All {
		if s.Broken() {
			known[scheduleFile(s.Name)] = true
			mutants++
		}
	}
	if mutants < 17 {
		t.Errorf("%d mutants, want rows 1 to 14 of the museum and three more", mutants)
	}
	for _, file := range files {
		if !known[file] {
			t.Errorf("%s is of no mutant", file)
		}
	}
}

// These are runs of correct recipes that were once judged violated, because of
// mistakes in the recipe, the simulator or a checker.
func TestSchedulesOfPastFalseAlarmsHold(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "schedules", "held", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	r := engine.NewRunner()
	defer r.Close()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := engine.ParseSchedule(bytes.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if res, err := r.Replay(Named(p.Scenario), p); err != nil || res.Verdict.Level != checkers.OK {
			t.Errorf("%s: %v, %+v", file, err, res.Verdict)
		}
	}
}
