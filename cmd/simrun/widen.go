package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"zksim/scenarios"
	"zksim/scenarios/prove"
)

// A broken recipe is searched in scopes that grow, with at most so many faults, and so many states with each number of
// faults: few at first and then many, or as many as are worth it for a table.
const (
	widestFaults = 2
	fewStates    = 100_000
	someStates   = 300_000
	manyStates   = 3_000_000
)

// otherOrder is one in which the names that the two clients of a brief run draw are the other way round.
const otherOrder = 3

// scopesOf returns scopes of a broken recipe, in the order in which they are worth a try.
func scopesOf(s *scenarios.Scenario) (list []proveFlags) {
	add := func(clients int, widen func(p *proveFlags)) {
		p := proveFlags{clients: clients, rounds: 1, most: widestFaults, order: 1}
		widen(&p)
		list = append(list, p)
	}
	least, most := min(2, s.Clients), min(3, s.Clients)
	for clients := least; clients <= most; clients++ {
		add(clients, func(*proveFlags) {})
	}
	for clients := least; clients <= most; clients++ {
		two, ticks := clients == 2, 1
		if two {
			ticks = 2
			add(clients, func(p *proveFlags) { p.slowWakes = true })
			add(clients, func(p *proveFlags) { p.order = otherOrder })
		}
		add(clients, func(p *proveFlags) { p.ticks = ticks })
		if s.Rounds > 2 {
			add(clients, func(p *proveFlags) { p.rounds = 2 })
		}
		if s.Rounds > 1 {
			add(clients, func(p *proveFlags) { p.rounds = s.Rounds })
		}
		if two && slices.Contains(s.Servers, 1) && slices.Contains(s.Servers, 3) {
			add(clients, func(p *proveFlags) { p.servers = 3 })
		}
	}
	return list
}

// attempt is the search of one scope.
type attempt struct {
	flags  proveFlags
	scope  prove.Scope
	result prove.Result // zero: not yet
	took   time.Duration
}

// widen searches a broken recipe in scopes that grow, up to a number of states in each, and then as far as the next
// number. It returns the attempt that has found a violation, nil if none has until ctx was done, and all of them.
func widen(ctx context.Context, s *scenarios.Scenario, o prove.Options, limits ...int) (caught *attempt, all []*attempt, err error) {
	for _, p := range scopesOf(s) {
		sc, err := p.scope(s)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, &attempt{flags: p, scope: sc})
	}
	for _, o.States = range limits {
		for _, x := range all {
			if x.result.Outcome == prove.Holds {
				continue
			}
			begin := time.Now()
			if x.result, err = prove.Prove(ctx, x.scope, o); err != nil {
				return nil, nil, err
			}
			x.took = time.Since(begin)
			if x.result.Outcome == prove.Violated {
				return x, all, nil
			}
			if ctx.Err() != nil {
				return nil, all, nil
			}
		}
	}
	return nil, all, nil
}

// refute searches a broken recipe in scopes that grow, for the table. It returns nil if nothing is found.
func refute(ctx context.Context, s *scenarios.Scenario) (*attempt, error) {
	caught, _, err := widen(ctx, s, prove.Options{Reductions: prove.Every, Workers: 1}, someStates)
	return caught, err
}

// String is a cell of the table: what it took to find a violation. That of nil is that none was found.
func (x *attempt) String() string {
	if x == nil {
		return "-"
	}
	text := fmt.Sprintf("%d clients, ", x.flags.clients)
	if x.flags.rounds > 1 {
		text += fmt.Sprintf("%d rounds, ", x.flags.rounds)
	}
	if x.flags.slowWakes {
		text += "slow wakes, "
	}
	if x.flags.ticks > 0 {
		text += fmt.Sprintf("ticks %d, ", x.flags.ticks)
	}
	if x.flags.order == otherOrder {
		text += "other names, "
	}
	if x.scope.Servers > 1 {
		text += "3 servers, "
	}
	states := x.result.Last.States
	for _, l := range x.result.Levels {
		states += l.States
	}
	return text + fmt.Sprintf("%s: %d", faultsText(x.result.Struck), states)
}
