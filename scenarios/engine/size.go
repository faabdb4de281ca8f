package engine

import (
	"cmp"
	"fmt"
	"slices"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/sim"
)

// Bounds of a resized run.
const (
	minClients = 2 // a recipe is for clients that meet
	maxClients = 64
	MaxRounds  = 1000 // that a scenario can have
)

// size is the size of a run.
type size struct{ clients, dials, rounds int }

// Sized returns the scenario with other numbers of clients and rounds; 0 leaves a number as it is. The schedules of its
// runs say what differs. Sized fails if a number is out of bounds, also one of the scenario itself, to which the limits
// of longer runs are in proportion, or if the program has no rounds.
func (s *Scenario) Sized(clients, rounds int) (Scenario, error) {
	x := *s
	x.own = s.ownSize()
	if clients != 0 || rounds != 0 {
		if err := s.sizes(); err != nil {
			return x, err
		}
	}
	if clients != 0 && clients != x.own.clients {
		if clients < minClients || clients > maxClients {
			return x, fmt.Errorf("the number of clients is from %d to %d, not %d", minClients, maxClients, clients)
		}
	}
	if rounds != 0 && rounds != x.own.rounds {
		if x.own.rounds == 0 {
			return x, fmt.Errorf("the program of %s has no rounds", s.Name)
		}
		if rounds < 1 || rounds > MaxRounds {
			return x, fmt.Errorf("the number of rounds is from 1 to %d, not %d", MaxRounds, rounds)
		}
	}
	if clients != 0 {
		x.Clients = clients
	}
	if rounds != 0 {
		x.Rounds = rounds
	}
	x.Dials = x.dials(x.Rounds)
	return x, nil
}

// Whole returns the scenario in its own size.
func (s *Scenario) Whole() Scenario {
	x, own := *s, s.ownSize()
	x.Clients, x.Dials, x.Rounds = own.clients, own.dials, own.rounds
	return x
}

// Size returns the numbers of clients and rounds of a schedule's run.
func (s *Scenario) Size(p *Schedule) (clients, rounds int) {
	own := s.ownSize()
	return cmp.Or(p.Clients, own.clients), cmp.Or(p.Rounds, own.rounds)
}

// NewSchedule returns a schedule of the scenario at its size, with one server, no faults and no steps.
func (s *Scenario) NewSchedule(seed uint64) Schedule {
	p, own := Schedule{Scenario: s.Name, Seed: seed, Servers: 1, Like: s.Like}, s.ownSize()
	if s.Clients != own.clients {
		p.Clients = s.Clients
	}
	if s.Rounds != own.rounds {
		p.Rounds = s.Rounds
	}
	return p
}

// ownSize returns the size that schedules need not state.
func (s *Scenario) ownSize() size {
	if s.own != (size{}) {
		return s.own
	}
	return size{s.Clients, s.Dials, s.Rounds}
}

// dials returns how many more connections each client may make in a run of that many rounds. Longer runs may make more.
func (s *Scenario) dials(rounds int) int {
	own := s.ownSize()
	if own.rounds == 0 || rounds <= own.rounds {
		return own.dials
	}
	return (own.dials*rounds + own.rounds - 1) / own.rounds
}

// maxRunSteps bounds the steps of any run, so that a schedule can hold all of them.
const maxRunSteps = maxNames

// stepLimit returns the step at which a run of that size is given up. It grows with the size: a run of ten times as
// many rounds may have ten times as many steps. A run smaller than the scenario's own has the scenario's limit, as
// shrinking needs. capped reports that the limit would be beyond maxRunSteps, and so says nothing about livelock.
func (s *Scenario) stepLimit(clients, rounds int) (limit int, capped bool) {
	limit = cmp.Or(s.MaxSteps, sim.UsualMaxSteps)
	own := s.ownSize()
	now, usual := clients*max(1, rounds), own.clients*max(1, own.rounds)
	if limit >= maxRunSteps || now <= usual {
		return limit, false // a scenario with that many in its own size, such as one of exhaustive search, has no limit
	}
	if limit = limit * now / usual; limit > maxRunSteps {
		return maxRunSteps, true
	}
	return limit, false
}

// stepLimits returns the step at which the faults of a run end at the latest, and the step at which the run is given
// up. If the faults of a schedule last longer, as many steps as usual remain after them.
func (s *Scenario) stepLimits(p *Schedule, clients, rounds int) (safety, limit int, capped bool) {
	limit, capped = s.stepLimit(clients, rounds)
	safety = s.usualSafety()
	if p.Safety > 0 {
		limit = max(limit, min(limit+p.Safety-s.usualSafety(), maxRunSteps))
		safety = p.Safety
	}
	return safety, limit, capped
}

// usualSafety is the step at which faults end at the latest if a schedule does not say. It leaves a run time to come to
// rest before it is given up.
func (s *Scenario) usualSafety() int {
	usual := sim.UsualSafetySteps
	if s.MaxSteps > 0 {
		usual = max(1, min(usual, s.MaxSteps/2))
	}
	return cmp.Or(s.SafetySteps, usual)
}

// KeepFaults is for a complete schedule that was found without a limit. It lets the faults last until the schedule is
// over, or calm, if that is longer than usual. Otherwise its steps would not be possible.
func (s *Scenario) KeepFaults(p *Schedule) {
	end := slices.Index(p.Names, calm)
	if end < 0 {
		end = len(p.Names)
	}
	if end > s.usualSafety() {
		p.Safety = end
	}
}

// judgeCapped returns the verdict on a run that was given up at maxRunSteps. A limit that does not fit the size of the
// run is no evidence of livelock.
func judgeCapped(s *Scenario, h *history.History) checkers.Verdict {
	h.Outcome = history.Stopped
	v := s.judge(h)
	if v.Level == checkers.OK {
		v = checkers.Verdict{Level: checkers.Unknown, Checker: checkers.Steps{}.Name(), Event: -1,
			Message: fmt.Sprintf("the run was given up after %d steps, the most that any run may have; "+
				"try fewer clients or rounds", maxRunSteps)}
	}
	return v
}
