package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/engine"
)

// How often an operation of a preset is tried in all, and how long its caller waits in between. Faults are over before
// that many tries.
const (
	attempts = 20
	nap      = 100 * time.Millisecond
)

// Interrupted reports whether an error only says that the connection or the session was lost: the operation may or may
// not have happened. The error of a failed write to the socket counts too.
func Interrupted(err error) bool {
	lost := []error{zk.ErrConnectionClosed, zk.ErrNoServer, zk.ErrSessionExpired, zk.ErrSessionMoved}
	var network interface{ Timeout() bool }
	return slices.ContainsFunc(lost, func(x error) bool { return errors.Is(err, x) }) ||
		errors.As(err, &network) && !errors.Is(err, context.DeadlineExceeded)
}

// patient makes an operation that is retried when the connection was lost, as callers do for recipes that leave this to
// them. What a failed try leaves behind is up to the recipe.
func patient(p *engine.Process, f func(ctx context.Context) error) func(ctx context.Context) error {
	return again(p, Interrupted, f)
}

// again makes an operation that is retried after some errors.
func again(p *engine.Process, after func(err error) bool, f func(ctx context.Context) error,
) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		for n := 1; ; n++ {
			err := f(ctx)
			if n == attempts || !after(err) {
				return err
			}
			if p.Env.Sleep(ctx, nap) != nil {
				return ctx.Err()
			}
		}
	}
}

// thorough is patient for an operation that removes something: it is no failure if a later try finds it gone.
func thorough(p *engine.Process, f func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		again := false
		return patient(p, func(ctx context.Context) error {
			err := f(ctx)
			if again && errors.Is(err, zk.ErrNoNode) {
				return nil
			}
			again = true
			return err
		})(ctx)
	}
}

// unknown adds recipes.ErrUnknownOutcome to an error that says that the connection was lost.
func unknown(err error) error {
	if Interrupted(err) && !errors.Is(err, recipes.ErrUnknownOutcome) {
		return fmt.Errorf("%w: %w", recipes.ErrUnknownOutcome, err)
	}
	return err
}
