package engine

import (
	"testing"
	"time"
)

// TestTheGuardDoesNotCountWhatADebuggerTakes: a process that is stopped at a breakpoint for an hour has not kept
// control for an hour.
func TestTheGuardDoesNotCountWhatADebuggerTakes(t *testing.T) {
	g := NewGuard(0)
	now := time.Now()
	g.pass(now, anyway)
	for range 50 { // looks at the pace that it means to keep
		now = now.Add(10 * time.Millisecond)
		g.pass(now, 10*time.Millisecond)
	}
	if g.passed != 500*time.Millisecond {
		t.Errorf("after half a second the guard has seen %v", g.passed)
	}
	now = now.Add(time.Hour)
	g.pass(now, 10*time.Millisecond)
	if g.passed > time.Second {
		t.Errorf("after a breakpoint of an hour the guard has seen %v, which is more than a second", g.passed)
	}
}
