//go:build unix

package zktest_test

import (
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"testing"

	"zksim/scenarios/zktest"
)

// TestHiddenDraws has most runs hold, and others fail in different ways.
func TestHiddenDraws(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		c.Connect().Create("/x", nil, 0, open)
		switch rand.Intn(48) {
		case 0:
			c.Errorf("an error")
		case 1:
			os.Exit(3)
		case 2:
			go func() { panic("a panic") }()
			select {}
		case 3:
			t.Fatal("a fatal error")
		case 4:
			os.Stderr.WriteString("panic: not meant\n")
		}
	}, zktest.Faults("lose-reply=1"))
}

var firstFailure = regexp.MustCompile(`TestHiddenDraws  seed (\d+)  (.*)`)

// TestRunsThatAreMadeAheadChangeNothing has the failure of the lowest seed be what it is when runs are ordered one by
// one, whatever becomes of those that were ordered after it, until there were four kinds of failures.
func TestRunsThatAreMadeAheadChangeNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	kinds := map[string]bool{}
	for first := 1; len(kinds) < 4; {
		ahead := firstFailure.FindStringSubmatch(runHidden(t, t.TempDir(), "TestHiddenDraws", "-zksim.seeds",
			fmt.Sprintf("%d-%d", first, first+400)))
		if ahead == nil {
			t.Fatalf("none of the seeds from %d on fails", first)
		}
		alone := firstFailure.FindStringSubmatch(runHidden(t, t.TempDir(), "TestHiddenDraws", "-zksim.seeds", ahead[1]))
		if alone == nil || alone[2] != ahead[2] {
			t.Errorf("%q, and alone %q", ahead, alone)
		}
		kinds[ahead[2]] = true
		fmt.Sscan(ahead[1], &first)
		first++
	}
}
