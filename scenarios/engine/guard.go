package engine

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"zksim/internal/stacks"
	"zksim/sim"
)

// Guard watches over client code in any number of runners while they run. It looks at the goroutines now and then, and
// finds client code that waits other than by its Conn and Env, that has started a goroutine by itself, or that does not
// give up control. What it takes for waiting does not depend on how busy the machine is: a goroutine that is only short
// of a processor does not wait.
type Guard struct {
	stuck time.Duration

	mu      sync.Mutex
	clients map[uint64]origin // by goroutine

	turn    atomic.Uint64 // of client code, odd during a turn
	counted atomic.Bool   // somebody counts turns

	dump  stacks.Dump
	since map[uint64]*stretch // by goroutine, under mu

	passed time.Duration // time spent watching; see pass
	last   time.Time     // when it looked last
}

// origin says whose code a goroutine runs.
type origin struct {
	client int
	of     *watched
}

// stretch is how long a goroutine has been doing the same each time that the guard looked.
type stretch struct {
	waits stacks.Wait
	began time.Duration
	looks int
}

// How long client code may do what is not a misuse in itself: wait for a lock, and go on without a call.
const (
	usuallyLocked = 2 * time.Second
	usuallyStuck  = 30 * time.Second
	fewestLooks   = 5 // in that time
)

// hitch is by how much a pause of the guard may exceed its plan. Client code could not run in the time beyond that: a
// debugger has stopped the process, or the machine was asleep.
const hitch = 100 * time.Millisecond

// pass advances the guard's own clock, by at most twice the planned pause and a hitch.
func (g *Guard) pass(now time.Time, meant time.Duration) {
	if !g.last.IsZero() {
		g.passed += min(now.Sub(g.last), 2*meant+hitch)
	}
	g.last = now
}

// NewGuard returns a guard that lets client code keep control for that long; 0: 30 seconds.
func NewGuard(stuck time.Duration) *Guard {
	if stuck == 0 {
		stuck = usuallyStuck
	}
	return &Guard{stuck: stuck, clients: map[uint64]origin{}, since: map[uint64]*stretch{}}
}

// Watch makes the guard watch over the runs of r from now on. It must not be called during a run.
func (g *Guard) Watch(r *Runner) { g.watch(r) }

// workers runs work in n goroutines, each with a runner that the guard watches over, until all of them have ended. If
// the guard finds something it calls stop, and waits for them only as long as for a run that is known to be worthless.
func (g *Guard) workers(
	n int, s *Scenario, strategy Strategy, work func(r *Runner, w *watched), stop func(),
) ([]*watched, error) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	all := make([]*watched, n)
	for i := range all {
		r := NewRunner()
		r.Strategy = strategy
		all[i] = g.watch(r)
		all[i].name = s.Name
		wg.Go(func() { work(r, all[i]) })
	}
	go func() {
		wg.Wait()
		close(done)
	}()
	err := g.Until(done, nil)
	if err != nil {
		stop()
		ends(done)
	}
	return all, err
}

func (g *Guard) watch(r *Runner) *watched {
	w := &watched{guard: g, runner: r}
	r.world.Watch = w
	return w
}

// How long a turn of client code lasts, while the guard looks all the time, until it looks at the goroutines, and how
// often it looks at them anyway.
const (
	suspicious = 30 * time.Microsecond
	anyway     = 2 * time.Millisecond
)

// Until watches client code until done is closed, and returns what it has found; nil if there is nothing. While strict
// is not nil and returns true, it looks all the time, so that it finds even a short wait. Otherwise it looks so rarely
// that this takes at most one hundredth of the time.
func (g *Guard) Until(done <-chan struct{}, strict func() bool) error {
	begin := time.Now()
	cost := 100 * time.Microsecond // average, of a look
	meant := anyway
	for {
		at := time.Now()
		g.pass(at, meant+cost)
		if err := g.look(); err != nil {
			return err
		}
		cost = min(time.Since(at), cost+cost/8) // it seems to take long while others are busy
		if strict != nil && strict() {
			meant = anyway
			if g.busyWait(done) {
				return g.look()
			}
			continue
		}
		meant = max(anyway, 100*cost, min(time.Since(begin)/50, 100*time.Millisecond))
		pause := time.NewTimer(meant)
		select {
		case <-done:
			pause.Stop()
			return g.look()
		case <-pause.C:
		}
	}
}

// busyWait waits until there is a reason to look, and reports whether done was closed. A timer would be too slow for
// waits of a millisecond.
func (g *Guard) busyWait(done <-chan struct{}) bool {
	begin := time.Now()
	turn, since := g.turn.Load(), begin
	for now := begin; now.Sub(begin) < anyway; now = time.Now() {
		select {
		case <-done:
			return true
		default:
		}
		if x := g.turn.Load(); x != turn || g.counted.Load() && x%2 == 0 {
			turn, since = x, now
		} else if now.Sub(since) >= suspicious {
			return false
		}
		runtime.Gosched()
	}
	return false
}

// look looks once at all goroutines.
func (g *Guard) look() (err error) {
	g.dump.Each(func(x stacks.Goroutine) bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		if at, ours := g.clients[x.ID]; ours {
			err = g.judge(&x, at)
		} else if id, by := x.Parent(); id != 0 && by.Starts() {
			if at, ours := g.clients[id]; ours {
				frames, _ := stacks.Client(x.Frames())
				err = at.misuse("starts a goroutine otherwise than by Env.Go", append(frames, stacks.Started(by)))
			}
		}
		return err == nil
	})
	return err
}

// judge judges what a goroutine of client code is doing.
func (g *Guard) judge(x *stacks.Goroutine, at origin) error {
	if x.Parked() {
		delete(g.since, x.ID)
		return nil
	}
	waits := x.Waits()
	s := g.since[x.ID]
	if s == nil || s.waits != waits {
		s = &stretch{waits: waits, began: g.passed}
		g.since[x.ID] = s
	}
	s.looks++
	took := g.passed - s.began
	long := func(limit time.Duration) bool { return took >= min(limit, g.stuck) && s.looks >= fewestLooks }
	switch frames, _ := stacks.Client(x.Frames()); {
	case len(frames) == 0: // it has just begun, or is about to end
		return nil
	case waits == stacks.Event:
		return at.misuse(fmt.Sprintf("waits otherwise than by its Conn and Env (%s)", x.State), frames)
	case waits == stacks.Lock && long(usuallyLocked):
		limit := min(usuallyLocked, g.stuck)
		return at.misuse(fmt.Sprintf("has waited for %v otherwise than by its Conn and Env (%s)", limit, x.State), frames)
	case waits == stacks.Not && long(g.stuck):
		return at.misuse(fmt.Sprintf("has kept control for %v without a call of its Conn or Env", g.stuck), frames)
	}
	return nil
}

// misuse returns the error about a client.
func (o origin) misuse(what string, frames []stacks.Frame) error {
	m := &sim.Misuse{Client: o.client, Message: fmt.Sprintf("c%d %s", o.client, what), Stack: stacks.Text(frames)}
	return o.of.where(m)
}

// watched connects a guard and one runner. It implements [sim.Watch].
type watched struct {
	guard  *Guard
	runner *Runner
	name   string // of the scenario; "": where leaves it out
	seed   uint64 // guard.mu
	turns  turns
}

// where adds to a misuse the run in which it was found.
func (w *watched) where(m *sim.Misuse) error {
	if w.name == "" {
		return m
	}
	return fmt.Errorf("%s, seed %d: %w", w.name, w.seed, m)
}

// begins tells the guard that the run of a seed begins.
func (w *watched) begins(seed uint64) {
	w.guard.mu.Lock()
	w.seed = seed
	w.guard.mu.Unlock()
	w.turns.begin()
}

// Runs implements [sim.Watch].
func (w *watched) Runs(goroutine uint64, client int) {
	g := w.guard
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clients[goroutine] = origin{client, w}
	delete(g.since, goroutine)
}

// Resume implements [sim.Watch].
func (w *watched) Resume(made int) {
	w.turns.resume(made)
	w.guard.turn.Add(1)
}

// Park implements [sim.Watch].
func (w *watched) Park(client int, goroutine uint64, made int) {
	w.guard.turn.Add(1)
	w.turns.park(client, goroutine, made)
}
