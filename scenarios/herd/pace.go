package herd

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"zksim/model/history"
	"zksim/sim"
)

// pace says when the programs of an experiment act.
type pace interface {
	arrive(p *Process)                    // returns when the client may come
	behind(p *Process)                    // returns when the driver has done what it does before its Opening
	open(p *Process, after time.Duration) // returns so long after the measurement has begun
	turn(p *Process)                      // returns when it is the client's turn; they come in the order of their numbers
	// returns when what has happened has had all its effects; never once enough has happened
	settle(p *Process)
	rest(p *Process, d time.Duration) // returns after that time
	next(p *Process)                  // returns when another client has gone on after this one, if there is another
	went(p *Process)                  // hears that the client has gone on
}

// Rest waits.
func (p *Process) Rest(d time.Duration) { p.pace.rest(p, d) }

// BehindDriver waits until the driver has done what it does before its Opening, for programs that need it to be first.
func (p *Process) BehindDriver() { p.pace.behind(p) }

// Opening waits until the given time after the measurement begins. It returns at once if that time is over.
func (p *Process) Opening(after time.Duration) { p.pace.open(p, after) }

// Turn waits until the measurement has begun and it is this client's turn to do what all do one after the other.
func (p *Process) Turn() { p.pace.turn(p) }

// Settle waits until everybody has looked at what has happened, and waits again. It does not return once enough has
// happened, so that a measurement ends with all effects of its last event and without a new one.
func (p *Process) Settle() { p.pace.settle(p) }

// timetable is the pace of the simulator, shared by all programs of a run. All times are set beforehand.
type timetable struct {
	began   time.Time     // nearly the same for all
	opening time.Duration // by then everybody waits
	pause   time.Duration // after a change all have looked, and wait again

	events, seen int           // how many events are enough, and have been
	early        int           // events before the measurement began
	last         time.Duration // when the last one was, since began
}

// newTimetable makes the timetable of a variant. A herd needs time to come and to go, so all times grow with its size.
func newTimetable(v *Variant, clients int) *timetable {
	n := time.Duration(clients)
	t := &timetable{opening: 500*time.Millisecond + n*2*time.Millisecond, pause: 5*time.Millisecond + n*time.Millisecond/4,
		events: v.Events(clients)}
	if v.Brisk {
		t.opening, t.pause = 500*time.Millisecond+n*comes, 5*time.Millisecond+min(n, 40)*time.Millisecond/4
	}
	slower := cmp.Or(v.Timing.Link, sim.DefaultTiming.Link) / sim.DefaultTiming.Link
	t.opening, t.pause = t.opening*slower, t.pause*slower
	return t
}

// missing says how many events have been where more were expected, and where the others may be.
func (t *timetable) missing() string {
	s := fmt.Sprintf("%d of %s happened in %v", t.seen, history.Counted(t.events, "event"), t.limit())
	if t.early > 0 {
		s += fmt.Sprintf(", and %d before the measurement began, see Process.Opening", t.early)
	}
	return s
}

// limit is when a run that has not ended is given up.
func (t *timetable) limit() time.Duration {
	return 2*t.opening + 10*time.Second + time.Duration(4*t.events)*t.pause
}

// over reports whether the measurement has ended, with all effects of its last event.
func (t *timetable) over(h *history.History, now time.Duration) bool {
	return t.seen >= t.events && now > t.last+t.pause || now > t.limit() || len(h.Failed) > 0
}

// Clients come in groups, because each reads the list of those that are there: a whole group gets the same list.
const (
	group = 1000                   // at least
	comes = 250 * time.Microsecond // for each client
)

func (t *timetable) arrive(p *Process) {
	size := max(group, p.N/16)
	if before := (p.ID - 1) / size; before > 0 {
		t.rest(p, time.Duration(before*size)*comes)
	}
}

// driverFirst is longer than a driver takes that nobody disturbs.
const driverFirst = 100 * time.Millisecond

func (t *timetable) behind(p *Process) { t.rest(p, driverFirst) }

func (t *timetable) open(p *Process, after time.Duration) {
	if d := t.opening + after - p.Env.Now().Sub(t.began); d > 0 {
		t.rest(p, d)
	}
}

func (t *timetable) turn(p *Process) {
	t.open(p, time.Duration(p.ID)*(time.Millisecond+t.pause/2))
}

func (t *timetable) settle(p *Process) {
	t.rest(p, t.pause)
	if t.seen >= t.events {
		t.rest(p, t.limit())
	}
}

func (t *timetable) next(p *Process) { t.rest(p, 2*time.Millisecond) }

func (t *timetable) rest(p *Process, d time.Duration) { p.Env.Sleep(context.Background(), d) }

func (t *timetable) went(p *Process) {
	now := p.Env.Now().Sub(t.began)
	if now < t.opening {
		t.early++
		return
	}
	t.seen++
	t.last = now
}
