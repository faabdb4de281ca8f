package ensemble

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"zksim/internal/zkserver"
)

// hangs is the error of a function that neither ends nor heeds its context, for example because two of its goroutines
// wait for each other.
type hangs struct {
	cause  error  // why it had to end
	stacks string // what all goroutines do
}

// Error implements error.
func (h *hangs) Error() string {
	return fmt.Sprintf("it was to end (%v) and still goes on %v later: it hangs", h.cause, hangGrace)
}

// hangGrace is how long a function may go on when its context is done. Releasing servers and sessions takes less.
const hangGrace = 3 * time.Minute

// watched calls do, and leaves it behind if it hangs. It takes no lock, because do may be waiting for it.
func watched(ctx context.Context, do func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- do() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace := time.NewTimer(hangGrace)
	defer grace.Stop()
	select {
	case err := <-ended:
		return err
	case <-grace.C:
		return &hangs{context.Cause(ctx), allStacks()}
	}
}

// errDead is why a run ends whose ensemble has lost a server. [Aborted] names the server.
var errDead = errors.New("the run has ended early")

// alive returns a context that is done, with errDead, when a server of ours has died by itself. The returned function
// must be called.
func alive(ctx context.Context, ours *zkserver.Ensemble) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	if ours != nil {
		go func() {
			if until(ctx, func() bool { return len(ours.Died()) > 0 }) == nil {
				end(errDead)
			}
		}()
	}
	return ctx, func() { end(nil) }
}

// allStacks returns the stacks of all goroutines.
func allStacks() string {
	for n := 1 << 16; ; n *= 2 {
		if text := make([]byte, n); runtime.Stack(text, true) < n {
			return string(text[:runtime.Stack(text, true)])
		}
	}
}
