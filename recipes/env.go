package recipes

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"
)

// Env is how a recipe blocks, tells time, starts concurrent work and makes names. The live Env (package recipes/live)
// is a thin layer over Go; the simulated one parks the caller in the scheduler.
type Env interface {
	// Now returns the current time.
	Now() time.Time

	// Sleep returns nil after d, or ctx.Err() as soon as ctx is done.
	Sleep(ctx context.Context, d time.Duration) error

	// Await blocks until one of chans yields an event and returns its index and the event; a closed channel yields the
	// zero event. If several channels are ready, the first in the argument list wins; a ready channel wins over a done
	// context. A nil channel is never ready. When ctx is done first, Await returns -1 and ctx.Err().
	Await(ctx context.Context, chans ...<-chan zk.Event) (i int, ev zk.Event, err error)

	// WithTimeout is context.WithTimeout on this Env's clock.
	WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)

	// Go runs f concurrently. The name appears in schedules and reports.
	Go(name string, f func())

	// Within runs f, which makes one request of the connection and does nothing else, and returns true when f has ended.
	// When ctx is done first, Within returns false at once, and the request goes on without the caller: as after
	// zk.ErrConnectionClosed, nobody knows whether it is executed, and nobody may look at what f writes. When ctx is
	// done before the call, f does not begin.
	Within(ctx context.Context, f func()) bool

	// Undo is Go for an f that removes what earlier requests may have left behind. f begins when all requests have ended
	// that calls of Within have abandoned so far, so that none of them can come after the requests of f.
	Undo(name string, f func())

	// UUID returns 32 lower-case hexadecimal digits that no other call on any
	// client returns.
	UUID() string

	// SessionEvents returns a new channel that gets the next change of the session's state and is then closed. The
	// change is one event of type zk.EventSession whose State is StateDisconnected, StateExpired, StateHasSession or
	// StateAuthFailed. The channel has room for the event, so len tells whether it has arrived. After the connection was
	// closed for good, the event has Err zk.ErrClosing; channels requested later get it at once. A channel takes up
	// memory until it has fired: code that runs often on a stable session should keep one rather than ask for new ones.
	SessionEvents() <-chan zk.Event
}

// Hints are methods that an Env may also have. With them code says what it does not remember; see [Forget] and
// [Keep].
type Hints interface {
	// Forget makes exhaustive search faster, and does nothing else. It says that a piece of code begins that keeps
	// little of what it sees. Where the piece ends, the same goroutine calls the function that Forget has returned, with
	// pointers to everything that the client's code still has of what the piece has seen: results and fields of objects,
	// whether for the code after the piece, for goroutines started in it, or for other goroutines. States that differ
	// only in what else was seen are then one state. Typically,
	//
	//	defer recipes.Forget(env)(&name, &err)
	//
	// is the first line of a function with these results. What is kept is followed through pointers, slices, maps, structs
	// and channels. Of a context its deadline, its values and whether it has ended count; of a function, which one it is.
	// Until a client's code calls Forget, its goroutines count as one, which knows everything. From then on, a goroutine
	// that was started counts as having told its starter what it has seen outside of pieces that have not ended; a
	// goroutine that looks otherwise at what others have written says so by Forget(env)(&value). What is taken from a
	// channel that others still have is kept too. Of two pieces, one must end before the other begins, or be inside the
	// other. If a search ends differently without Forget ("-without forget"), a piece has kept more than it said.
	Forget() func(kept ...any)

	// Keep is for a loop in a piece of code that Forget has begun, or in a goroutine that Go has started since: at this
	// moment only kept is left of everything that it has seen. Elsewhere it does nothing.
	Keep(kept ...any)
}

// Forget calls the method of env's [Hints]; it does nothing if env has none.
func Forget(env Env) func(kept ...any) {
	if h, ok := env.(Hints); ok {
		return h.Forget()
	}
	return func(...any) {}
}

// Keep calls the method of env's [Hints]; it does nothing if env has none.
func Keep(env Env, kept ...any) {
	if h, ok := env.(Hints); ok {
		h.Keep(kept...)
	}
}
