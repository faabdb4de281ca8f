package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Each runs all seeds of a scenario, whatever they come to, and shows the results to visit. visit is called from many
// goroutines, in any order; its result has the names of its transitions and is valid until visit returns. Each returns
// how many seeds were run, not all if ctx is done. It fails like [Run] when client code leaves the simulator or ends
// its goroutine.
func Each(ctx context.Context, s *Scenario, o Options, visit func(seed uint64, res *Result)) (int, error) {
	if err := s.Valid(); err != nil {
		return 0, err
	}
	e := &each{Scenario: s, seeds: o.Seeds, visit: visit}
	e.next.Store(o.Seeds.First)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	_, err := NewGuard(o.Stuck).workers(o.workers(), s, o.Strategy, func(r *Runner, w *watched) {
		if err := e.work(ctx, r, w); err != nil {
			e.failed(err)
			stop()
		}
	}, stop)
	if err == nil {
		err = e.err
	}
	return int(e.ran.Load()), err
}

// each is an Each in progress.
type each struct {
	*Scenario
	seeds Range
	visit func(seed uint64, res *Result)
	next  atomic.Uint64
	ran   atomic.Int64

	mu  sync.Mutex
	err error // the first
}

func (e *each) failed(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = err
	}
}

// work runs seeds until there are no more. A program that ends its goroutine also ends the one that runs it.
func (e *each) work(ctx context.Context, r *Runner, w *watched) error {
	defer r.Close()
	running, seed := false, uint64(0)
	defer func() {
		if running {
			e.failed(fmt.Errorf("%s, seed %d: %w", e.Name, seed, ErrEnded))
		}
	}()
	for ctx.Err() == nil {
		if seed = e.next.Add(1) - 1; seed > e.seeds.Last || seed < e.seeds.First {
			return nil
		}
		w.begins(seed)
		running = true
		res := r.Seed(e.Scenario, seed)
		running = false
		if res.Misuse != nil {
			return w.where(res.Misuse)
		}
		r.Names(&res)
		e.visit(seed, &res)
		e.ran.Add(1)
	}
	return nil
}
