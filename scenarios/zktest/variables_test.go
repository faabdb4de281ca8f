package zktest_test

import (
	"sync"
	"testing"

	"zksim/scenarios/zktest"
)

// What packages have as variables, which are made before any run.
var (
	results = make(chan error)
	slots   = make(chan struct{}, 1)
	ongoing sync.WaitGroup
)

// variables asks from goroutines that wait for one another by these.
func variables(c *zktest.Cluster) {
	conn := c.Connect()
	for range 3 {
		ongoing.Go(func() {
			slots <- struct{}{}
			_, _, err := conn.Exists("/x")
			<-slots
			results <- err
		})
	}
	for range 3 {
		<-results
	}
	ongoing.Wait()
}

func TestHiddenVariables(t *testing.T) {
	hidden(t)
	zktest.Run(t, variables)
}

// TestCodeMayWaitForWhatWasMadeOutside has code wait for variables of its package, for which the bubble of a run cannot
// come to rest on the toolchain as it is: the test says so at once, and runs it with the overlay.
func TestCodeMayWaitForWhatWasMadeOutside(t *testing.T) {
	if zktest.Exact {
		zktest.Run(t, variables)
		return
	}
	expect(t, runHidden(t, t.TempDir(), "TestHiddenVariables"), "nothing is known of the run: a goroutine waits for a "+
		"channel or a WaitGroup that was made outside of the function", "simrun test", "variables_test.go:")
}
