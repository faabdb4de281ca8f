package zktest

import (
	"bufio"
	"encoding/gob"
	"os"
	"os/signal"
	"reflect"
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

// The files that a process for runs gets from its parent.
const (
	ordersFile = 3 + iota
	repliesFile
	sharedFile
)

// maxLeft is how many goroutines failed runs may leave behind before another process takes over.
const maxLeft = 1000

// maxStack limits the stack of a goroutine. Infinite recursion takes seconds to reach Go's own limit of 1 GB, and it
// does so in each of the many runs that repeat and shrink a failure.
const maxStack = 32 << 20

// failing marks the reply of a run that has failed the test through the test's own methods.
const failing = "t.Fail"

// childOf names the check that this process makes runs for, see called; "" means that it is an ordinary process. The
// variable is removed from the environment so that programs which the test starts do not see it, even before that
// check.
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

// called names the n-th check of a test. The number is needed because a parent of a subtest may have earlier checks.
func called(test string, nth int) string { return strconv.Itoa(nth) + " " + test }

// served says that this process has made runs and is about to end. What the test does next concerns only its parent.
var served atomic.Bool

// child makes runs until no more are ordered, and then ends the process. When the code has failed the test, child ends
// the test, and its output says why.
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
	signal.Notify(asked, askSignal) // now: the first call in a process starts a goroutine, which must not be in a bubble
	go attend(asked, notes.turns(), out)
	own, above := t, failedAbove(t) // the test that bubbles are made from
	fails := func() bool { return t.Failed() || !above && failedAbove(t) }
	s.Outside = func(w *sim.World, run func() error) error { return bubble(own, w, notes.turns(), code, run) }
	c := engine.NewContractor(&s, notes.note, notes.misfit)
	c.Last = func(r *engine.Reply) {
		out.add(r, true)
		os.Exit(0)
	}
	serve := func() {
		begin()
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
				reply = c.Run(ended(o, warm))
			}
			if !warm && !fails() { // see warmUp; a test that has failed cannot tell of another run
				warm = true
				notes.clear()
				reply = c.Run(&o)
			}
			if fails() {
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

// failedAbove reports whether a test that contains this one has failed. Code may have the T of such a test, which fails
// without the one that it contains, and package testing tells nobody else. In a version of Go with other fields it does
// not find out.
func failedAbove(t *testing.T) bool {
	v := reflect.ValueOf(t).Elem().FieldByName("parent")
	for ; v.Kind() == reflect.Pointer && !v.IsNil(); v = v.Elem().FieldByName("parent") {
		if failed := v.Elem().FieldByName("failed"); failed.Kind() == reflect.Bool && failed.Bool() {
			return true
		}
	}
	return false
}

// ended returns the order of a run. The one that comes before all that count must not end early: the next one is told,
// unless that one ends its process.
func ended(o engine.Order, warm bool) *engine.Order {
	if !warm && !o.Cold {
		o.Until = 0
	}
	return &o
}

// parallel reports whether a test, or a test that contains it, has called Parallel. In such a test package testing
// refuses to seed the random numbers of the process, because it does not know that nothing else runs in this one.
func parallel(t *testing.T) (yes bool) {
	defer func() { yes = recover() != nil }()
	t.Setenv(inlineVariable, os.Getenv(inlineVariable))
	return false
}

// leave writes the coverage of the process and its log of what it has read, and ends it.
func leave() {
	os.Getenv(strings.Repeat("_", flushed))
	if dir := os.Getenv(coverVariable); dir != "" {
		coverage.WriteMetaDir(dir)
		coverage.WriteCountersDir(dir)
	}
	os.Exit(0)
}

// flushed is the length of a name that makes package testing write what it has logged so far. Otherwise it would do so
// at the end of the tests, which this process does not reach.
const flushed = 64 << 10

// attend handles the signal that the parent sends when a turn takes long. It looks whether the goroutines of the run
// wait for one another so that the run cannot go on, see halt.
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
