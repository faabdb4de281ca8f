package checkers

import "testing"

// part is an operation that fits a state if it is no 0.
type part struct {
	span
	n int
}

// The verdict on a search that is too long depends on its steps alone, so that it is the same on a busy machine.
func TestASearchIsGivenUpAfterANumberOfSteps(t *testing.T) {
	const clients = 7
	ops := make([]part, clients+1)
	for i := range clients {
		ops[i] = part{span{int32(i), i, 20 + i}, i + 1} // all together
	}
	ops[clients] = part{span{clients, 30, 31}, 0} // and then one that never fits
	taken := 0
	inAnyOrder := func(s int, op part) (bool, int) {
		taken++
		return op.n > 0, 10*s + op.n
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
