package zktest_test

import (
	"flag"
	"strings"
	"testing"

	"zksim/scenarios/catalog"
	"zksim/scenarios/zktest"
)

// unexplained are the scenarios with verdicts on these connections that nobody has explained yet, and what is known.
var unexplained = map[string]string{
	"double-barrier/naive":      "gather: patience ends while a session times out, in which nobody is served",
	"double-barrier/sequential": "the same",
	"double-barrier/crowd":      "the same",
	"members/members":           "presence, at the end of a run that parts",
	"members/names":             "convergence, at the end of a run that parts",
}

// TestScenariosHoldOnRealConnections runs the correct scenarios of the catalogue on go-zookeeper's own client library.
func TestScenariosHoldOnRealConnections(t *testing.T) {
	seeds := flag.Lookup("zksim.seeds")
	if seeds.Value.String() == "" {
		seeds.Value.Set("1-60")
		defer seeds.Value.Set("")
	}
	for _, s := range catalog.All {
		if s.Broken() || unexplained[s.Name] != "" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) { zktest.Check(t, s) })
	}
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

var mutantsFlag = flag.String("mutants", "lock/", "those whose names begin so")

// asleep are mutants that nothing wakes here, and why.
var asleep = map[string]string{
	"lock/closed-spin":     "it spins when its connection is closed, which no virtual time ends",
	"lock/string-sequence": "it needs sequence, which happens before a run of simulated code only",
	"lock/cancel-leak":     "it needs cancel, which happens to simulated code only",
	"lock/synced-retry":    "it needs an election at one moment, more seeds than a test has",
	"lock/few-tries":       "it needs an election at one moment, more seeds than a test has",
}
