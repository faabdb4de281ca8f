package scenarios

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

func committed(t *testing.T, s *Scenario) Schedule {
	t.Helper()
	text, err := os.ReadFile(scheduleFile(s.Name))
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParseSchedule(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Where a bug needs a fault, that fault is the step that decides.
func TestTheStepThatDecidesIsTheOneAPersonWouldName(t *testing.T) {
	for twin, verb := range map[string]string{
		"lock/plain-create":  "lose-reply ",
		"lock/leak-on-error": "lose-request ",
		"lock/keep-held":     "lose-request ",
		"lock/cancel-leak":   "lose-reply ",
		"lock/watch-only":    "learn-late ",
	} {
		s := scenario(t, twin)
		f, whole, err := Why(context.Background(), s, committed(t, s), 30)
		if err != nil || !s.Catches(whole.Verdict) {
			t.Fatalf("%s: %v, %+v", twin, err, whole.Verdict)
		}
		step, before, after := f.Jump()
		if step == 0 || !strings.HasPrefix(f.Names[step-1], verb) || before > 0.2 || after < 0.9 {
			t.Errorf("%s: step %d of %v, from %.2f to %.2f", twin, step, f.Names, before, after)
		}
		if f.Chance(len(f.Names)) != 1 || len(f.Failed) != len(f.Names)+1 {
			t.Errorf("%s: at its end the run has failed in %.2f of its futures", twin, f.Chance(len(f.Names)))
		}
	}
}

func TestFuturesAreTheSameEveryTime(t *testing.T) {
	s := scenario(t, "lock/wedged")
	a, _, _ := Why(context.Background(), s, committed(t, s), 20)
	b, _, _ := Why(context.Background(), s, committed(t, s), 20)
	for i := range a.Failed {
		if a.Failed[i] != b.Failed[i] {
			t.Fatalf("after %d steps %d futures fail, and then %d", i, a.Failed[i], b.Failed[i])
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Why(ctx, s, committed(t, s), 20); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
