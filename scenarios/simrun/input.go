package simrun

import (
	"context"
	"errors"
	"io"
)

// input is a file that a command reads. While it waits for data that is not there yet, as from a pipe, the first signal
// ends the command: nothing is done yet that could be lost.
type input struct {
	ctx context.Context
	io.ReadCloser
}

// Read implements [io.Reader].
func (x input) Read(p []byte) (int, error) {
	own := make([]byte, len(p)) // the read may end later than this call
	n, err := until(x.ctx, func() (int, error) { return x.ReadCloser.Read(own) })
	copy(p, own[:n])
	return n, err
}

// errNoInput says that the first signal came before the input.
var errNoInput = errors.New("interrupted before the input had ended")

// until returns what f does, or errNoInput if ctx is done first. Then nobody waits for f any more. Without a context it
// waits for f.
func until[T any](ctx context.Context, f func() (T, error)) (T, error) {
	if ctx == nil {
		return f()
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, errNoInput
	}
}
