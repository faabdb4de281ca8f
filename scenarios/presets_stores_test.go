package scenarios_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/internal/mutants"
	"zksim/recipes"
	"zksim/scenarios"
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
