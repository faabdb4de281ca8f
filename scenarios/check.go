package scenarios

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"zksim/checkers"
)

// T is what Check needs of a *testing.T.
type T interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Flags of test binaries that use Check.
var (
	seedsFlag    = testFlag("seeds", "1-500", "seeds for scenarios.Check, as 17 or 1-500")
	scheduleFlag = testFlag("schedule", "", "schedule file for scenarios.Check to replay instead of running seeds")
)

// testFlag defines a flag in test binaries only.
func testFlag(name, value, usage string) *string {
	if testing.Testing() {
		return flag.String(name, value, usage)
	}
	return &value
}

// Check runs a scenario in a test: its seeds (flag -seeds, default 1-500) on all
// cores, or one schedule (flag -schedule). The test fails when something does
// not hold, when a broken recipe is not caught, when a goal is not reached, and when
// nothing was tried: see [Coverage]. It also fails when client code waits, starts goroutines or tells time
// otherwise than by its Conn and Env, where that shows. It prints the schedule and the command that
// repeats it; the log says what happened in the runs.
//
//	func TestMyLock(t *testing.T) {
//		scenarios.Check(t, scenarios.Scenario{Name: "my/lock", Clients: 3, Program: ..., Checkers: ...})
//	}
func Check(t T, s Scenario) {
	t.Helper()
	if *scheduleFlag != "" {
		checkSchedule(t, &s, *scheduleFlag)
		return
	}
	seeds, err := ParseRange(*seedsFlag)
	if err != nil {
		t.Fatalf("-seeds: %v", err)
		return
	}
	rep, err := Run(context.Background(), &s, Options{Seeds: seeds})
	if err != nil {
		t.Fatalf("%v", err)
		return
	}
	switch rep.Status {
	case Held:
		t.Logf("%s held in %s%s", s.Name, runsText(rep.Runs), rep.summary("\n    "))
	case Caught:
		t.Logf("%s caught by %s at seed %d%s", s.Name, rep.Failure.Verdict.Checker, rep.Failure.Schedule.Seed, rep.summary("\n    "))
	case Violation:
		t.Fatalf("%s", describe(t, rep))
	case Escaped:
		t.Fatalf("%s: %d runs, and neither of %s caught it", s.Name, rep.Runs, strings.Join(s.Caught, ", "))
	default:
		t.Fatalf("%s: %s%s", s.Name, rep.Why, rep.summary("\n    "))
	}
}

// indented returns the lines of a stack below a sentence; "" if there are none.
func indented(stack string) string {
	if stack == "" {
		return ""
	}
	return "\n    " + strings.ReplaceAll(stack, "\n", "\n    ")
}

// describe writes a failure so that it can be repeated.
func describe(t T, rep Report) string {
	f := rep.Failure
	f.Schedule.Checker = f.Verdict.Checker
	var b strings.Builder
	fmt.Fprintf(&b, "%s  seed %d  %s: %s%s\n", rep.Scenario.Name, f.Schedule.Seed, f.Verdict.Checker,
		f.Verdict.Message, indented(rep.Stack))
	name := regexp.QuoteMeta(t.Name())
	fmt.Fprintf(&b, "reproduce  go test -run '^%s$' -seeds %d\nor save the following and  go test -run '^%s$' -schedule FILE\n\n",
		name, f.Schedule.Seed, name)
	f.Schedule.Write(&b)
	return b.String()
}

func checkSchedule(t T, s *Scenario, path string) {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatalf("-schedule: %v", err)
		return
	}
	defer in.Close()
	schedule, err := ParseSchedule(in)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
		return
	}
	r := NewRunner()
	defer r.Close()
	var res Result
	err = r.Strictly(func() (err error) {
		res, err = r.Replay(s, schedule)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
		return
	}
	words := checkers.VocabularyOf(s.Checkers, s.Words)
	if why := words.Unknown(res.History); why != "" {
		t.Fatalf("%s", s.strange(why))
		return
	}
	if res.Verdict.Level != 0 && !s.Catches(res.Verdict) {
		t.Fatalf("%s: %s in %d steps: %s%s", s.Name, res.Verdict.Checker, res.Steps, res.Verdict.Message,
			indented(res.History.PanicStack()))
	}
	t.Logf("%s: %s after %d steps, hash %016x", s.Name, res.Verdict.Level, res.Steps, res.Hash)
}

// ParseRange reads seeds: "17" or "1-500".
func ParseRange(s string) (Range, error) {
	first, last, isRange := strings.Cut(s, "-")
	a, err := strconv.ParseUint(first, 10, 63)
	b := a
	if err == nil && isRange {
		b, err = strconv.ParseUint(last, 10, 63)
	}
	if err != nil || b < a {
		return Range{}, fmt.Errorf("seeds are a number or a range as 1-500, not %q", clip(s))
	}
	return Range{a, b}, nil
}
