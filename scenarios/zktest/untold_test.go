//go:build unix

package zktest_test

import (
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"zksim/scenarios/zktest"
)

// TestHiddenExitAtTimes ends its process in one of four runs, and in each that stops before its end.
func TestHiddenExitAtTimes(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		var over atomic.Bool
		go func() {
			<-t.Context().Done()
			if !over.Load() {
				os.Exit(5)
			}
		}()
		conn := c.Connect()
		conn.Exists("/x")
		conn.Exists("/y")
		f, err := os.OpenFile("runs", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		defer f.Close()
		f.WriteString(".")
		runs, _ := f.Seek(0, io.SeekCurrent)
		over.Store(runs%4 != 0)
	}, zktest.Faults("disconnect=1"), zktest.Servers(1))
}

// TestStepsAreToldOfARunThatCannotBe has the steps of the run that was found in place of a story without any.
func TestStepsAreToldOfARunThatCannotBe(t *testing.T) {
	out := runHidden(t, t.TempDir(), "TestHiddenExitAtTimes", "-zksim.seeds", "1-20")
	expect(t, out, "of 10 replays; ", " connect c1 s1\n")
	if strings.Contains(out, "of 0 steps") {
		t.Errorf("a story without steps: %s", out)
	}
}
