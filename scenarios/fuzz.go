package scenarios

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/scenarios/engine"
)

// F is what Fuzz needs of a *testing.F.
type F interface {
	T
	Add(args ...any)
	Cleanup(f func())
	Fuzz(ff any)
}

// fuzzSeeds is how many recorded runs a fuzzer begins with.
const fuzzSeeds = 20

// Fuzz searches a scenario with Go's fuzzer, which chooses by bytes what happens
// next, and keeps and mutates the bytes that reach new code of the recipe or another
// kind of state:
//
//	func FuzzMyLock(f *testing.F) { scenarios.Fuzz(f, myLock) }
//
// and go test -fuzz FuzzMyLock. While it fuzzes, the test fails with the verdict and the schedule, and the go command
// names the file and the command that repeat it. Without -fuzz, what is in the corpus fails as in [Check]. A
// mutant fails only by a checker that must find its flaw. With -zksim.schedule it replays that one schedule.
func Fuzz(f F, s Scenario) {
	f.Helper()
	if *scheduleFlag != "" {
		replay(f, &s, *scheduleFlag)
		return
	}
	if err := s.Accepts(s.Faults); err != nil {
		f.Fatalf("%v", err)
		return
	}
	r := engine.NewRunner()
	f.Cleanup(r.Close)
	f.Add([]byte{})
	for seed := range uint64(fuzzSeeds) {
		f.Add(r.Recorded(&s, seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzz(fuzzed{t, f.Name()}, r, &s, data) })
}

// fuzzed is the test of one input, by the name of the whole.
type fuzzed struct {
	T
	name string
}

// Name returns the name of the fuzz test.
func (f fuzzed) Name() string { return f.name }

// fuzz runs one input.
func fuzz(t T, r *engine.Runner, s *Scenario, data []byte) {
	t.Helper()
	res := r.Novel(s, data)
	if res.Misuse != nil {
		t.Fatalf("%s: %v", s.Name, res.Misuse)
		return
	}
	if err := s.Unknown(res.History); err != nil {
		t.Fatalf("%v", err)
		return
	}
	if res.Verdict.Level != checkers.Violated || s.Broken() && !s.Catches(res.Verdict) {
		return
	}
	r.Names(&res)
	if on := flag.Lookup("test.fuzz"); !s.Broken() && (on == nil || on.Value.String() == "") {
		fail(t, s, &res, "fuzzed bytes")
		return
	}
	res.Schedule.Checker = res.Verdict.Checker
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s: %s\n", s.Name, res.Verdict.Checker, res.Verdict.Message)
	fmt.Fprintf(&b, "reproduce  with the command below, or save the following and  %s\n\n", command(t.Name(), "FILE"))
	res.Schedule.Write(&b)
	t.Fatalf("%s", b.String())
}
