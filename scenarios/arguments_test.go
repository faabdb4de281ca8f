package scenarios_test

import (
	"strings"
	"testing"

	"zksim/scenarios"
)

// TestWrongArgumentsAreTold expects of each wrong call of a Process that the verdict says what was expected.
func TestWrongArgumentsAreTold(t *testing.T) {
	for want, call := range map[string]func(p *scenarios.Process){
		`Process.Path("lock"), expected a path that starts with a slash`: func(p *scenarios.Process) { p.Path("lock") },
	} {
		t.Chdir(t.TempDir())
		f := &fakeT{}
		f.run(func() {
			scenarios.Check(f, scenarios.Scenario{Name: "test/argument", Clients: 1, Program: call})
		})
		if !strings.Contains(f.fatal, "panic: "+want) {
			t.Errorf("no %q in %s", want, f.fatal)
		}
	}
}
