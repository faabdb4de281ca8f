package prove

import (
	"fmt"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// Outside says what a scenario has that is not in the scope: clients, rounds, servers, faults of its plan, checkers. It
// adds what a scope only has if it says so.
func (s *Scope) Outside(whole *engine.Scenario) string {
	var all []string
	add := func(out bool, format string, args ...any) {
		if out {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	x := s.Scenario
	add(whole.Clients > x.Clients, "%s", history.Counted(whole.Clients, "client"))
	add(whole.Rounds > x.Rounds, "%s", history.Counted(whole.Rounds, "round"))
	for _, n := range whole.Servers {
		add(n != s.Servers, "%s", history.Counted(n, "server"))
	}
	missing, fewer := s.lacking(whole.Faults)
	add(len(missing) > 0, "the faults %s", strings.Join(missing, ", "))
	add(len(fewer) > 0, "%s more often or elsewhere", strings.Join(fewer, ", "))
	add(s.most() < total(s.Faults), "more than %s in one run", history.Counted(s.most(), "fault"))
	judges := checkers.NamesOf(x.Judges())
	silent := slices.DeleteFunc(checkers.NamesOf(whole.Judges()),
		func(name string) bool { return slices.Contains(judges, name) })
	add(len(silent) > 0, "the checkers %s", strings.Join(silent, ", "))
	add(!s.SlowWakes && !s.Interleave, "code that is slow to wake")
	add(s.Ticks == 0, "timers that fire early")
	add(true, "another order of names, of listings and of simultaneous events")
	return strings.Join(all, "; ")
}

// lacking returns the faults of a plan that the scope does not have, and those that it has less often or only for some
// aims.
func (s *Scope) lacking(whole faults.Plan) (missing, fewer []string) {
	budget := func(p faults.Plan, r faults.Rule, all bool) (n int) {
		for _, x := range p {
			if x.Fault == r.Fault && (all || x.Aim == r.Aim || x.Aim == faults.Aim{}) {
				n += x.Budget
			}
		}
		return n
	}
	for _, r := range whole {
		list := &fewer
		switch {
		case budget(s.Faults, r, true) == 0:
			list = &missing
		case budget(s.Faults, r, false) >= budget(whole, r, false):
			continue
		}
		if !slices.Contains(*list, r.Fault) {
			*list = append(*list, r.Fault)
		}
	}
	return missing, fewer
}

// total returns how many faults a plan allows.
func total(p faults.Plan) int {
	s := Scope{Faults: p, Most: -1}
	return s.most()
}
