package zktest

import (
	"bufio"
	"encoding/gob"
	"os"
	"os/signal"
	"runtime"
	"runtime/coverage"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"zksim/internal/turns"
	"zksim/scenarios"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// Files that a process for runs gets from its parent.
const (
	ordersFile = 3 + iota
	repliesFile
	sharedFile
)

// maxLeft is how many goroutines may be left of runs that have failed until another process goes on.
const maxLeft = 1000

// maxStack is how large the stack of a goroutine may be. Go's own limit is 1 GB, which a recursion without end takes
// seconds to reach, in each of the many runs in which a failure is repeated and made shorter.
const maxStack = 32 << 20

// failing is what is said of a run that has failed the test by its own methods.
const failing = "t.Fail"

// childOf is for which check this process makes runs, as called says; "": it is an ordinary one. What the test starts,
// also before that check, is to know nothing of it.
var childOf = born()

func born() string {
	of := os.Getenv(checkVariable)
	if of != "" {
		os.Unsetenv(checkVariable)
		for _, fd := range []uintptr{ordersFile, repliesFile, sharedFile} {
			ownOnly(fd)
		}
	}
	return of
}

// called names the n-th check of a test. A test of which that test is part may have checks, too, that come before.
func called(test string, nth int) string { return strconv.Itoa(nth) + " " + test }

// served says that this process has made runs, and is about to end: what the test does next is for its parent only.
var served atomic.Bool

// child makes the runs that are ordered until nobody orders any more, and then ends the process. When the code has
// failed the test, it ends the test, which tells of it.
func child(t *testing.T, s scenarios.Scenario, code func(c *Cluster)) {
	served.Store(true)
	orders, replies := os.NewFile(ordersFile, "orders"), os.NewFile(repliesFile, "replies")
	notes, err := openShared(os.NewFile(sharedFile, "shared"))
	if err != nil {
		t.Fatalf("zktest: %v", err)
	}
	leaveNoCore()
	alone = true
	large = newMemory()
	debug.SetMaxStack(maxStack)
	engine.Carry()
	waiting := bufio.NewReader(orders)
	in, out := gob.NewDecoder(waiting), newOutbox(notes, replies)
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, askSignal) // at once: the first call in a process starts a goroutine, which is to be in no bubble
	go attend(asked, notes.turns(), out)
	own := t // what bubbles are made of
	s.Outside = func(w *sim.World, run func() error) error { return bubble(own, w, notes.turns(), code, run) }
	c := engine.NewContractor(&s, notes.note)
	c.Last = func(r *engine.Reply) {
		out.add(r, true)
		os.Exit(0)
	}
	serve := func() {
		out.add(&engine.Reply{}, true) // it is ready
		warm := !turns.Exact
		for n := int64(1); ; n++ {
			var o engine.Order
			if err := in.Decode(&o); err != nil { // the parent has closed it, or has ended
				leave()
			}
			reply := &engine.Reply{}
			if n > notes.vain().Load() {
				large.betweenRuns()
				reply = c.Run(&o)
			}
			if !warm && !t.Failed() { // see warmUp; a test that has failed cannot tell of another run
				warm = true
				notes.clear()
				reply = c.Run(&o)
			}
			if t.Failed() {
				out.add(&engine.Reply{Dead: failing}, true)
				own.FailNow()
			}
			reply.Full = large.full() || runtime.NumGoroutine() > maxLeft
			notes.over().Store(n)
			notes.clear()
			if err := out.add(reply, reply.Full || waiting.Buffered() == 0); err != nil {
				t.Fatalf("zktest: %v", err)
			}
			if reply.Full {
				leave()
			}
		}
	}
	if !parallel(t) {
		serve()
	}
	testing.RunTests(func(string, string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: t.Name(), F: func(t *testing.T) {
			own = t
			serve()
		}}})
	t.FailNow()
}

// parallel reports whether a test has called Parallel, or one has that it is part of. In such a test package testing
// refuses to seed the random numbers of the process, since it does not know that nothing else runs in this one.
func parallel(t *testing.T) (yes bool) {
	defer func() { yes = recover() != nil }()
	t.Setenv(inlineVariable, os.Getenv(inlineVariable))
	return false
}

// leave ends the process, when its coverage is written, and its log of what it has read.
func leave() {
	os.Getenv(strings.Repeat("_", flushed))
	if dir := os.Getenv(coverVariable); dir != "" {
		coverage.WriteMetaDir(dir)
		coverage.WriteCountersDir(dir)
	}
	os.Exit(0)
}

// flushed is the length of a name that has package testing write what it has logged of the names before. It would do
// so at the end of the tests, to which this process does not come.
const flushed = 64 << 10

// attend looks, when the parent asks for it since a turn takes long, whether the goroutines of the run wait for each
// other in such a way that the run cannot go on: for mutexes.
func attend(asked <-chan os.Signal, taken *atomic.Int64, out *outbox) {
	for range asked {
		turn := taken.Load()
		x := halted()
		if turn%2 == 0 || x.where == "" || x != halted() || taken.Load() != turn {
			continue
		}
		out.add(x.reply(), true)
		os.Exit(0)
	}
}
