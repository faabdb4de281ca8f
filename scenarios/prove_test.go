package scenarios_test

import (
	"strings"
	"testing"

	"zksim/faults"
	"zksim/model/history"
	"zksim/scenarios"
	"zksim/scenarios/catalog"
)

// prove runs Prove in a folder of its own, with a limit of time if there is one.
func prove(t *testing.T, limit string, s scenarios.Scenario, bounds ...scenarios.Bounds) (f *fakeT) {
	t.Helper()
	t.Chdir(t.TempDir())
	f = &fakeT{}
	*scenarios.ForFlag, *scenarios.OutFlag = limit, "out"
	defer func() { *scenarios.ForFlag, *scenarios.OutFlag = "", "" }()
	f.run(func() { scenarios.Prove(f, s, bounds...) })
	return f
}

func TestProvePassesWhatHolds(t *testing.T) {
	f := prove(t, "", *catalog.Named("lock/lock"), scenarios.Bounds{Most: -1}, scenarios.Bounds{Faults: "lose-reply=1"})
	if f.fatal != "" || strings.Count(f.logs, "holds: lock/lock with 2 clients, rounds 1, servers 1, faults ") != 2 {
		t.Errorf("%+v", f)
	}
	if f := prove(t, "", *catalog.Named("lock/name-sort")); f.fatal != "" || !strings.HasPrefix(f.logs, "violated: ") {
		t.Errorf("%+v", f)
	}
}

// TestProveOfAPlanWithoutLossesAsksForOne: with no fault at all, what only the faults of the plan show would be proved.
func TestProveOfAPlanWithoutLossesAsksForOne(t *testing.T) {
	s := *catalog.Named("lock/lock")
	s.Faults = faults.MustParse("lose-reply=1@op=create")
	for _, b := range []scenarios.Bounds{{}, {Most: 1}} {
		want := `lock/lock: none of the faults of "lose-reply=1@op=create" is in "disconnect=2 expire=1"`
		if f := prove(t, "", s, b); !strings.HasPrefix(f.fatal, want) {
			t.Errorf("got %q, want %s", f.fatal, want)
		}
	}
	for _, b := range []scenarios.Bounds{{Most: -1}, {Faults: "none"}, {Faults: "lose-reply=1"}} {
		if f := prove(t, "", s, b); f.fatal != "" {
			t.Errorf("%+v: %s", b, f.fatal)
		}
	}
	s.Faults = nil
	if f := prove(t, "", s); f.fatal != "" {
		t.Error(f.fatal)
	}
}

// TestProveSaysWhatIsNotInIt: what holds within the bounds may be wrong where code is slow, as a check lets it be, and
// a fault of the plan may never have been possible.
func TestProveSaysWhatIsNotInIt(t *testing.T) {
	s := *catalog.Named("lock/lock")
	s.Faults = faults.MustParse("disconnect=1 zombie=1")
	f := prove(t, "", s, scenarios.Bounds{Faults: "disconnect=1 zombie=1"})
	for _, want := range []string{"\n    not in it: ", "; code that is slow to wake; ", "\n    not struck: zombie=1"} {
		if f.fatal != "" || !strings.Contains(f.logs, want) {
			t.Errorf("no %q in %q, %q", want, f.logs, f.fatal)
		}
	}
	s = *catalog.Named("lock/name-sort")
	if f = prove(t, "", s); f.fatal != "" || strings.Contains(f.logs, "not in it") {
		t.Errorf("of a mutant that was caught: %q, %q", f.logs, f.fatal)
	}
}

func TestProveFailsWhatDoesNotHold(t *testing.T) {
	s := *catalog.Named("lock/name-sort")
	s.Caught = nil
	f := prove(t, "", s)
	if !strings.HasPrefix(f.fatal, "lock/name-sort  exhaustive search  ownership: ") ||
		!strings.Contains(f.fatal, "\n    reproduce  go test ") {
		t.Errorf("%+v", f)
	}
	s = *catalog.Named("lock/lock")
	for _, x := range []struct {
		limit, want string
		scenarios.Bounds
	}{
		{"", "lock/lock: the number of clients is from 2 to 64, not 65", scenarios.Bounds{Clients: 65}},
		{"", `fault plan: "nonsense": `, scenarios.Bounds{Faults: "nonsense"}},
		{"", `lock/lock has no checker "x"`, scenarios.Bounds{Checkers: []string{"x"}}},
		{"1ns", "inconclusive: lock/lock with 2 clients, ", scenarios.Bounds{}},
		{"-1s", `-zksim.for is a time above 0, as 30s, not "-1s"`, scenarios.Bounds{}},
	} {
		if f := prove(t, x.limit, s, x.Bounds); !strings.HasPrefix(f.fatal, x.want) {
			t.Errorf("got %s, want %s", f.fatal, x.want)
		}
	}
	bare := scenarios.Scenario{Name: "my/lock", Clients: 2, Program: idle,
		Finally: func(*history.History) error { return nil }}
	if f := prove(t, "", bare, scenarios.Bounds{Checkers: []string{"x"}}); !strings.HasPrefix(f.fatal,
		`my/lock has no checker "x"; it has liveness, quiescence, steps, finally, and state stands for `) {
		t.Errorf("checkers that the scenario does not name: %s", f.fatal)
	}
	s.Finally = func(*history.History) error { return nil }
	if f := prove(t, "1ns", s); !strings.Contains(f.fatal, "\n    finally: no monitor says what it remembers, ") {
		t.Errorf("%s", f.fatal)
	}
	s.Finally, s.Caught, s.Faults = nil, []string{"steps"}, faults.MustParse("none")
	if f := prove(t, "", s); !strings.HasPrefix(f.fatal, "holds: ") {
		t.Errorf("a mutant that holds: %+v", f)
	}
}
