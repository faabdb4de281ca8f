package scenarios_test

import (
	"fmt"
	"strings"
	"testing"

	"zksim/scenarios"
)

// chooses has each client choose one of twelve pairs, and one of them only is wrong, for one client.
func chooses(wrong bool) scenarios.Scenario {
	program := func(p *scenarios.Process) {
		pair := fmt.Sprint(p.Choose(3), p.Choose(4))
		p.Conn.Exists(p.Path("/x"))
		for a := range 3 {
			for b := range 4 {
				p.Sometimes(fmt.Sprint("it is ", a, b), pair == fmt.Sprint(a, b))
			}
		}
		p.Always("it is not 1 3", !wrong || p.ID == 1 || pair != "1 3")
	}
	return scenarios.Scenario{Name: "test/chooses", Doc: "clients choose", Clients: 2, Program: program}
}

// TestEveryNumberIsChosen: every pair is a goal, which some seed reaches, and some schedule of a proof.
func TestEveryNumberIsChosen(t *testing.T) {
	scenarios.Check(t, chooses(false))
	if f := prove(t, "", chooses(false), scenarios.Bounds{Faults: "none"}); f.fatal != "" {
		t.Error(f.fatal)
	}
	f := prove(t, "", chooses(true), scenarios.Bounds{Faults: "none"})
	for _, want := range []string{`"it is not 1 3" does not hold for c2`, "c2 chooses 1\n", "c2 chooses 3\n"} {
		if !strings.Contains(f.fatal, want) {
			t.Errorf("no %q in %s", want, f.fatal)
		}
	}
}

func TestThereAreNumbersToChooseFrom(t *testing.T) {
	for _, n := range []int{-1, 0, 65537} {
		t.Chdir(t.TempDir())
		f := &fakeT{}
		f.run(func() {
			scenarios.Check(f, scenarios.Scenario{Name: "test/chooses", Doc: "a client chooses", Clients: 1,
				Program: func(p *scenarios.Process) { p.Choose(n) }})
		})
		if want := fmt.Sprintf("Process.Choose(%d), expected a number from 1 to 65536", n); !strings.Contains(f.fatal, want) {
			t.Errorf("no %q in %s", want, f.fatal)
		}
	}
}
