package prove

import (
	"fmt"
	"slices"
	"strings"

	"zksim/faults"
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
	add(whole.Clients > x.Clients, "%d clients", whole.Clients)
	add(whole.Rounds > x.Rounds, "%d rounds", whole.Rounds)
	for _, n := range whole.Servers {
		add(n != s.Servers, "%d servers", n)
	}
	var missing []string
	for _, r := range whole.Faults {
		if !slices.ContainsFunc(s.Faults, func(own faults.Rule) bool { return own.Fault == r.Fault }) &&
			!slices.Contains(missing, r.Fault) {
			missing = append(missing, r.Fault)
		}
	}
	add(len(missing) > 0, "the faults %s", strings.Join(missing, ", "))
	add(s.most() < total(s.Faults), "more than %d faults in one run", s.most())
	add(!s.SlowWakes && !s.Interleave, "code that is slow to wake")
	add(s.Ticks == 0, "timers that fire early")
	add(true, "other names and orders of listings")
	return strings.Join(all, "; ")
}

// total is how many faults a plan allows.
func total(p faults.Plan) int {
	s := Scope{Faults: p, Most: -1}
	return s.most()
}
