package zktest

import (
	"encoding/gob"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"zksim/internal/turns"
	"zksim/scenarios"
	"zksim/scenarios/engine"
	"zksim/scenarios/serve"
	"zksim/sim"
)

// Exact reports whether these tests were built with the overlay of the runtime.
const Exact = turns.Exact

// Repetition is what comes of running seeds twice each.
type Repetition struct {
	Runs, Differ int    // seeds, and those whose two runs were not the same
	Parted       string // where the first of these part
	Hash         uint64 // of the first run of each: the sum of theirs, so that it can be had in several processes
	Steps        int
	Choices      uint64 // turns of goroutines that were drawn, if the overlay is there
}

// Repeat runs code twice for each of these seeds, on as many processors as the process has.
func Repeat(t *testing.T, code func(c *Cluster), seeds engine.Range, options ...Option) (x Repetition) {
	s := scenarios.Scenario{Name: "zktest/repeat", Clients: 1, Servers: []int{1, 3}, Faults: serve.Contract()}
	for _, o := range options {
		if err := o(&s); err != nil {
			t.Fatal(err)
		}
	}
	var drawn turns.Drawn
	defer outside(t, &s, func(c *Cluster) {
		defer func() { drawn = turns.Read() }()
		code(c)
	})()
	r := engine.NewRunner()
	defer r.Close()
	for seed := seeds.First; seed <= seeds.Last; seed++ {
		one := r.Seed(&s, seed)
		hash, first, shown := one.Hash, drawn, r.Shown()
		x.Runs, x.Steps, x.Choices = x.Runs+1, x.Steps+one.Steps, x.Choices+drawn.Turns
		all := fnv.New64a()
		fmt.Fprint(all, seed, hash, drawn)
		x.Hash += all.Sum64()
		if r.Seed(&s, seed).Hash != hash || drawn != first {
			x.Differ++
			if x.Parted == "" {
				x.Parted = engine.Parts(shown, r.Shown())
			}
		}
	}
	return x
}

// ProcessorTime is for how long a process has had a processor.
var ProcessorTime = processorTime

// Spins returns after how many seconds code is taken to spin that has had a processor for so long at each of them; 0 if
// it is not.
func Spins(used func(second int) time.Duration) int {
	x := &watchdog{}
	x.time = func() time.Duration { return used(x.looks / aSecond) }
	for x.looks < endAfter {
		if x.looks++; x.spins() {
			return x.looks / aSecond
		}
	}
	return 0
}

// Judged is for tests that judge scenarios in other ways than Check.
var Judged = judged

// JudgedCode is for tests that judge code in other ways than Run.
func JudgedCode(
	t *testing.T, code func(c *Cluster), judge func(t scenarios.T, s scenarios.Scenario), options ...Option,
) {
	nth := count(t)
	check(t, scenario(t, nth, code, options), nth, code, judge)
}

// TestHiddenHomonym is also the name of a test in the package with _test.
func TestHiddenHomonym(t *testing.T) {
	if os.Getenv("ZKTEST_HIDDEN") != "" {
		Run(t, func(c *Cluster) { c.Connect() })
	}
}

// Endless makes a run of code whose driver waits for good, and returns what that comes to.
func Endless(t *testing.T) error {
	w := sim.NewWorld()
	defer w.Close()
	w.Reset(sim.Config{Servers: 1, SafetySteps: 1, MaxSteps: 1}, nil, nil)
	return bubble(t, w, &atomic.Int64{}, func(*Cluster) {}, func() error { select {} })
}

// SharedFile makes memory that is shared, in a folder, and returns its file and size.
func SharedFile(dir string) (*os.File, int, error) {
	s, err := newShared(dir)
	if err != nil {
		return nil, 0, err
	}
	return s.file, sharedSize, nil
}

// Together joins what is said of goroutines.
func Together(text ...string) string { return together(text) }

// Unsent has an outbox take replies with messages of these lengths, and its process end without sending any that it
// need not send. It returns the lengths of those that the parent gets.
func Unsent(dir string, sizes []int) (list []int, err error) {
	s, err := newShared(dir)
	if err != nil {
		return nil, err
	}
	defer s.close()
	pipe, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer pipe.Close()
	go func() {
		defer end.Close()
		b := newOutbox(s, end)
		b.sent = time.Now().Add(time.Hour)
		for _, n := range sizes {
			if err := b.add(&engine.Reply{Dead: strings.Repeat("x", n)}, false); err != nil {
				panic(err)
			}
		}
	}()
	for replies := gob.NewDecoder(io.MultiReader(pipe, &unsent{shared: s})); ; {
		var r engine.Reply
		switch err := replies.Decode(&r); err {
		case nil:
			list = append(list, len(r.Dead))
		case io.EOF:
			return list, nil
		default:
			return list, err
		}
	}
}

// Output has a process print a text some times, and another one once. It returns what is kept of that, and how much was
// passed on before.
func Output(often string, times int, once string) (kept string, passed int64, err error) {
	f, err := os.CreateTemp("", "output-*")
	if err != nil {
		return "", 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	o := &output{to: f}
	o.Write([]byte("before the runs\n" + beginning))
	for range times {
		o.Write([]byte(often))
	}
	for part := range slices.Chunk([]byte(once), 32<<10) {
		o.Write(part)
	}
	passed, err = f.Seek(0, io.SeekCurrent)
	return o.String(), passed, err
}

// Kept returns what is kept of the output of a process after each of its runs.
func Kept(runs ...string) (kept []string) {
	var o output
	o.Write([]byte("panic: before the runs\n" + beginning[:5]))
	o.flushRun()
	o.Write([]byte(beginning[5:]))
	for _, said := range runs {
		o.Write([]byte(said))
		o.flushRun()
		kept = append(kept, o.String())
	}
	return kept
}
