package prove

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/edit"
	"zksim/scenarios/engine"
)

// Bounds say how much of a scenario to explore. The zero value is two clients, one round, the scenario's smallest
// number of servers, and the faults of Losses that are in its plan. A mutant meets its whole plan.
type Bounds struct {
	Clients int    // 0: two, or the scenario's number if that is one; less than 0: the scenario's
	Rounds  int    // 0: one, if the scenario has rounds; less than 0: the scenario's
	Servers int    // 1, or 3 with lagging followers; 0: the scenario's smallest
	Faults  string // a plan; "": see above
	// Most limits the faults in one run; 0: as many as the plan allows, less than 0: none.
	Most int
	// Checkers are the names of the checkers; empty: all of the scenario. "state" stands for those that need no order of
	// events, which leaves much less to explore.
	Checkers []string
	// Order decides what ZooKeeper leaves open, and the names that code draws, from 1 to 15; 0: 1.
	Order uint64
	// As in [Scope].
	Interleave, SlowWakes, Offline bool
	Ticks                          int
}

// Losses is the plan for recipes that must hold. Up to two connections are cut, which loses the messages on their way:
// the server may have executed the request or not. After one of them the session may end.
const Losses = "disconnect=2 expire=1"

// onlyState is the name for all checkers that need no order of events.
const onlyState = "state"

// Of returns the scope within these bounds. It fails if the scenario is not valid, cannot be run in that size or has no
// such checker, or if the plan cannot be parsed.
func (b Bounds) Of(s *engine.Scenario) (Scope, error) {
	sc := Scope{Servers: b.Servers, Order: cmp.Or(b.Order, 1), Most: max(0, b.Most),
		Interleave: b.Interleave, SlowWakes: b.SlowWakes, Offline: b.Offline, Ticks: b.Ticks}
	if b.Most == 0 {
		sc.Most = -1
	}
	if err := s.Valid(); err != nil {
		return sc, err
	}
	x, err := s.Sized(b.size(s))
	if err != nil {
		return sc, fmt.Errorf("%s: %w", s.Name, err)
	}
	if sc.Faults, err = b.plan(s); err != nil {
		return sc, err
	}
	if x.Checkers, err = b.judges(s); err != nil {
		return sc, err
	}
	if sc.Servers == 0 {
		sc.Servers = 1
		if len(s.Servers) > 0 {
			sc.Servers = slices.Min(s.Servers)
		}
	}
	x.Finally, x.Heeds = nil, nil // it is one of the checkers, if it was asked for
	sc.Scenario = &x
	return sc, nil
}

// size returns the numbers of clients and rounds, as Scenario.Sized takes them.
func (b Bounds) size(s *engine.Scenario) (clients, rounds int) {
	clients, rounds = b.Clients, b.Rounds
	if clients == 0 {
		clients = min(2, s.Clients)
	}
	if rounds == 0 && s.Rounds > 0 {
		rounds = 1
	}
	return max(0, clients), max(0, rounds)
}

// plan returns the faults. A recipe that must hold meets those of Losses that are in the plan of its scenario, because
// it need not survive the others.
func (b Bounds) plan(s *engine.Scenario) (faults.Plan, error) {
	switch {
	case b.Faults != "":
		return faults.Parse(b.Faults)
	case s.Broken():
		return s.Faults, nil
	}
	return slices.DeleteFunc(faults.MustParse(Losses), func(r faults.Rule) bool {
		return !slices.ContainsFunc(s.Faults, func(own faults.Rule) bool { return own.Fault == r.Fault })
	}), nil
}

// judges returns the checkers.
func (b Bounds) judges(s *engine.Scenario) ([]checkers.Checker, error) {
	all := s.Judges()
	if len(b.Checkers) == 0 {
		return all, nil
	}
	var list []checkers.Checker
	if len(b.Checkers) == 1 && b.Checkers[0] == onlyState {
		for _, c := range all {
			if OfState(c) {
				list = append(list, c)
			}
		}
		return list, nil
	}
	for _, name := range b.Checkers {
		i := slices.IndexFunc(all, func(x checkers.Checker) bool { return x.Name() == name })
		if i < 0 {
			known := checkers.NamesOf(all)
			return nil, fmt.Errorf("%s has no checker %q; it has %s, and %s stands for those that need no order "+
				"of events%s",
				s.Name, name, strings.Join(known, ", "), onlyState, edit.Meant(name, append(known, onlyState)))
		}
		list = append(list, all[i])
	}
	return list, nil
}
