package ensemble

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// hangs is the error of something that neither ends nor heeds its context, as when two of its goroutines wait for each
// other.
type hangs struct {
	cause  error  // why it was to end
	stacks string // what all goroutines do
}

// Error implements error.
func (h *hangs) Error() string {
	return fmt.Sprintf("it was to end (%v) and still goes on %v later: it hangs", h.cause, hangGrace)
}

// hangGrace is for how long something may go on when its context is done: to let servers and sessions go takes less.
const hangGrace = 3 * time.Minute

// watched does something, and leaves it behind if it hangs. It takes no lock: those of do may be what it waits for.
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

// allStacks returns the stacks of all goroutines.
func allStacks() string {
	for n := 1 << 16; ; n *= 2 {
		if text := make([]byte, n); runtime.Stack(text, true) < n {
			return string(text[:runtime.Stack(text, true)])
		}
	}
}
