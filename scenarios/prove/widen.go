package prove

import (
	"context"
	"slices"
	"time"

	"zksim/scenarios/engine"
)

// A mutant is searched in bounds that grow, with at most so many faults.
const widestFaults = 2

// OtherOrder is one in which the names that the two clients of a run of one round draw are the other way round.
const OtherOrder = 3

// wider returns bounds of a mutant, in the order in which they are worth a try.
func wider(s *engine.Scenario) (list []Bounds) {
	add := func(clients int, b Bounds) {
		b.Clients, b.Most = clients, widestFaults
		list = append(list, b)
	}
	least, most := min(2, s.Clients), min(3, s.Clients)
	for clients := least; clients <= most; clients++ {
		add(clients, Bounds{})
	}
	for clients := least; clients <= most; clients++ {
		two, ticks := clients == 2, 1
		if two {
			ticks = 2
			add(clients, Bounds{SlowWakes: true})
			add(clients, Bounds{Order: OtherOrder})
		}
		add(clients, Bounds{Ticks: ticks})
		if s.Rounds > 2 {
			add(clients, Bounds{Rounds: 2})
		}
		if s.Rounds > 1 {
			add(clients, Bounds{Rounds: s.Rounds})
		}
		if two && slices.Contains(s.Servers, 1) && slices.Contains(s.Servers, 3) {
			add(clients, Bounds{Servers: 3})
		}
	}
	return list
}

// Attempt is the search within one of the bounds that grow.
type Attempt struct {
	Bounds
	Scope  Scope
	Result Result // zero: not yet
	Took   time.Duration
}

// Widen searches a mutant in bounds that grow, up to a number of states in each, and then as far as the next
// number. It returns the attempt that has found a violation, nil if none has until ctx was done, and all of them.
func Widen(ctx context.Context, s *engine.Scenario, o Options, limits ...int) (caught *Attempt, all []*Attempt,
	err error) {
	for _, b := range wider(s) {
		sc, err := b.Of(s)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, &Attempt{Bounds: b, Scope: sc})
	}
	for _, o.States = range limits {
		for _, x := range all {
			if x.Result.Outcome == Holds {
				continue
			}
			begin := time.Now()
			if x.Result, err = Prove(ctx, x.Scope, o); err != nil {
				return nil, nil, err
			}
			x.Took = time.Since(begin)
			if x.Result.Outcome == Violated {
				return x, all, nil
			}
			if ctx.Err() != nil {
				return nil, all, nil
			}
		}
	}
	return nil, all, nil
}
