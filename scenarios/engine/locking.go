package engine

import (
	"context"
	"errors"

	"zksim/recipes"
)

// Lock records lock as the operation "lock". The fault "cancel" may cancel its context, which is no
// error: then it is not held, as with one. The holder records Acquired next.
func (o Object) Lock(lock func(ctx context.Context) error) (held bool, err error) {
	return o.Attempt("lock", lock)
}

// TryLock records tryLock as the operation "trylock". It is no error that the lock is taken, which
// tryLock says by recipes.ErrLocked or one of the errors in taken; nor that its context is cancelled, as in Lock.
func (o Object) TryLock(tryLock func(ctx context.Context) error, taken ...error) (held bool, err error) {
	return o.Attempt("trylock", tryLock, taken...)
}

// Unlock records unlock as the operation "unlock", which is not cancelled. The holder has recorded
// Released before.
func (o Object) Unlock(unlock func(ctx context.Context) error) error { return o.Must("unlock", unlock) }

// Attempt records an operation that may be cancelled or refused, which is no failure:
// then it has not succeeded, and err is nil.
func (o Object) Attempt(op string, f func(ctx context.Context) error, refusals ...error) (ok bool, err error) {
	ctx, end := o.p.Interruptible()
	defer end()
	o.Invoke(op)
	err = f(ctx)
	refusals = append([]error{recipes.ErrLocked}, refusals...)
	o.Return(op, err, refusals...)
	if isOne(err, refusals) || errors.Is(err, context.Canceled) {
		return false, nil
	}
	return err == nil, err
}

// Must records an operation that is not cancelled.
func (o Object) Must(op string, f func(ctx context.Context) error) error {
	o.Invoke(op)
	err := f(context.Background())
	o.Return(op, err)
	return err
}
