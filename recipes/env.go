package recipes

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"
)

// Env is how a recipe blocks, tells time, starts concurrent work and makes
// names. The live one (package recipes/live) is a thin layer over Go; the
// simulated one parks the caller in the scheduler.
type Env interface {
	// Now returns the current time.
	Now() time.Time

	// Sleep returns nil after d, or ctx.Err() as soon as ctx is done.
	Sleep(ctx context.Context, d time.Duration) error

	// Await blocks until one of chans yields an event and returns its index
	// and the event; a closed channel yields the zero event. Of several ready
	// channels the first in the argument list wins, and a ready channel wins
	// over a done context. A nil channel is never ready. When ctx is done
	// first, Await returns -1 and ctx.Err().
	Await(ctx context.Context, chans ...<-chan zk.Event) (i int, ev zk.Event, err error)

	// WithTimeout is context.WithTimeout on this Env's clock.
	WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)

	// Go runs f concurrently. The name appears in schedules and reports.
	Go(name string, f func())

	// Within runs f, which makes one request of the connection and does nothing else, and
	// returns true when it has ended. When ctx is done first, Within returns false at once. The
	// request then takes its course without the caller: whether it is executed is as unknown as
	// after zk.ErrConnectionClosed, and nobody may look at what f writes. When ctx is done
	// before the call, f does not begin.
	Within(ctx context.Context, f func()) bool

	// Undo is Go for an f that removes what earlier requests may have left behind: f begins
	// when the requests that calls of Within have left to themselves so far have ended, so that
	// none of them can come after those of f.
	Undo(name string, f func())

	// UUID returns 32 lower-case hexadecimal digits that no other call on any
	// client returns.
	UUID() string

	// SessionEvents returns a fresh channel that gets the next change of the
	// session's state: one event of type zk.EventSession whose State is
	// StateDisconnected, StateExpired, StateHasSession or StateAuthFailed, and
	// is then closed. The channel has room for the event, so len tells whether
	// it has arrived. After the connection was closed for good, the event has
	// Err zk.ErrClosing, at once on channels asked for later. A channel takes
	// up memory until it has fired: code that runs often on a stable session
	// should keep one rather than ask anew.
	SessionEvents() <-chan zk.Event
}

// Hints is what an Env may have, too. Code says by them what it does not remember, see [Forget] and [Keep].
type Hints interface {
	// Forget makes exhaustive search quicker, and does nothing else. It says that a piece
	// of code begins that keeps little of what it sees. The function that it returns is
	// called by the same goroutine where the piece ends, with pointers to all that the
	// client's code still has of it then, after the piece, started in it, or in another
	// goroutine: results, and fields of objects.
	// States that differ only in what else was seen are then one state. Typically,
	//
	//	defer recipes.Forget(env)(&name, &err)
	//
	// begins a function whose results are called that. What is kept is followed through
	// pointers, slices, maps and structs; of a context it counts whether it has ended and which deadline
	// it has, and functions count as constants. Until a client's code calls Forget or Keep, its goroutines
	// count as one, which knows all. From then on, a goroutine that was started counts as having told its
	// starter what it has seen outside of pieces that have not ended; one that looks at what others have
	// written otherwise says so by Forget(env)(&value). What is taken from a channel that others still
	// have is kept, too. Of two pieces one must end before the other begins, or be inside of
	// it. Where a search has ended otherwise without this ("-without forget") a piece has
	// kept more than it said.
	Forget() func(kept ...any)

	// Keep is for a loop in a piece of code that Forget has begun, or in a goroutine that Go
	// has: at this moment only kept is left of all that it has seen.
	Keep(kept ...any)
}

// Forget is the method of env's [Hints]; it does nothing if env has none.
func Forget(env Env) func(kept ...any) {
	if h, ok := env.(Hints); ok {
		return h.Forget()
	}
	return func(...any) {}
}

// Keep is the method of env's [Hints]; it does nothing if env has none.
func Keep(env Env, kept ...any) {
	if h, ok := env.(Hints); ok {
		h.Keep(kept...)
	}
}
