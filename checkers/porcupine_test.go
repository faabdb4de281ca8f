package checkers

import "testing"

// The verdict on a search that is too long depends on its steps alone, so that it is the same on a busy machine.
func TestASearchIsGivenUpAfterANumberOfSteps(t *testing.T) {
	const clients = 7
	ops := make([]timed[int], clients+1)
	for i := range clients {
		ops[i] = timed[int]{i, i, 20 + i, i + 1} // all together
	}
	ops[clients] = timed[int]{clients, 30, 31, 0} // and then one that never fits
	taken := 0
	inAnyOrder := func(s, op int) (bool, int) {
		taken++
		return op > 0, 10*s + op
	}
	if v := withinSteps(ops, 0, inAnyOrder, 1_000_000); v != Violated {
		t.Fatalf("%v after %d steps, expected violated", v, taken)
	}
	all := taken
	for limit, want := range map[int]Level{all: Violated, all - 1: Unknown, all / 2: Unknown, 1: Unknown} {
		taken = 0
		if v := withinSteps(ops, 0, inAnyOrder, limit); v != want || taken != limit {
			t.Errorf("limit %d: %v after %d steps, expected %v", limit, v, taken, want)
		}
	}
	if v := withinSteps(ops[:clients], 0, inAnyOrder, clients); v != OK {
		t.Errorf("%v, expected ok", v)
	}
}
