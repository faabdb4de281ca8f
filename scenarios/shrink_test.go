package scenarios

import (
	"context"
	"slices"
	"strings"
	"testing"

	"zksim/checkers"
)

// TestEveryTwinShrinksToAMinimalSchedule shrinks the first catch of each twin: the
// same checker still finds it, and without any single name it does not, or the
// rest does not fit.
func TestEveryTwinShrinksToAMinimalSchedule(t *testing.T) {
	var lengths []int
	for i := range All {
		s := &All[i]
		if !s.Broken() {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			small := shrunk(t, s)
			names := small.Schedule.Names
			lengths = append(lengths, len(names))
			t.Logf("%s in %d steps: %s", small.Verdict.Checker, len(names), strings.Join(names, ", "))
			r := NewRunner()
			defer r.Close()
			for k := range names {
				p := small.Schedule
				p.Names = slices.Delete(slices.Clone(names), k, k+1)
				if res, err := r.Replay(s, p); err == nil && res.Verdict.Level == checkers.Violated && res.Verdict.Checker == small.Verdict.Checker {
					t.Errorf("%q, the %d. of %d, can be left out", names[k], k+1, len(names))
				}
			}
		})
	}
	slices.Sort(lengths)
	if median := lengths[len(lengths)/2]; median > 25 {
		t.Errorf("the median of the lengths is %d", median)
	}
}

// shrunk returns the shrunk first catch of a twin.
func shrunk(t *testing.T, s *Scenario) Result {
	t.Helper()
	rep, err := Run(context.Background(), s, Options{Seeds: Range{1, 2000}})
	if err != nil || rep.Status != Caught {
		t.Fatal(rep.Status, err)
	}
	r := NewRunner()
	defer r.Close()
	small, err := r.Shrink(s, rep.Failure.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	if small.Verdict.Checker != rep.Failure.Verdict.Checker {
		t.Errorf("now %s, was %s", small.Verdict.Checker, rep.Failure.Verdict.Checker)
	}
	return small
}
