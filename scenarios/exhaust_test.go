package scenarios_test

import (
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/faults"
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

// TestASearchOfOneServerCanTakeAPlanForThree has a plan with rules that only three servers allow.
func TestASearchOfOneServerCanTakeAPlanForThree(t *testing.T) {
	t.Chdir(t.TempDir())
	s := scenarios.Scenario{Name: "my/look", Clients: 1, Servers: []int{1, 3},
		Faults:  faults.MustParse("lose-reply=1 elect=1"),
		Program: func(p *scenarios.Process) { p.Conn.Exists("/") }}
	f := &fakeT{}
	f.run(func() { scenarios.Exhaust(f, s, scenarios.SearchBounds{Faults: 1}) })
	if !strings.Contains(f.fatal, "elect=1 could never strike: elect needs three servers") {
		t.Errorf("%s%s", f.fatal, f.logs)
	}
	f = &fakeT{}
	f.run(func() { scenarios.Exhaust(f, s.FaultsOptional(), scenarios.SearchBounds{Faults: 1}) })
	if f.fatal != "" || !strings.Contains(f.logs, "held in every schedule of 1 server") {
		t.Errorf("%s%s", f.fatal, f.logs)
	}
}
