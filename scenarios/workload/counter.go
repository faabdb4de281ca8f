package workload

import (
	"context"
	"errors"
	"strconv"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// Counter is a counter under test, a number that begins at zero. It may also be [Reading] and [Swapping].
type Counter interface {
	// Add adds delta and returns the sum. After an error of the connection, or recipes.ErrUnknownOutcome, nobody knows
	// whether it was added. After zk.ErrBadVersion, which may be wrapped, it was not added because another change was
	// faster, and the caller retries. With only the error of ctx it was not added and never will be.
	Add(ctx context.Context, delta int64) (sum int64, err error)
}

// Reading is a counter that returns its number, which includes all changes that ended before the call.
type Reading interface {
	Get(ctx context.Context) (int64, error)
}

// Swapping is a counter that changes old to next and reports whether it was old. Its errors are those of Add.
type Swapping interface {
	CompareAndSet(ctx context.Context, old, next int64) (swapped bool, err error)
}

// FullCounter is a counter that reports all that can be judged.
type FullCounter interface {
	Counter
	Reading
	Swapping
}

// someCounter is a counter with those methods of a [FullCounter] that the recipe has; the others are nil.
type someCounter struct {
	add  func(ctx context.Context, delta int64) (int64, error)
	get  func(ctx context.Context) (int64, error)
	swap func(ctx context.Context, old, next int64) (bool, error)
}

// counterOf adds to a counter what the programs need.
func counterOf(p *engine.Process, c Counter) someCounter {
	x := someCounter{add: func(ctx context.Context, delta int64) (sum int64, err error) {
		err = changing(p, func(ctx context.Context) error {
			sum, err = c.Add(ctx, delta)
			return err
		})(ctx)
		return sum, unknown(err)
	}}
	if y, ok := c.(Reading); ok {
		x.get = func(ctx context.Context) (n int64, err error) {
			err = patient(p, func(ctx context.Context) error {
				n, err = y.Get(ctx)
				return err
			})(ctx)
			return n, err
		}
	}
	if y, ok := c.(Swapping); ok {
		x.swap = func(ctx context.Context, old, next int64) (swapped bool, err error) {
			err = changing(p, func(ctx context.Context) error {
				swapped, err = y.CompareAndSet(ctx, old, next)
				return err
			})(ctx)
			return swapped, unknown(err)
		}
	}
	return x
}

// changing makes a change that is retried when another one was faster.
func changing(p *engine.Process, f func(ctx context.Context) error) func(ctx context.Context) error {
	return again(p, func(err error) bool { return errors.Is(err, zk.ErrBadVersion) }, f)
}

// Counters returns the scenario of a user's counter: three clients add, look, and change what they have seen, under
// every fault.
func Counters[C Counter](name string, newCounter func(p *engine.Process) C) engine.Scenario {
	s := preset(name, "a counter under every fault", 4, "watch-delay", "overtake") // nobody watches
	s.Program = countRounds(func(p *engine.Process) someCounter { return counterOf(p, newCounter(p)) })
	s.Checkers = CounterCheckers
	s.Goals = []engine.Goal{goalLostWrite}
	return WithDefaults(s, 3).Without("tree") // no znode is ephemeral
}

// CounterCheckers are what every counter must satisfy.
var CounterCheckers = []checkers.Checker{checkers.Counter{}, checkers.Liveness{}, checkers.Quiescence{},
	checkers.Tree{}, checkers.Steps{}}

// CountRounds makes a program that adds, looks, and changes what it has seen, in each round. In a brief run one client
// adds and the other does the rest.
func CountRounds(newCounter func(p *engine.Process) FullCounter) func(p *engine.Process) {
	return countRounds(func(p *engine.Process) someCounter {
		c := newCounter(p)
		return someCounter{c.Add, c.Get, c.CompareAndSet}
	})
}

func countRounds(newCounter func(p *engine.Process) someCounter) func(p *engine.Process) {
	return func(p *engine.Process) {
		c := newCounter(p)
		o := p.Register(nil)
		Rounds(p, func(int) error { return c.round(p, o) })
	}
}

// round makes one round. It returns only errors that a counter must not have.
func (c someCounter) round(p *engine.Process, o engine.Object) (err error) {
	delta, seen := int64(p.ID), int64(0)
	if Leads(p) {
		err = CountOnce(p, o, history.Event{Op: "add", Value: delta}, func(ctx context.Context) (n int64, err error) {
			seen, err = c.add(ctx, delta)
			return seen, err
		})
	}
	if err == nil && Follows(p) && c.get != nil {
		err = CountOnce(p, o, history.Event{Op: "get"}, func(ctx context.Context) (n int64, err error) {
			seen, err = c.get(ctx)
			return seen, err
		})
	}
	if err == nil && Follows(p) && c.swap != nil {
		err = SwapOnce(p, o, seen, seen+10, c.swap)
	}
	return err
}

// SwapOnce changes the number from old to next, and records that.
func SwapOnce(p *engine.Process, o engine.Object, old, next int64,
	swap func(ctx context.Context, old, next int64) (bool, error),
) error {
	e := history.Event{Op: "cas", Path: strconv.FormatInt(old, 10), Value: next}
	return CountOnce(p, o, e, func(ctx context.Context) (int64, error) {
		ok, err := swap(ctx, old, next)
		if ok {
			return 1, err
		}
		return 0, err
	})
}

// CountOnce makes one operation of a counter and records it. e has its name and arguments. It returns only errors that
// a counter must not have.
func CountOnce(p *engine.Process, o engine.Object, e history.Event, f func(ctx context.Context) (int64, error)) error {
	ctx, end := p.Interruptible()
	defer end()
	e.Kind = history.Invoke
	o.Record(e)
	n, err := f(ctx)
	unknown := errors.Is(err, recipes.ErrUnknownOutcome)
	o.Record(history.Event{Kind: history.Return, Op: e.Op, Value: n, Err: err, OK: err != nil && !unknown})
	if unknown || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
