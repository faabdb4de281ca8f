//go:build unix

package zktest_test

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
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

// TestHiddenSlowAhead has each run fail, and take long.
func TestHiddenSlowAhead(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		f, err := os.OpenFile("runs", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			c.Errorf("%v", err)
			return
		}
		f.WriteString("x")
		f.Close()
		for range 100_000_000 { // processor time
		}
		c.Errorf("an error")
	}, zktest.Caught("always"))
	t.Fatal("caught")
}

// TestRunsThatNobodyAsksForAreNotMade has the first run end the work, for which the test does not make the others that
// were ordered with it.
func TestRunsThatNobodyAsksForAreNotMade(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GOMAXPROCS", "1")
	expect(t, runHidden(t, dir, "TestHiddenSlowAhead"), "caught by always, seed 1")
	runs, err := os.ReadFile(filepath.Join(dir, "runs"))
	if err != nil || len(runs) >= 16 {
		t.Errorf("%d runs, %v, expected few more than one", len(runs), err)
	}
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
