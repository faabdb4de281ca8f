package zklock_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"example.com/zklock"
	"zksim/checkers"
	"zksim/faults"
	"zksim/scenarios"
)

var acl = zk.WorldACL(zk.PermAll)

// published returns the scenario of the published lock, with a plan of faults.
func published(name, plan string) scenarios.Scenario {
	s := scenarios.Lock("zklock/"+name, func(p *scenarios.Process) *zklock.Lock {
		return zklock.New(p.Conn, p.Env, p.Path("/locks/job"), acl)
	})
	s.Setup = append(s.Setup, scenarios.Mkdir("/locks"), scenarios.Mkdir("/locks/job"))
	s.Faults, s.Goals = faults.MustParse(plan), nil
	return s
}

func mended() scenarios.Scenario {
	return scenarios.Lock("zklock/mended", func(p *scenarios.Process) *zklock.Mended {
		return zklock.NewMended(p.Conn, p.Env, p.Path("/locks/job"), acl)
	})
}

func TestThePublishedLockHoldsWithoutFaults(t *testing.T) {
	scenarios.Check(t, published("published", "none"))
}

func TestTheMendedLockHolds(t *testing.T) { scenarios.Check(t, mended()) }

// bugs lists the bugs of the published lock, with the faults that expose each and what is found.
var bugs = []struct {
	name, plan, checker, finds string
	bounds                     scenarios.Bounds
}{
	// The listing after the create fails with the connection, and Lock returns. Nobody knows the znode any more, and
	// everyone waits behind it, even the next Lock of the same client.
	{"leak", "disconnect=1", "quiescence", "which no recipe object knows of", scenarios.Bounds{}},
	// The session ends between the event of the watch and the next listing, and the client's znode ends with it. In the
	// new session, no number in the list is lower than the client's.
	{"two-holders", "learn-late=1", "belief", "believes that it holds the lock while",
		scenarios.Bounds{Clients: 3, SlowWakes: true}},
	// The session ends while the lock is held. Unlock finds no znode and fails, and the lock still counts as held. The
	// object can neither lock nor unlock any more.
	{"wedged", "learn-late=1", "liveness", "gave up: zk: node does not exist", scenarios.Bounds{}},
	// A caller that stops waiting leaves the znode in the queue.
	{"cancel", "cancel=1", "tree", "stays behind", scenarios.Bounds{}},
}

// TestThePublishedLockIsCaught explores all schedules of two or three clients that lock once each. So it finds each bug
// for certain, even the one that is so rare that thousands of seeds miss it.
func TestThePublishedLockIsCaught(t *testing.T) {
	for _, bug := range bugs {
		s := published(bug.name, bug.plan)
		s.Caught = []string{bug.checker}
		t.Run(bug.name, func(t *testing.T) { scenarios.Prove(t, s, bug.bounds) })
	}
}

// TestEachMinimalScheduleFails replays the schedules in testdata/zksim. Each is the shortest that exposes its bug.
func TestEachMinimalScheduleFails(t *testing.T) {
	for _, bug := range bugs {
		t.Run(bug.name, func(t *testing.T) {
			s := published(bug.name, bug.plan)
			s.Checkers = slices.DeleteFunc(slices.Clone(s.Checkers),
				func(c checkers.Checker) bool { return c.Name() != bug.checker })
			if said := minimal(t, s); !strings.Contains(said, bug.finds) {
				t.Errorf("the committed schedule says:\n%s\nwant %q", said, bug.finds)
			}
		})
	}
}

// minimal replays the only schedule of a scenario in testdata/zksim, and returns the message of the verdict.
func minimal(t *testing.T, s scenarios.Scenario) string {
	files, err := filepath.Glob(filepath.Join(scenarios.Corpus, strings.ReplaceAll(s.Name, "/", "."), "*.txt"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	v, err := scenarios.Replay(s, files[0])
	if err != nil {
		t.Fatal(err)
	}
	return v.Message
}
