package scenarios_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/recipes"
	"zksim/scenarios"
	"zksim/scenarios/workload"
)

// TestACounterThatIsWrongIsCaught: the preset calls what the counter has.
func TestACounterThatIsWrongIsCaught(t *testing.T) {
	for flaw, caught := range map[mutants.Flaw]string{
		mutants.DoubleCount: "counter", mutants.StaleGet: "counter", mutants.LastingReceipt: "leftover",
	} {
		s := scenarios.Counter("mine/mutant", func(p *scenarios.Process) *mutants.Counter {
			return mutants.NewCounter(p.Conn, p.Env, p.Path("/mine"), flaw)
		})
		s.Setup = append(s.Setup, scenarios.Mkdir("/mine"))
		s.Checkers = append(slices.Clone(s.Checkers), checkers.Leftover{})
		s.Caught = []string{caught}
		t.Run(fmt.Sprint(flaw), func(t *testing.T) { scenarios.Check(t, s) })
	}
}

// plainCounter leaves to its caller what to do when another change was faster, or the connection was lost.
type plainCounter struct {
	conn recipes.Conn
	path string
	lies bool // a lost change is one that was slower
}

func (c plainCounter) Add(_ context.Context, delta int64) (int64, error) {
	data, stat, err := c.conn.Get(c.path)
	if err != nil {
		return 0, err
	}
	n, _ := strconv.ParseInt(string(data), 10, 64)
	_, err = c.conn.Set(c.path, strconv.AppendInt(nil, n+delta, 10), stat.Version)
	if c.lies && err == zk.ErrConnectionClosed {
		err = zk.ErrBadVersion
	}
	return n + delta, err
}

// TestACounterThatOnlyAddsIsJudged: the callers of the preset try again where they may.
func TestACounterThatOnlyAddsIsJudged(t *testing.T) {
	for _, lies := range []bool{false, true} {
		s := scenarios.Counter("mine/plain", func(p *scenarios.Process) plainCounter {
			return plainCounter{p.Conn, p.Path("/mine"), lies}
		})
		s.Setup = append(s.Setup, scenarios.Mkdir("/mine"))
		if lies {
			s.Caught = []string{"counter"}
		}
		t.Run(fmt.Sprint(lies), func(t *testing.T) { scenarios.Check(t, s) })
	}
}

// TestAPriorityQueueOutOfOrderIsCaught: the preset puts items of several priorities.
func TestAPriorityQueueOutOfOrderIsCaught(t *testing.T) {
	for _, flaw := range []mutants.Flaw{mutants.StaleList, mutants.Unpadded} {
		s := scenarios.PriorityQueue("mine/mutant", func(p *scenarios.Process) *mutants.Queue {
			return mutants.NewQueue(p.Conn, p.Env, p.Path("/mine"), flaw)
		})
		for _, dir := range []string{"/mine", "/mine/items", "/mine/claims"} {
			s.Setup = append(s.Setup, scenarios.Mkdir(dir))
		}
		s.Caught = []string{"priority-order"}
		t.Run(fmt.Sprint(flaw), func(t *testing.T) { scenarios.Check(t, s) })
	}
}

// envelopes is a queue whose znodes have more than the data of Put.
type envelopes struct{ *recipes.Queue }

func (q envelopes) Put(ctx context.Context, data []byte) error {
	return q.Queue.Put(ctx, append([]byte("v1:"), data...))
}

func (q envelopes) Take(ctx context.Context) ([]byte, error) {
	data, err := q.Queue.Take(ctx)
	return bytes.TrimPrefix(data, []byte("v1:")), err
}

func (q envelopes) TryTake(ctx context.Context) ([]byte, error) {
	data, err := q.Queue.TryTake(ctx)
	return bytes.TrimPrefix(data, []byte("v1:")), err
}

// TestAQueueOfEnvelopesIsJudgedWithoutItsTree: docs/adopt.md says what to leave out.
func TestAQueueOfEnvelopesIsJudgedWithoutItsTree(t *testing.T) {
	s := scenarios.Queue("mine/envelopes", func(p *scenarios.Process) envelopes {
		return envelopes{recipes.NewQueue(p.Conn, p.Env, p.Path("/mine"), recipes.QueueOptions{})}
	})
	t.Run("held", func(t *testing.T) { scenarios.Check(t, s.Without("lost-item")) })
	s.Caught = []string{"lost-item"}
	t.Run("caught", func(t *testing.T) { scenarios.Check(t, s) })
}

// lagging is the test of watchers in docs/adopt.md.
func lagging[W workload.Watcher](newWatcher func(p *scenarios.Process, path string) W) scenarios.Scenario {
	s := scenarios.Watcher("my/lagging", newWatcher)
	s.Clients, s.Servers, s.SafetySteps = 6, []int{3}, 700
	s.Faults = faults.MustParse("learn-late=20@client=c1 failover=20@client=c1")
	return s
}

// TestAWatcherTellsNothingOlderInANewSession runs the test of watchers in docs/adopt.md. It sees what the preset seldom
// does: a new session that begins at a server that lags.
func TestAWatcherTellsNothingOlderInANewSession(t *testing.T) {
	t.Run("held", func(t *testing.T) {
		scenarios.Check(t, lagging(func(p *scenarios.Process, path string) watcher {
			return watcher{recipes.NewDataWatch(p.Conn, p.Env, path, recipes.WatchOptions{})}
		}))
	})
	t.Run("caught", func(t *testing.T) {
		s := lagging(func(p *scenarios.Process, path string) *mutants.DataWatch {
			return mutants.NewDataWatch(p.Conn, p.Env, path, mutants.NoSync, nil)
		})
		s.Caught = []string{"monotone"}
		scenarios.Check(t, s)
	})
	t.Run("documented", func(t *testing.T) {
		documented(t, "presets_stores_test.go", "\ts.Clients, s.Servers, s.SafetySteps", "failover=20@client=c1\")\n")
	})
}

// silent is a watcher that ends without an error when its context is done.
type silent struct{ watcher }

func (w silent) Run(ctx context.Context, told func(data []byte, stat *zk.Stat)) error {
	if err := w.watcher.Run(ctx, told); ctx.Err() == nil {
		return err
	}
	return nil
}

// TestAWatcherThatEndsWithoutAnErrorIsToldWhatIsExpected, because the preset cannot know why it has ended.
func TestAWatcherThatEndsWithoutAnErrorIsToldWhatIsExpected(t *testing.T) {
	s := scenarios.Watcher("my/silent", func(p *scenarios.Process, path string) silent {
		return silent{watcher{recipes.NewDataWatch(p.Conn, p.Env, path, recipes.WatchOptions{})}}
	})
	const want = " gave up: the watcher has ended without an error, expected that of its context, when it is done\n"
	if f := check(t, s, "1-5", ""); !strings.Contains(f.fatal, want) {
		t.Error(f.fatal)
	}
}
