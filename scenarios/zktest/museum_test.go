package zktest_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"zksim/faults"
	"zksim/scenarios"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
	"zksim/scenarios/serve"
	"zksim/scenarios/zktest"
)

var (
	museumFlag = flag.String("museum", "", "file for the table of all mutants in docs/unmodified.md")
	huntFlag   = flag.Uint64("hunt", 1000, "seeds for each mutant of that table")
)

// longest is for how long a mutant is hunted: some take hundreds of steps for each request.
const longest = 40 * time.Second

// hunt runs seeds of a mutant until one is caught.
func hunt(ctx context.Context, s *scenarios.Scenario) (engine.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	return engine.Run(ctx, s, engine.Options{Seeds: engine.Range{First: 1, Last: *huntFlag}, Strategy: engine.Portfolio})
}

// seeds says how many it took.
func seeds(rep *engine.Report) string {
	if rep.Status != engine.Caught {
		return "-"
	}
	return fmt.Sprint(rep.Failure.Schedule.Seed)
}

// TestMuseumOnRealConnections prints the table, with -museum FILE: in how many seeds each mutant is caught by the
// simulated library and by the real one.
func TestMuseumOnRealConnections(t *testing.T) {
	if *museumFlag == "" {
		t.Skip("without -museum")
	}
	f, err := os.OpenFile(*museumFlag, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	there, err := os.ReadFile(*museumFlag) // rows of an earlier run stay
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range catalog.All {
		if !s.Broken() || !strings.HasPrefix(s.Name, *mutantsFlag) || strings.Contains(string(there), "`"+s.Name+"`") {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			var there engine.Report
			var err error
			judge := func(_ scenarios.T, s scenarios.Scenario) {
				there, err = hunt(t.Context(), &s)
			}
			zktest.Judged(t, s, judge)
			says := why(&s, &there, err)
			here, err := hunt(t.Context(), &s)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(f, "| `%s` | %s | %s | %s |\n", s.Name, seeds(&here), seeds(&there), says)
		})
	}
}

// why says by what a mutant is caught, or why not.
func why(s *scenarios.Scenario, rep *engine.Report, err error) string {
	if rep.Status == engine.Caught {
		return rep.Failure.Verdict.Checker
	}
	var lacks []string
	for _, r := range s.Faults {
		if serve.Servable(faults.Plan{r}) != nil {
			lacks = append(lacks, "`"+r.Fault+"`")
		}
	}
	switch reason := asleep[s.Name]; {
	case err != nil && strings.Contains(err.Error(), "come to rest"):
		return "it spins: a finding in some seconds, but not that of its checker"
	case err != nil:
		return err.Error()
	case reason != "":
		return reason
	case len(lacks) > 0:
		return "its plan has " + strings.Join(lacks, ", ") + ", which happens to simulated code only"
	}
	return fmt.Sprintf("not in %d seeds", rep.Runs)
}

// TestTheTableHasEveryMutant has the page say of each mutant what becomes of it here, and of how many are caught.
func TestTheTableHasEveryMutant(t *testing.T) {
	page, err := os.ReadFile("../../docs/unmodified.md")
	if err != nil {
		t.Fatal(err)
	}
	mutants, caught := 0, 0
	for _, s := range catalog.All {
		if !s.Broken() {
			continue
		}
		mutants++
		_, row, ok := strings.Cut(string(page), "\n| `"+s.Name+"` |")
		if !ok {
			t.Errorf("%s has no row", s.Name)
			continue
		}
		if columns := strings.Split(row, "|"); strings.TrimSpace(columns[1]) != "-" {
			caught++
		}
	}
	if says := fmt.Sprintf("%d of the %d are caught", caught, mutants); !strings.Contains(string(page), says) {
		t.Errorf("the page does not say that %s", says)
	}
}
