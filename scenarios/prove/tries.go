package prove

import (
	"context"
	"sync"
	"time"

	"zksim/scenarios/engine"
)

// tryAll searches all attempts up to each number of states in turn, until there is a violation. It returns the first
// attempt in their order that has one. Several attempts run at a time, each with one worker, so that each has the same
// result every time. When one has found something, nothing is said about those after it.
func tryAll(ctx context.Context, all []*Attempt, o Options, limits ...int) (found *Attempt, _ []*Attempt, err error) {
	for _, x := range all { // one at a time: goroutines of others would hide those that code starts
		if err := engine.Strict(ctx, x.Scope.Scenario, o.Stuck); err != nil {
			return nil, nil, err
		}
	}
	n := min(o.workers(), len(all))
	o.Samples = -1 // the outcome is about one of many scopes
	o.Trusted, o.Workers = true, 1
	if tell := o.Progress; tell != nil {
		var mu sync.Mutex
		o.Progress = func(p Progress) {
			mu.Lock()
			defer mu.Unlock()
			tell(p)
		}
	}
	for _, o.States = range limits {
		t := &tries{ctx: ctx, Options: o, all: all, end: len(all), stops: make([]context.CancelFunc, len(all))}
		var wg sync.WaitGroup
		for range n {
			wg.Go(t.work)
		}
		wg.Wait()
		switch {
		case t.err != nil:
			return nil, nil, t.err
		case t.end < len(all):
			return all[t.end], all, nil
		case ctx.Err() != nil:
			return nil, all, nil
		}
	}
	return nil, all, nil
}

// tries are attempts in progress, up to one number of states.
type tries struct {
	ctx context.Context
	Options
	all []*Attempt

	mu    sync.Mutex
	next  int
	end   int // attempts after it do not matter any more: it has found something, or failed
	stops []context.CancelFunc
	err   error // of the attempt at end
}

// work makes attempts until there are no more.
func (t *tries) work() {
	for {
		i, ctx := t.take()
		if ctx == nil {
			return
		}
		begin := time.Now()
		r, err := Prove(ctx, t.all[i].Scope, t.Options)
		t.took(i, r, err, time.Since(begin))
	}
}

// take returns the next attempt to make; ctx is nil if there is none.
func (t *tries) take() (i int, ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next < t.end && t.all[t.next].Result.Outcome == Holds {
		t.next++
	}
	if t.next >= t.end || t.ctx.Err() != nil {
		return 0, nil
	}
	i = t.next
	t.next++
	ctx, t.stops[i] = context.WithCancel(t.ctx)
	return i, ctx
}

// took records the result of an attempt.
func (t *tries) took(i int, r Result, err error, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stops[i]()
	if i > t.end {
		return
	}
	t.all[i].Result, t.all[i].Took = r, took
	if err == nil && r.Outcome != Violated {
		return
	}
	t.end, t.err = i, err
	for _, stop := range t.stops[i+1:] {
		if stop != nil {
			stop()
		}
	}
}
