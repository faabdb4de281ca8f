package herd_test

import (
	"fmt"
	"testing"

	"zksim/recipes"
	"zksim/scenarios"
	"zksim/scenarios/herd"
)

// newMyLock stands for a lock of yours: anything with Lock and Unlock that is written
// against recipes.Conn and recipes.Env.
func newMyLock(p *scenarios.Process) *recipes.Lock {
	return recipes.NewLock(p.Conn, p.Env, p.Path(herd.Dir), recipes.LockOptions{})
}

// newCrowdedLock is one that everybody waits for at the same znode.
func newCrowdedLock(p *scenarios.Process) *recipes.SingleNodeLock {
	return recipes.NewSingleNodeLock(p.Conn, p.Env, p.Path(herd.Dir), recipes.LockOptions{})
}

// A test of yours is this line.
func TestMyLock(t *testing.T) {
	scenarios.Herd(t, herd.Locks("my/lock", newMyLock), herd.PerEvent(1), herd.Wasted(0), herd.SlopeBelow(0.1))
}

// What it says of a lock that wakes everybody, claim by claim.
func ExampleTry() {
	v := herd.Locks("my/lock", newCrowdedLock)
	for _, claim := range []herd.Claim{herd.PerEvent(1), herd.Wasted(0), herd.SlopeBelow(0.1)} {
		_, broken, err := herd.Try(&v, claim)
		fmt.Println(broken, err)
	}
	// Output:
	// 4 notifications for each client that goes on, with 5 clients; at most 1 may be <nil>
	// 3 notifications in vain for each client that goes on, with 5 clients; at most 0 may be <nil>
	// notifications grow as clients to the power of 1.02; it must be less than 0.1 <nil>
}
