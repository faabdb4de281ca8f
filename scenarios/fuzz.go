package scenarios

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// F is what Fuzz needs of a *testing.F.
type F interface {
	T
	Add(args ...any)
	Fuzz(ff any)
}

// fuzzSeeds is how many recorded runs a fuzzer begins with.
const fuzzSeeds = 20

// Fuzz searches a scenario with Go's fuzzer. Its bytes choose what happens next; it keeps and mutates bytes that reach
// new code of the recipe or another kind of state:
//
//	func FuzzMyLock(f *testing.F) { scenarios.Fuzz(f, myLock) }
//
// and go test -fuzz FuzzMyLock. Fuzz begins with a few seeds, to see whether the code stays in the simulator, and a
// few recorded runs. If one of these runs fails, or any input without -fuzz, it is reported as by [Check], the first
// by each checker in full. For an input that the fuzzer finds the log has the verdict and the schedule, and the go
// command names the file and the command that repeat it. A mutant fails only by a checker that must find its flaw.
// With -zksim.out or -artifacts the index says what all inputs came to. With -zksim.schedule Fuzz only replays that
// schedule.
func Fuzz(f F, s Scenario) {
	f.Helper()
	if file := scheduleFlag.String(); file != "" {
		replay(f, &s, file)
		return
	}
	if err := cmp.Or(setLike(&s), s.Valid()); err != nil {
		f.Fatalf("%v", err)
		return
	}
	r := engine.NewRunner()
	f.Cleanup(r.Close)
	rec := newRecord(f, &s, byFuzz)
	inputs := 0
	worker := flagOf("test.fuzzworker") == "true" // it runs some of the inputs for another process
	if !worker {
		rec.begin()
		f.Cleanup(rec.keep)
		if !rec.strict(f) {
			return
		}
		f.Cleanup(func() { rec.fuzzed(f, inputs) }) // before keep
	}
	first := [][]byte{{}}
	for seed := range uint64(fuzzSeeds) {
		first = append(first, firstBytes(&s, r, seed))
	}
	for _, data := range first {
		f.Add(data)
	}
	if flagOf("test.fuzz") != "" && !worker && !s.Broken() && s.Outside == nil {
		// A worker of the fuzzer could neither shrink nor save them.
		for _, data := range first {
			rec.input(f, r, data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		inputs++
		rec.input(oneInput{t, f.Name()}, r, data)
	})
}

// strict runs a few seeds strictly, unless the code is not simulated, and reports whether the test goes on. Nobody
// watches over the inputs themselves, which are to be fast.
func (r *record) strict(f F) bool {
	f.Helper()
	if r.s.Outside != nil {
		return true
	}
	ctx, cancel := within(f, 0)
	defer cancel()
	if err := engine.Strict(ctx, r.s, 0); err != nil {
		r.unfit(err)
		f.Fatalf("%s", named(r.s, err))
		return false
	}
	return true
}

// firstBytes returns bytes that a fuzzer begins with: those of a run, or random ones for code outside of the simulator.
func firstBytes(s *Scenario, r *engine.Runner, seed uint64) []byte {
	if s.Outside == nil {
		return r.Recorded(s, seed)
	}
	var random sim.Random
	random.Seed(seed)
	data := make([]byte, anyBytes)
	for i := range data {
		data[i] = byte(random.Uint64())
	}
	return data
}

// anyBytes is how many random bytes firstBytes returns.
const anyBytes = 64

// fuzzed says what all inputs came to, unless one of them already has.
func (r *record) fuzzed(f F, inputs int) {
	x, ok := f.(interface{ Failed() bool })
	switch fuzzing := flagOf("test.fuzz") != ""; {
	case r.row.Failure != nil || pipeline.StatusOf(r.row) != engine.Inconclusive:
	case ok && x.Failed():
		r.to(engine.Violation, "an input fails, of which the log tells")
	case r.s.Broken():
		r.row.Says = fmt.Sprintf("%s%s, and none shows the flaw", history.Counted(inputs, "input"), r.s.Like.Clause())
	case fuzzing: // by other processes
		r.to(engine.Held, "fuzzed"+r.s.Like.Clause()+", and no input has failed")
	case inputs > 0:
		r.to(engine.Held, history.Counted(inputs, "input")+r.s.Like.Clause())
	}
}

// flagOf returns the value of a flag of package testing.
func flagOf(name string) string {
	if f := flag.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// oneInput is the test of one input, under the name of the fuzz test.
type oneInput struct {
	T
	name string
}

// Name returns the name of the fuzz test.
func (f oneInput) Name() string { return f.name }

// input runs one input.
func (r *record) input(t T, runner *engine.Runner, data []byte) {
	t.Helper()
	s := r.s
	res := runner.Novel(s, data)
	if res.Misuse != nil {
		r.to(engine.Misused, "misuse: "+res.Misuse.Message)
		t.Fatalf("%s: %v", s.Name, res.Misuse)
		return
	}
	if err := runner.Unfit(s, &res); err != nil {
		t.Fatalf("%s: %v", s.Name, err)
		return
	}
	if res.Verdict.Level == checkers.Unknown && s.Outside != nil {
		t.Fatalf("%s: %s", s.Name, res.Verdict)
		return
	}
	if res.Verdict.Level != checkers.Violated || s.Broken() && !s.Catches(res.Verdict) {
		return
	}
	runner.Names(&res)
	says := fmt.Sprintf("%s in %s", res.Verdict.Checker, history.Counted(res.Steps, "step"))
	if !s.Broken() && flagOf("test.fuzzworker") != "true" {
		if slices.Contains(r.told, res.Verdict.Checker) {
			t.Fatalf("%s  %s: %s\n    told in full of an input before it", s.Name, res.Verdict.Checker, res.Verdict.Message)
			return
		}
		r.told = append(r.told, res.Verdict.Checker)
		r.to(engine.Violation, says)
		r.fail(t, &res, "fuzzed bytes", "")
		return
	}
	if s.Broken() {
		r.to(engine.Caught, "by "+says)
	}
	res.Schedule.Checker = res.Verdict.Checker
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s: %s\n", s.Name, res.Verdict.Checker, res.Verdict.Message)
	fmt.Fprintf(&b, "reproduce  by the input that Go names, or save the following and  %s\n\n", command(t.Name(), "FILE"))
	res.Schedule.Write(&b)
	t.Fatalf("%s", b.String())
}
