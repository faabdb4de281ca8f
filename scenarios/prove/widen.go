package prove

import (
	"context"
	"slices"
	"time"

	"zksim/faults"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// A mutant is searched in bounds that grow, with at most this many faults.
const widestFaults = 2

// OtherOrder is an order in which the first names that two clients draw are swapped, and so are simultaneous events,
// see [sim.Backward].
const OtherOrder = sim.Backward + 1

// wider returns bounds for a mutant, most promising first.
func wider(s *engine.Scenario) (list []Bounds) {
	add := func(clients int, b Bounds) {
		b.Clients, b.Most = clients, widestFaults
		list = append(list, b)
	}
	least, most := min(2, s.Clients), min(3, s.Clients)
	for clients := least; clients <= most; clients++ {
		add(clients, Bounds{})
		if ordinary, numbers := split(s.Faults); len(numbers) > 0 {
			add(clients, Bounds{Faults: ordinary.String()})
		}
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

// split separates the rules of a plan that let sequence numbers end, which concern the initial state, from the others.
func split(p faults.Plan) (ordinary, numbers faults.Plan) {
	for _, r := range p {
		if r.Fault == "sequence" {
			numbers = append(numbers, r)
		} else {
			ordinary = append(ordinary, r)
		}
	}
	return ordinary, numbers
}

// Beyond returns bounds for a recipe that must hold, besides the zero Bounds. Each is wider in one way, and has fewer
// faults to make up for it. [Scope.Outside] says what they leave out.
func Beyond(s *engine.Scenario) (list []Bounds) {
	add := func(clients, most int, b Bounds) {
		b.Clients, b.Most = clients, most
		list = append(list, b)
	}
	ordinary, numbers := split(s.Faults)
	lossy, _ := Bounds{}.plan(s)
	least, most := min(2, s.Clients), min(3, s.Clients)
	for clients := least; clients <= most; clients++ {
		if clients > least {
			add(clients, 1, Bounds{})
		}
		if len(ordinary) > 0 {
			add(clients, 1, Bounds{Faults: ordinary.String()})
		}
		if len(numbers) > 0 {
			add(clients, 1, Bounds{Faults: slices.Concat(lossy, numbers).String()})
		}
		add(clients, 1, Bounds{SlowWakes: true})
		add(clients, 1, Bounds{Ticks: 1})
		if s.Rounds > 1 {
			add(clients, 1, Bounds{Rounds: 2})
		}
		if clients == least { // a session and its watches end only after a fault
			add(clients, widestFaults, Bounds{Order: OtherOrder})
		}
	}
	if len(ordinary) > 0 {
		add(least, widestFaults, Bounds{Faults: ordinary.String()})
	}
	if slices.Contains(s.Servers, 1) && slices.Contains(s.Servers, 3) {
		add(least, 1, Bounds{Servers: 3})
	}
	return list
}

// alone returns bounds with each fault of the plan alone, once, except those of the usual bounds. Together they have
// the runs of the whole plan with one fault, and each fault has a number of states to itself. When code goes on without
// delay, nothing is cancelled between an answer and what the code makes of it, so cancel is also interleaved.
func alone(s *engine.Scenario) (list []Bounds) {
	usual, _ := Bounds{}.plan(s)
	for _, r := range s.Faults {
		r.Budget = 1
		known := func(x faults.Rule) bool { return x.Fault == r.Fault }
		if r.Fault != "sequence" && !slices.ContainsFunc(usual, known) {
			b := Bounds{Clients: min(2, s.Clients), Most: 1, Faults: faults.Plan{r}.String()}
			list = append(list, b)
			if b.Interleave = r.Fault == "cancel"; b.Interleave {
				list = append(list, b)
			}
		}
	}
	return list
}

// Attempt is the search within one of the growing bounds.
type Attempt struct {
	Bounds
	Scope  Scope
	Result Result // zero: not yet
	Took   time.Duration
}

// Widen searches a mutant in growing bounds, up to a number of states in each, and then up to the next number. It
// returns the attempt that has found a violation, nil if none has until ctx was done, and all attempts.
func Widen(ctx context.Context, s *engine.Scenario, o Options, limits ...int) (caught *Attempt, all []*Attempt,
	err error) {
	if all, err = attempts(s, wider(s)); err != nil {
		return nil, nil, err
	}
	return tryAll(ctx, all, o, limits...)
}

// idle reports whether no fault of the plan could strike. Then only the level without faults was searched.
func (x *Attempt) idle() bool {
	r := &x.Result
	return r.Outcome == Inconclusive && len(r.Levels) == 1 && r.Last.Faults == 0
}

// GoBeyond searches a recipe that holds in the usual bounds, first with each fault of its plan alone and then in the
// bounds of [Beyond], up to a number of states with each number of faults. It returns the same as Widen, without the
// attempts in which no fault could strike.
func GoBeyond(
	ctx context.Context, s *engine.Scenario, o Options, states int,
) (found *Attempt, all []*Attempt, err error) {
	whole, _ := split(s.Faults)
	list := slices.DeleteFunc(Beyond(s), func(b Bounds) bool { // covered by each fault alone
		return b.Clients == min(2, s.Clients) && b.Most == 1 && b.Faults == whole.String()
	})
	if all, err = attempts(s, append(alone(s), list...)); err != nil {
		return nil, nil, err
	}
	found, all, err = tryAll(ctx, all, o, states)
	return found, slices.DeleteFunc(all, (*Attempt).idle), err
}

// attempts returns the searches for some bounds.
func attempts(s *engine.Scenario, list []Bounds) (all []*Attempt, err error) {
	for _, b := range list {
		sc, err := b.Of(s)
		if err != nil {
			return nil, err
		}
		all = append(all, &Attempt{Bounds: b, Scope: sc})
	}
	return all, nil
}
