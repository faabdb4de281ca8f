package engine_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

func scheduleFile(name string) string {
	return filepath.Join("..", "catalog", "testdata", "schedules", strings.ReplaceAll(name, "/", ".")+".txt")
}

func committed(t *testing.T, s *engine.Scenario) engine.Schedule {
	t.Helper()
	text, err := os.ReadFile(scheduleFile(s.Name))
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.ParseSchedule(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Where a bug needs a fault, that fault is the step that decides.
func TestTheStepThatDecidesIsTheOneAPersonWouldName(t *testing.T) {
	for mutant, verb := range map[string]string{
		"lock/plain-create":  "lose-reply ",
		"lock/leak-on-error": "lose-request ",
		"lock/keep-held":     "lose-request ",
		"lock/cancel-leak":   "lose-reply ",
		"lock/no-own-check":  "learn-late ",
		"lock/wedged":        "disconnect ",
		"names/delete-again": "lose-reply ",
		"members/forgetful":  "disconnect ",
		"commit/blind-abort": "tick",
	} {
		s := catalog.Named(mutant)
		f, whole, err := engine.Why(context.Background(), s, committed(t, s), 30, 0)
		if err != nil || !s.Catches(whole.Verdict) {
			t.Fatalf("%s: %v, %+v", mutant, err, whole.Verdict)
		}
		if f.Step == 0 || !strings.HasPrefix(f.Name, verb) || f.Name != whole.Schedule.Names[f.Step-1] ||
			f.Chance(f.Step-1) > 0.1 || f.Chance(f.Step) < 0.1 {
			t.Errorf("%s: step %d: %s", mutant, f.Step, &f)
		}
		if f.Chance(whole.Steps) != 1 || f.Cut {
			t.Errorf("%s: at its end the run has failed in %.2f of its futures", mutant, f.Chance(whole.Steps))
		}
	}
}

// A limit ends the search at the same step every time, and is told.
func TestTheSearchForTheStepThatDecidesIsBounded(t *testing.T) {
	s := catalog.Named("lock/wedged")
	p := committed(t, s)
	whole, _, err := engine.Why(context.Background(), s, p, 20, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		f, _, err := engine.Why(context.Background(), s, p, 20, 5000)
		if err != nil || !f.Cut || len(f.Failed) < 2 || len(f.Failed) >= len(whole.Failed) || f.Known(len(f.Failed)) ||
			!f.Known(0) ||
			!slices.Equal(f.Failed, whole.Failed[:len(f.Failed)]) {
			t.Errorf("%+v, %v; in whole %+v", f, err, whole)
		}
	}
}

func TestFuturesAreTheSameEveryTime(t *testing.T) {
	s := catalog.Named("lock/wedged")
	a, _, _ := engine.Why(context.Background(), s, committed(t, s), 20, 0)
	b, _, _ := engine.Why(context.Background(), s, committed(t, s), 20, 0)
	for i := range a.Failed {
		if a.Failed[i] != b.Failed[i] {
			t.Fatalf("after %d steps %d futures fail, and then %d", i, a.Failed[i], b.Failed[i])
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := engine.Why(ctx, s, committed(t, s), 20, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
