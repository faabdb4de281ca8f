package catalog

import (
	"testing"
	"time"

	"zksim/internal/mutants"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// Of what is told of sessions, only the flaw makes a failure: the mark is waited for, the state changes before the
// listener hears of it, one client looks after a member, a wait has no end, and a member looks again at intervals.
func TestMutantsOfSessionsHoldWithoutTheirFlaws(t *testing.T) {
	for name, program := range map[string]func(p *engine.Process){
		"election/old-mark":          reign(0, newMarkedElection(0)),
		"election/told-early":        reign(0, newHeardElection(0)),
		"members/two-clients":        workload.InGroup(newBrokenGroup(0), workload.StayInGroup),
		"members/configured-timeout": workload.InGroup(newBrokenGroup(0), workload.StayForSeconds),
		"members/no-interval": workload.InGroup(newMendedGroup(mutants.NoInterval, 20*time.Millisecond),
			workload.StayInGroup),
	} {
		s := *Named(name)
		s.Program = program
		holdsWithoutItsFlaw(t, s)
	}
}
