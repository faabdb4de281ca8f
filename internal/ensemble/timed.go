//zksim:ignore only on a real ensemble
package ensemble

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
	"zksim/recipes"
)

// timed is the environment of a program that waits for times to come; while it does, it does not count as waiting
// forever. As in the simulator, once the faults are over, time passes only when nothing else can happen. So timers that
// are then due also wait, within reason, until nothing goes on, and fire one after the other ([liveRun.turn]).
type timed struct {
	recipes.Env
	run *liveRun
}

// Go implements [recipes.Env]. As in the simulator, a panic of the goroutine is a verdict, and not the end of all runs.
func (t timed) Go(name string, f func()) {
	t.Env.Go(name, func() {
		defer t.run.panics()
		f()
	})
}

// Within implements [recipes.Env], whose function may run in a goroutine, too.
func (t timed) Within(ctx context.Context, f func()) bool {
	return t.Env.Within(ctx, func() {
		defer t.run.panics()
		f()
	})
}

// Sleep implements [recipes.Env].
func (t timed) Sleep(ctx context.Context, d time.Duration) error {
	if d > t.run.o.Timeout/2 {
		defer t.run.host.asleep(time.Now().Add(d))()
	}
	return t.sleep(ctx, d)
}

// asleep records until when a program is not expected to go on, until the function that it returns is called.
func (h *liveHost) asleep(due time.Time) (awake func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got = later(h.got, due)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if now := time.Now(); h.got.Equal(due) && now.Before(due) {
			h.got = now
		}
	}
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// sleep is Sleep for timers, for which nobody has to wait.
func (t timed) sleep(ctx context.Context, d time.Duration) error {
	t.run.timer(1)
	defer t.run.timer(-1)
	due := time.Now().Add(d)
	if err := t.Env.Sleep(ctx, d); err != nil {
		return err
	}
	t.run.turn(ctx, due)
	return ctx.Err()
}

// WithTimeout implements [recipes.Env].
func (t timed) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	l := &limited{Context: ctx, due: time.Now().Add(d), done: make(chan struct{})}
	inner, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		if t.sleep(inner, d) == nil {
			l.end(context.DeadlineExceeded)
		} else if err := ctx.Err(); err != nil {
			l.end(err)
		}
	}()
	return l, func() {
		l.end(context.Canceled)
		cancel()
	}
}

// limited is a context that ends when its timer has its turn.
type limited struct {
	context.Context
	due  time.Time
	done chan struct{}

	mu  sync.Mutex
	err error
}

// Deadline implements [context.Context].
func (l *limited) Deadline() (time.Time, bool) {
	if due, ok := l.Context.Deadline(); ok && due.Before(l.due) {
		return due, true
	}
	return l.due, true
}

// Done implements [context.Context].
func (l *limited) Done() <-chan struct{} { return l.done }

// Err implements [context.Context].
func (l *limited) Err() error {
	if err := l.Context.Err(); err != nil {
		l.end(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// end ends the context, unless it has ended.
func (l *limited) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
		close(l.done)
	}
}

// timer counts the timers that programs wait for.
func (x *liveRun) timer(n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.timers += n
	x.spoken = time.Now()
}

// pending is a timer that is due after the faults.
type pending struct{ due time.Time }

// Limits of a turn.
const (
	oversleep = 10 * time.Second // how late a timer may fire
	looks     = 3                // how many checks in a row must find that nothing goes on
)

// turn waits until a timer that is due may fire: after the faults, not before timers that were due earlier, and not
// while anything goes on. It counts checks to see whether anything goes on, because a busy machine takes its time. It
// gives up waiting after a while.
func (x *liveRun) turn(ctx context.Context, due time.Time) {
	x.mu.Lock()
	over, last := x.over, false
	if !over && x.free > 0 {
		x.free--
		last = x.free == 0
	}
	x.mu.Unlock()
	if last {
		x.calm()
	}
	if over && !x.comes(ctx, due, oversleep, x.still, nil) && ctx.Err() == nil {
		x.host.hurries()
	}
}

// haste returns how many timers fire, in a run without faults, before time passes only when nothing else can happen. In
// the simulator, too, time passes at first while other things happen, and that catches mutants that sleep or give up at
// the wrong moment. Other mutants need runs without it.
func (x *liveRun) haste() int {
	const most = 8
	if len(x.o.Faults) > 0 || x.o.Seed%2 == 1 || x.o.Seed == 0 {
		return 0 // with faults, time passes like that until they are over
	}
	return 1 + int(x.o.Seed/2%most)
}

// calm records that the faults are over, unless that was recorded.
func (x *liveRun) calm() {
	x.mu.Lock()
	known := x.over
	x.over = true
	x.mu.Unlock()
	if !known {
		x.host.hear(history.Event{Kind: history.Calm})
		x.diary.Tell("calm")
	}
}

// hurry waits, in a run without faults, until as many timers have fired as may, or no more will.
func (x *liveRun) hurry(ctx context.Context, ended <-chan int) error {
	defer x.host.rests.end()
	end, lull := time.Now().Add(faultsLimit), x.lull(graceOfEnds, x.idle)
	err := until(ctx, func() bool {
		x.mu.Lock()
		over := x.over
		x.mu.Unlock()
		_, idle := lull()
		return over || idle || x.collect(ended)+x.host.rests.count() >= len(x.clients) || time.Now().After(end)
	})
	x.calm()
	return err
}

// comes waits until nothing goes on and no timer was due earlier, and records that moment and the events in told. It
// reports whether that happened within a limit.
func (x *liveRun) comes(
	ctx context.Context, due time.Time, limit time.Duration, still func() bool, told []history.Event) bool {
	p := &pending{due}
	x.mu.Lock()
	x.pending = append(x.pending, p)
	x.mu.Unlock()
	defer x.passes(p)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	lull := x.lull(looks, func() bool { return x.first(p) && still() })
	return until(limited, func() bool {
		n, ok := lull()
		return ok && x.host.moment(n, told)
	}) == nil
}

// lull returns a function to be called repeatedly. It returns the number of events, and whether that number has not
// changed, and everything was still, for that many calls.
func (x *liveRun) lull(looks int, still func() bool) func() (int, bool) {
	seen, times := -1, 0
	return func() (int, bool) {
		if n := x.host.count(); n != seen || !still() {
			seen, times = n, -1
		}
		times++
		return seen, times >= looks
	}
}

// first reports whether no other timer was due before p.
func (x *liveRun) first(p *pending) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !slices.ContainsFunc(x.pending, func(q *pending) bool { return q.due.Before(p.due) })
}

// passes records that a timer fires, or never will.
func (x *liveRun) passes(p *pending) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pending = slices.DeleteFunc(x.pending, func(q *pending) bool { return q == p })
}

// still reports whether all connections exist, and nothing is on its way.
func (x *liveRun) still() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, t := range x.taps {
		if !x.closed[i] && (x.state[i] != zk.StateHasSession || t.Open() > 0) {
			return false
		}
	}
	return true
}

// restLimit is how long a program that wants to rest may wait for that.
const restLimit = 5 * time.Second

// rest waits until nothing goes on and no timer is left, and records told then. Programs that rest go on one after the
// other.
func (x *liveRun) rest(told history.Event) {
	due := time.Now().Add(time.Hour) // after all others
	if !x.comes(x.host.ctx, due, restLimit, x.idle, []history.Event{told}) {
		x.host.hurries()
	}
}

// idle reports whether nothing is on its way, and no timer is left.
func (x *liveRun) idle() bool {
	x.mu.Lock()
	timers := x.timers
	x.mu.Unlock()
	return timers == 0 && x.still()
}
