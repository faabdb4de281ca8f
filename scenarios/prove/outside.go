package prove

import (
	"fmt"
	"slices"
	"strings"

	"zksim/faults"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// Outside says what of a scenario is not in the scope: clients, rounds and servers that it has, faults of its plan,
// and what no scope has unless it says so.
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
	var missing []string
	for _, r := range whole.Faults {
		if !slices.ContainsFunc(s.Faults, func(own faults.Rule) bool { return own.Fault == r.Fault && own.Budget > 0 }) &&
			!slices.Contains(missing, r.Fault) {
			missing = append(missing, r.Fault)
		}
	}
	add(len(missing) > 0, "the faults %s", strings.Join(missing, ", "))
	add(s.most() < total(s.Faults), "more than %s in one run", history.Counted(s.most(), "fault"))
	add(!s.SlowWakes && !s.Interleave, "code that is slow to wake")
	add(s.Ticks == 0, "timers that fire early")
	add(true, "another order of names, of listings and of simultaneous events")
	return strings.Join(all, "; ")
}

// total is how many faults a plan allows.
func total(p faults.Plan) int {
	s := Scope{Faults: p, Most: -1}
	return s.most()
}
