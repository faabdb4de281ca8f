package catalog

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"zksim/checkers"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// Mutants are caught for their flaw and nothing else: without it their code holds
// under the same faults.
func TestMutantsOfElectionsAndPoolsHoldWithoutTheirFlaw(t *testing.T) {
	for i := range All {
		s := All[i]
		switch {
		case !s.Broken() || s.Name == "election/smallest-herd":
			continue
		case slices.ContainsFunc(electionScenarios, func(x engine.Scenario) bool { return x.Name == s.Name }):
			s.Program = workload.ElectionRounds(workload.Pace{Procedure: 3, Stay: 20}, newBrokenElection(0))
		case s.Name == "master/old-master":
			s.Program = succession(newBrokenPool(0))
		case slices.ContainsFunc(masterScenarios, func(x engine.Scenario) bool { return x.Name == s.Name }):
			s.Program = withReader(poolOf(newBrokenPool(0)))
		default:
			continue
		}
		s.Caught = nil
		rep, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: 500}})
		if err != nil || !unharmed(rep) {
			t.Errorf("%s: %+v, %v", s.Name, rep, err)
		}
	}
}

// More of everything than the scenarios have: clients, rounds and faults.
func TestElectionsAndPoolsHoldInACrowd(t *testing.T) {
	last := uint64(300)
	if testing.Short() {
		last = 50
	}
	twice := func(s engine.Scenario) engine.Scenario {
		s.Faults = slices.Clone(s.Faults)
		for i := range s.Faults {
			s.Faults[i].Budget *= 2
		}
		return s
	}
	for _, s := range []engine.Scenario{
		electionScenario(engine.Scenario{Name: "crowd/election", Clients: 6, Faults: electionFaults,
			Rounds: 3, Program: workload.ElectionRounds(workload.Pace{Procedure: 2, Stay: 3}, newElection)}),
		electionScenario(engine.Scenario{Name: "crowd/mixed", Clients: 5, Rounds: 3, Faults: electionFaults,
			Program: func(p *engine.Process) {
				workload.ElectionRounds(workload.Pace{Procedure: 2, Stay: 3},
					[]func(*engine.Process) workload.FullElector{newElection, newHerdElection}[p.ID%2])(p)
			}}),
		poolScenario(engine.Scenario{Name: "crowd/pool", Clients: 5, Faults: poolFaults, Rounds: 8,
			Program: poolOf(newPool)}),
	} {
		s = twice(s)
		rep, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: last}})
		if err != nil || !unharmed(rep) {
			t.Errorf("%s: %+v, %v", s.Name, rep, err)
		}
	}
}

func TestElectionsAndPoolsHoldWhateverRapidChooses(t *testing.T) {
	setRapid(t, map[string]string{"checks": "1000", "nofailfile": "true"})
	for _, name := range []string{"election/election", "master/pool", "master/succession"} {
		s := Named(name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := engine.NewRunner()
			defer r.Close()
			rapid.Check(t, func(t *rapid.T) {
				if res := drawnRun(t, r, s); res.Verdict.Level != checkers.OK {
					t.Fatalf("%+v\n%s", res.Verdict, strings.Join(res.Schedule.Names, "\n"))
				}
			})
		})
	}
}
