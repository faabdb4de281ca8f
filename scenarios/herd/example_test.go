package herd_test

import (
	"fmt"
	"testing"

	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/herd"
)

// newMyLock stands for a lock of yours: anything with Lock and Unlock that is written
// against recipes.Conn and recipes.Env.
func newMyLock(p *engine.Process) herd.Locker {
	return recipes.NewLock(p.Conn, p.Env, p.Path("/herd"), recipes.LockOptions{})
}

// newCrowdedLock is one that everybody waits for at the same znode.
func newCrowdedLock(p *engine.Process) herd.Locker {
	return recipes.NewSingleNodeLock(p.Conn, p.Env, p.Path("/herd"), recipes.LockOptions{})
}

// A test of yours is this line.
func TestMyLock(t *testing.T) {
	herd.Check(t, herd.Locks("my/lock", newMyLock), herd.PerEvent(1), herd.Wasted(0), herd.SlopeBelow(0.1))
}

// What it says of a lock that wakes everybody, claim by claim.
func ExampleCheck() {
	for _, claim := range []herd.Claim{herd.PerEvent(1), herd.Wasted(0), herd.SlopeBelow(0.1)} {
		herd.Check(said{}, herd.Locks("my/lock", newCrowdedLock), claim)
	}
	// Output:
	// my/lock: 4 notifications for each client that goes on, with 5 clients; at most 1 may be
	// my/lock: 3 notifications in vain for each client that goes on, with 5 clients; at most 0 may be
	// my/lock: notifications grow as clients to the power of 1.02; it must be less than 0.1
}

// said is a test that prints why it fails. Yours is the *testing.T.
type said struct{}

func (said) Helper()                           {}
func (said) Name() string                      { return "said" }
func (said) Logf(string, ...any)               {}
func (said) Fatalf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
