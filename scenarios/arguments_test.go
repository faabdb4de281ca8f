package scenarios_test

import (
	"fmt"
	"strings"
	"testing"

	"zksim/recipes"
	"zksim/scenarios"
)

// TestWrongArgumentsAreTold expects of each wrong call of a Process that the verdict says what was expected.
func TestWrongArgumentsAreTold(t *testing.T) {
	for want, call := range map[string]func(p *scenarios.Process){
		`Process.Path("lock"), expected a path that starts with a slash`: func(p *scenarios.Process) { p.Path("lock") },
		"Process.Always of nothing, expected a sentence that says what must hold": func(p *scenarios.Process) {
			p.Always("", true)
		},
		"Process.Sometimes of nothing, expected a sentence that says what must hold": func(p *scenarios.Process) {
			p.Sometimes("", true)
		},
		"Process.Ends of nothing, expected a sentence that says what must hold": func(p *scenarios.Process) {
			p.Ends("", nil, nil)
		},
		"Process.Fail without an error, expected why the program gives up": func(p *scenarios.Process) { p.Fail(nil) },
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

func TestASemaphoreHasALease(t *testing.T) {
	for _, n := range []int{0, -1} {
		want := fmt.Sprintf("the semaphore of scenario mine/semaphore has %d leases, expected 1 or more", n)
		func() {
			defer func() {
				if said := recover(); said != want {
					t.Errorf("it says %v, not %s", said, want)
				}
			}()
			scenarios.Semaphore("mine/semaphore", n, func(*scenarios.Process) *recipes.Semaphore { return nil })
		}()
	}
}
