package zktest

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"zksim/internal/turns"
	"zksim/scenarios"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// Fuzz is [Run] with Go's fuzzer in place of seeds. The fuzzer's bytes choose what happens next; it keeps and mutates
// the bytes that reach new code:
//
//	func FuzzMyService(f *testing.F) { zktest.Fuzz(f, service) }
//
// Run it with go test -fuzz FuzzMyService. Then the fuzzer's own processes make the runs. If one of them dies, the
// fuzzer says that it was terminated, and keeps the bytes. Without -fuzz the kept bytes are run by processes like those
// of Run, and failures are reported in the same way. Each input is a test of its own, so nothing checks whether one of
// them has what [Cluster.Sometimes] says, or meets a rule of the plan.
func Fuzz(f *testing.F, code func(c *Cluster), options ...Option) {
	f.Helper()
	nth := count(f)
	s := scenario(f, nth, code, options)
	code = recorded(code)
	if childOf != "" {
		f.Add([]byte{})
		f.Fuzz(func(t *testing.T, _ []byte) {
			if served.Load() { // it has several inputs
				t.SkipNow()
			}
			child(t, s, code)
		})
		return
	}
	if value("test.fuzzworker") == "true" || !isolates || os.Getenv(inlineVariable) != "" {
		if value("zksim.schedule") != "" {
			replayInline(f, s, code)
			return
		}
		scenarios.Fuzz(inlined(f, &s, code), s)
		return
	}
	ctx, cancel := untilDeadline(f.Context(), deadline())
	f.Cleanup(cancel)
	f.Cleanup(newProcesses(ctx, &s, f.Name(), nth).close)
	scenarios.Fuzz(f, s)
}

// replayInline replays the schedule of -zksim.schedule in this process. A bubble needs a test, which a fuzz test has
// only for an input.
func replayInline(f *testing.F, s scenarios.Scenario, code func(c *Cluster)) {
	f.Add([]byte{})
	replayed := false
	f.Fuzz(func(t *testing.T, _ []byte) {
		if !replayed {
			replayed = true
			inline(t, s, code, scenarios.Check)
		}
	})
}

// begun is when this process began, slightly before package testing starts to count its time.
var begun = time.Now()

// deadline returns when the time for all tests is over; zero means never. A fuzz test has no method for it.
func deadline() time.Time {
	if limit, err := time.ParseDuration(value("test.timeout")); err == nil && limit > 0 {
		return begun.Add(limit)
	}
	return time.Time{}
}

// fuzzer is a fuzz test whose inputs run in its own process.
type fuzzer struct {
	*testing.F
	s   *scenarios.Scenario
	now *testing.T // of the input
}

// Fuzz implements [scenarios.F].
func (f *fuzzer) Fuzz(ff any) {
	run := ff.(func(*testing.T, []byte))
	f.F.Fuzz(func(t *testing.T, data []byte) {
		first := f.now == nil
		f.now = t
		if first && turns.Exact { // see warmUp
			r := engine.NewRunner()
			defer r.Close()
			r.Bytes(f.s, data)
		}
		run(t, data)
	})
}

// inlined makes this process, which belongs to the fuzzer, make the runs of a scenario.
func inlined(f *testing.F, s *scenarios.Scenario, code func(c *Cluster)) *fuzzer {
	x := &fuzzer{F: f, s: s}
	os.Setenv("GODEBUG", list(os.Getenv("GODEBUG"), "randseednop=0"))
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	runs, steps := 0, &atomic.Int64{}
	s.Outside = func(w *sim.World, run func() error) error {
		if runs++; runs%collectEvery == 0 {
			runtime.GC()
		}
		return bubble(x.now, w, steps, code, run)
	}
	return x
}
