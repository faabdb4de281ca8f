package scenarios_test

import (
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/scenarios"
)

// TestASearchNamesCheckersThatHadNothingToJudge has a program whose one request is all that there is to judge.
func TestASearchNamesCheckersThatHadNothingToJudge(t *testing.T) {
	t.Chdir(t.TempDir())
	s := scenarios.Scenario{Name: "my/look", Clients: 2,
		Program:  func(p *scenarios.Process) { p.Conn.Exists("/") },
		Checkers: []checkers.Checker{checkers.Belief{}, checkers.Liveness{}, checkers.Tree{}}}
	f := &fakeT{}
	f.run(func() { scenarios.Exhaust(f, s, scenarios.SearchBounds{Delays: 1}) })
	const want = "\n    not judged belief (it needs Acquired events; record them with Object.Acquired), " +
		"tree (it needs an ephemeral znode; leave the checker out by Scenario.Without if the recipe makes none)"
	if f.fatal != "" || !strings.Contains(f.logs, want) {
		t.Errorf("%s%s", f.fatal, f.logs)
	}
	f = &fakeT{}
	f.run(func() { scenarios.Exhaust(f, s.Without("belief", "tree"), scenarios.SearchBounds{Delays: 1}) })
	if f.fatal != "" || strings.Contains(f.logs, "not judged") {
		t.Errorf("%s%s", f.fatal, f.logs)
	}
}
