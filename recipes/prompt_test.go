package recipes_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"zksim/faults"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/sim"
)

// A promptCall is a call of a recipe, made by c1, that has to return as soon as its context is done.
type promptCall struct {
	name string
	// other is what c2 does before, and returns what it does afterwards; nil: nothing.
	other func(a actor) func()
	// begin is what c1 does before. It returns the call, and what its object answers for afterwards.
	begin func(a actor) (call func(ctx context.Context) error, znodes func() []string)
	// patient says that the call waits for its clean-up while there is a connection.
	patient bool
}

func noZnodes() []string { return nil }

// severed is a chooser that lets c1 make a call, takes its server away after some steps, and then
// cancels the context. From there to the end of the call only code may run.
type severed struct {
	random *rand.Rand
	after  int    // how many steps the call gets
	fault  string // what takes the server away; "": it says nothing any more
	phase  phase
	cut    bool // the fault has struck
	waits  bool // the call waits for something else than the connection
	stuck  bool // the call did not return
}

type phase uint8

const (
	preparing phase = iota
	working         // the call goes on undisturbed
	ending          // its context is done
	over            // it has returned
)

// Choose implements [sim.Chooser].
func (s *severed) Choose(w *sim.World) (sim.Transition, bool, error) {
	own := func(t sim.Transition) bool { return t.Client == 1 }
	switch s.phase {
	case working:
		t, ok := s.any(w, own)
		if ok && s.after > 0 {
			s.after--
			return t, true, nil
		}
		s.waits = s.waits || s.after > 0
		s.after = 0
		for _, t := range w.Faults() {
			if w.Name(t) == s.fault && !s.cut {
				s.cut = true
				return t, true, nil
			}
		}
		for _, t := range w.Faults() {
			if w.Name(t) == "cancel c1" {
				s.phase = ending
				return t, true, nil
			}
		}
	case ending:
		if t, ok := s.any(w, func(t sim.Transition) bool { return own(t) && t.Kind == sim.Run }); ok {
			return t, true, nil
		}
		s.stuck, s.phase = true, over
	}
	t, ok := s.any(w, func(t sim.Transition) bool { return t.Kind != sim.Tick })
	if !ok {
		t, ok = s.any(w, func(sim.Transition) bool { return true })
	}
	return t, ok, nil
}

// any returns one of the transitions that are such.
func (s *severed) any(w *sim.World, such func(sim.Transition) bool) (sim.Transition, bool) {
	list := slices.DeleteFunc(slices.Clone(w.Normal()), func(t sim.Transition) bool { return !such(t) })
	if len(list) == 0 {
		return sim.Transition{}, false
	}
	return list[s.random.IntN(len(list))], true
}

// Whatever the state of a call, and whether or not there is a connection, it returns when its context is
// done, without any step of the library or the servers, and leaves nothing behind in the end.
func TestACallReturnsWhenItsContextIsDone(t *testing.T) {
	for _, c := range promptCalls {
		t.Run(c.name, func(t *testing.T) {
			for _, fault := range []string{"disconnect c1", ""} {
				if fault == "" && c.patient {
					continue
				}
				for after, busy := 0, true; busy; after++ {
					busy, _ = sever(t, c, fault, after)
				}
			}
		})
	}
}

// What goes on in the background is called after what it undoes.
func TestACleanUpIsCalledAfterWhatItUndoes(t *testing.T) {
	want := map[string]string{
		"Lock Lock": "lock", "SingleNodeLock Lock": "lock", "RWLock Lock": "write", "RWLock RLock": "read",
		"RevocableLock Lock": "write",
		"Semaphore Acquire":  "lease lock", "Election Campaign": "candidate", "DoubleBarrier lowest Enter": "barrier",
		"Queue Put": "receipt", "Queue Claim": "claim", "Queue Return": "claim", "Transaction Begin": "ticket transaction",
		"Transaction Join of an ephemeral site": "site", "Worker Leave": "worker", "TaskClient Submit": "task ticket",
		"Names Register": "name ticket",
		"Counter Add":    "receipt", "Group Join": "member",
	}
	for _, c := range promptCalls {
		names, ok := want[c.name]
		if !ok {
			continue
		}
		delete(want, c.name)
		seen := map[string]bool{}
		for after, busy := 0, true; busy; after++ {
			var schedule []string
			busy, schedule = sever(t, c, "disconnect c1", after)
			for _, step := range schedule {
				if name, ok := strings.CutPrefix(step, "run c1/"); ok && strings.Contains(name, "-cleanup") {
					what, _, _ := strings.Cut(name, "-cleanup")
					seen[what] = true
				}
			}
		}
		if got := strings.Join(slices.Sorted(maps.Keys(seen)), " "); got != names {
			t.Errorf("%s: the clean-ups are of %q, want %q", c.name, got, names)
		}
	}
	if len(want) > 0 {
		t.Errorf("there is no call %v", want)
	}
}

// sever makes the call and reports whether it had something to do even after that many steps, and all that
// has happened.
func sever(t *testing.T, c promptCall, fault string, after int) (busy bool, schedule []string) {
	t.Helper()
	s := &severed{random: rand.New(rand.NewPCG(uint64(after), 1)), after: after, fault: fault}
	var err error
	underway := false
	var znodes func() []string
	ready, w := c.other == nil, sim.NewWorld()
	defer w.Close()
	one := func(a actor) {
		a.until(func() bool { return ready })
		var call func(context.Context) error
		call, znodes = c.begin(a)
		ctx, cancel := context.WithCancel(ctx)
		a.world.Clients()[0].OnInterrupt(ctx, cancel)
		s.phase = working
		err = call(ctx)
		a.world.Clients()[0].OnInterrupt(nil, nil)
		underway = s.phase != working
		s.phase = over
	}
	two := func(a actor) {
		if c.other != nil {
			end := c.other(a)
			ready = true
			a.until(func() bool { return s.phase == over })
			end()
		}
	}
	var in faults.Injector
	plan, perr := faults.Parse("disconnect=1 cancel=1")
	if perr != nil {
		t.Fatal(perr)
	}
	in.Reset(plan)
	w.Reset(sim.Config{Clients: 2, SafetySteps: 1e6, MaxSteps: 1e6}, &in, func(c *sim.Client) {
		a := actor{&stage{t: t, world: w, random: s.random}, c.Conn(), c.Env()}
		[]func(actor){one, two}[c.ID()-1](a)
	})
	if err := w.Run(s); err != nil {
		t.Fatal(err)
	}
	h := w.History
	switch {
	case h.Outcome != history.Quiet || h.Panic != "":
		t.Fatalf("outcome %d: %s", h.Outcome, h.Panic)
	case s.stuck:
		t.Fatalf("%q after %d steps: the call does not return:\n%s", fault, after, strings.Join(w.Schedule(), ", "))
	case underway && err != nil && !errors.Is(err, context.Canceled):
		t.Fatalf("%q after %d steps: %v:\n%s", fault, after, err, strings.Join(w.Schedule(), ", "))
	case underway && err != nil:
		for _, n := range h.Tree {
			if n.Owner>>12 == 1 && !slices.Contains(znodes(), n.Path) {
				t.Fatalf("%q after %d steps: left behind: %s\n%s", fault, after, n.Path, strings.Join(w.Schedule(), ", "))
			}
		}
	}
	return underway && !s.waits, w.Schedule()
}

// locked is what c2 does to hold a lock.
func locked(l func(a actor) locker) func(a actor) func() {
	return func(a actor) func() {
		x := l(a)
		a.is("Lock", x.Lock(ctx), nil)
		return func() { a.is("Unlock", x.Unlock(ctx), nil) }
	}
}

func plainLock(a actor) locker {
	return recipes.NewLock(a.Conn, a.env, "/lock", recipes.LockOptions{})
}
func singleLock(a actor) locker {
	return recipes.NewSingleNodeLock(a.Conn, a.env, "/lock", recipes.LockOptions{})
}
func rwLock(a actor) *recipes.RWLock {
	return recipes.NewRWLock(a.Conn, a.env, "/lock", recipes.LockOptions{})
}
func revocableLock(a actor) *recipes.RevocableLock {
	return recipes.NewRevocableLock(a.Conn, a.env, "/lock", recipes.LockOptions{})
}
