package zktest_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model/history"
	"zksim/scenarios"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
	"zksim/scenarios/zktest"
)

// TestScenariosHoldOnRealConnections runs the correct scenarios of the catalogue on go-zookeeper's own client library.
func TestScenariosHoldOnRealConnections(t *testing.T) {
	seeds := flag.Lookup("zksim.seeds")
	if seeds.Value.String() == "" {
		seeds.Value.Set("1-60")
		defer seeds.Value.Set("")
	}
	for _, s := range catalog.All {
		if s.Broken() || strings.HasSuffix(s.Name, "/restarts") { // where each life has a connection, a client here
			continue
		}
		t.Run(s.Name, func(t *testing.T) { zktest.Check(t, s) })
	}
}

// TestEveryFaultThatIsNotLeftOutStrikesARealConnection has a scenario with all faults that there are.
func TestEveryFaultThatIsNotLeftOutStrikesARealConnection(t *testing.T) {
	s := *catalog.Named("lock/lock")
	plan := slices.Clone(s.Faults)
	for _, f := range faults.Table {
		if !slices.ContainsFunc(plan, func(r faults.Rule) bool { return r.Fault == f.Name }) {
			plan = append(plan, faults.Rule{Fault: f.Name, Budget: 2})
		}
	}
	zktest.Judged(t, s.WithPlan(plan), func(_ scenarios.T, s scenarios.Scenario) {
		rep, err := engine.Run(t.Context(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: 200}})
		if err != nil || rep.Status != engine.Held {
			t.Fatal(rep.Status, rep.Why, err)
		}
		for _, x := range rep.Rules {
			if x.Hit == 0 {
				t.Errorf("%s has struck in none of %d runs that had it in their plans", x.Fault, x.On)
			}
		}
	})
}

// TestCodeThatWaitsForeverHasNotGivenUp has a program that waits for what never comes. When the run is over, its
// connection is closed, and it fails. That is no longer part of the run.
func TestCodeThatWaitsForeverHasNotGivenUp(t *testing.T) {
	s := scenarios.Scenario{Name: "test/waits", Clients: 1, Checkers: []checkers.Checker{checkers.Liveness{}},
		Program: func(p *scenarios.Process) {
			_, _, made, err := p.Conn.ExistsW(p.Path("/never"))
			if err == nil {
				p.Env.Await(context.Background(), made)
				_, _, err = p.Conn.Get(p.Path("/never"))
			}
			p.Fail(err)
		}}
	zktest.Judged(t, s, func(_ scenarios.T, s scenarios.Scenario) {
		rep, err := engine.Run(t.Context(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: 3}})
		if err != nil || rep.Status != engine.Held {
			t.Fatal(rep.Status, rep.Why, err)
		}
	})
}

// deafQueue is a queue whose items nobody gets.
type deafQueue struct{ p *scenarios.Process }

func (q deafQueue) Put(_ context.Context, data []byte) error {
	_, err := q.p.Conn.Create(q.p.Path("/items/n-"), data, zk.FlagSequence, zk.WorldACL(zk.PermAll))
	return err
}

func (q deafQueue) Take(context.Context) ([]byte, error) {
	_, _, err := q.p.Env.Await(context.Background())
	return nil, err
}

// TestAPresetEndsWithItsConnections has consumers that nothing wakes, not even the end of the run, which closes their
// connections. What the preset does beside them ends all the same.
func TestAPresetEndsWithItsConnections(t *testing.T) {
	s := scenarios.Queue("test/deaf", func(p *scenarios.Process) deafQueue { return deafQueue{p} })
	s.Setup = append(s.Setup, scenarios.Mkdir("/items"))
	s.Caught = []string{"quiescence"}
	zktest.Check(t, s)
}

// TestGoalsThatMayNeedAFaultThatIsLeftOutAreOnlyNoted checks a scenario with a goal that is never reached, and that
// may need a fault of its plan.
func TestGoalsThatMayNeedAFaultThatIsLeftOutAreOnlyNoted(t *testing.T) {
	s := scenarios.Scenario{Name: "test/miracle", Clients: 1, Faults: faults.Plan{{Fault: "crash", Budget: 1}},
		Program: func(p *scenarios.Process) { p.Conn.Exists(p.Path("/a")) },
		Goals:   []scenarios.Goal{{Name: "a miracle", Reached: func(*history.History) bool { return false }}}}
	zktest.Judged(t, s, func(t scenarios.T, s scenarios.Scenario) {
		if len(s.Goals) != 1 || len(s.Faults) != 0 {
			t.Fatalf("judged with %d goals and faults %v, expected the goal and no fault", len(s.Goals), s.Faults)
		}
		scenarios.Check(t, s)
	})
}

// TestMutantsAreCaughtOnRealConnections has the mutants of one recipe caught there, those that a fault of a connection
// or an order of messages wakes.
func TestMutantsAreCaughtOnRealConnections(t *testing.T) {
	for _, s := range catalog.All {
		if !s.Broken() || !strings.HasPrefix(s.Name, *mutantsFlag) || asleep[s.Name] != "" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) { zktest.Check(t, s) })
	}
}

// TestWhatALibraryDrawsComesFromTheSeed has processes look for the same mutant. What they draw from math/rand is seeded
// on every toolchain, what they draw from math/rand/v2 only with the overlay: then each would find another seed.
func TestWhatALibraryDrawsComesFromTheSeed(t *testing.T) {
	s := *catalog.Named("lock/no-token")
	found := map[string]int{}
	most := 0
	for range 6 {
		judge := func(_ scenarios.T, s scenarios.Scenario) {
			rep, err := hunt(t.Context(), &s)
			if err != nil {
				t.Fatal(err)
			}
			found[seeds(&rep)]++
			most = max(most, found[seeds(&rep)])
		}
		zktest.Judged(t, s, judge)
	}
	if most < 5 { // a busy machine may change a turn
		t.Errorf("first seeds, and how often: %v", found)
	}
}

var mutantsFlag = flag.String("mutants", "lock/", "those whose names begin so")

// asleep are mutants that nothing wakes here, and why.
var asleep = map[string]string{
	"lock/closed-spin":            "it spins when its connection is closed, which is told in some seconds",
	"master/watch-alone":          "it spins when its connection is closed, which is told in some seconds",
	"lock/synced-retry":           "it needs an election at one moment, more seeds than a test has",
	"double-barrier/synced-retry": "it needs an election at one moment, more seeds than a test has",
	"lock/few-tries":              "it needs an election at one moment, more seeds than a test has",
	"barrier/held-again-wait":     "code would have to be slow between two reads, and goes on at once here",
	"commit/own-decision":         "10 s of patience would have to end while a vote is on its way, for 1 s here",
	"commit/blind-abort":          "10 s of patience would have to end while a vote is on its way, for 1 s here",
	"election/blind-ack":          "code would have to pause before the acknowledgement, and goes on at once here",
	"election/old-mark":           "it needs lost-early, which go-zookeeper does not do",
	"names/no-ticket":             "it needs lost-early, which go-zookeeper does not do",
	"members/configured-timeout":  "it needs lost-early, which go-zookeeper does not do",
	"members/no-interval":         "it needs lost-early, which go-zookeeper does not do",
	"members/not-ours":            "it needs a deposed leader that takes a session of a simulated client for expired",
	"members/few-joins":           "it needs a deposed leader that takes a session of a simulated client for expired",
	"semaphore/nearest-lease":     "nobody tells here when nothing but time can pass",
}

// TestASeedChooses: over the runs of a check, a program gets each number.
func TestASeedChooses(t *testing.T) {
	zktest.Check(t, scenarios.Scenario{Name: "test/chooses", Doc: "clients choose", Clients: 2,
		Program: func(p *scenarios.Process) {
			n := p.Choose(3)
			_, err := p.Conn.Create(p.Path(fmt.Sprint("/", p.ID, n)), nil, 0, open)
			for want := range 3 {
				p.Sometimes(fmt.Sprint(want), n == want && err == nil)
			}
		}})
}
