package catalog

import (
	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// memberScenarios are the scenarios of groups.
var memberScenarios = []engine.Scenario{
	workload.BaseGroup(engine.Scenario{Name: "members/members",
		Doc:    "members of a group and their watchers under every fault",
		Rounds: 20, Program: workload.InGroup(newGroup, workload.StayInGroup),
		Goals: []engine.Goal{workload.GoalLostJoin, workload.GoalRejoin}}),
	workload.BaseGroup(engine.Scenario{Name: "members/names", Doc: "all clients want the same name, under every fault",
		Rounds: 3, Program: workload.InGroup(newGroup, workload.ComeAndGo),
		Goals: []engine.Goal{workload.GoalTaken, workload.GoalUsurped}}).Without("presence"), // no member rests
	workload.BaseGroup(engine.Scenario{Name: "members/rivals",
		Doc:    "members that keep one name as long as they can, under every fault",
		Rounds: 8, Program: workload.InGroup(newGroup, workload.Insist),
		Goals: []engine.Goal{workload.GoalTaken, workload.GoalUsurped, workload.GoalRejoin}}),

	workload.BaseGroup(engine.Scenario{Name: "members/idle",
		Doc:    "members that do nothing but wait to be told that they are none any more, under every fault",
		Rounds: 3, Program: workload.InGroup(newGroup, workload.Idle)}),
	{Name: "members/evicted", Doc: "an operator deletes the znodes of members, who join again", Clients: 3, Rounds: 8,
		Servers: []int{1, 3}, Program: evicted,
		Faults:   faults.MustParse("disconnect=3 lose-request=2 lose-reply=2 stale-read=1"),
		Checkers: orderly},
	{Name: "members/asked", Doc: "two clients come and go, and others ask who is a member, while leaders are deposed",
		Clients: 4, Rounds: 4, Servers: []int{3}, Program: groupAsked, Faults: faults.MustParse("depose=3 elect=1"),
		Checkers: []checkers.Checker{checkers.Departure{}, checkers.Taken{}, checkers.Liveness{}, checkers.Quiescence{},
			checkers.Tree{}, checkers.Steps{}}},

	memberMutant(mutants.Flapping, engine.Scenario{Faults: faults.MustParse("disconnect=2")}),
	memberMutant(mutants.Once, engine.Scenario{
		Faults: faults.MustParse("disconnect=2 expire=2 learn-late=2")}),
	memberMutant(mutants.AnyZnode, engine.Scenario{Rounds: 8,
		Program: workload.InGroup(newBrokenGroup(mutants.AnyZnode), workload.Insist),
		Faults:  faults.MustParse("disconnect=2 expire=2 learn-late=2")}),
	memberMutant(mutants.LeaveByName, engine.Scenario{Rounds: 3,
		Program: workload.InGroup(newBrokenGroup(mutants.LeaveByName), workload.ComeAndGo),
		Faults:  faults.MustParse("disconnect=3 expire=3 learn-late=3")}),
	memberMutant(mutants.Forgetful, engine.Scenario{Faults: faults.MustParse("disconnect=1")}),
	memberMutant(mutants.NotOurs, engine.Scenario{Servers: []int{3},
		Faults: faults.MustParse("depose=2")}),
	memberMutant(mutants.FewJoins, engine.Scenario{Servers: []int{3},
		Faults: faults.MustParse("depose=2")}),
	memberMutant(mutants.TwoClients, engine.Scenario{Dials: 1,
		Faults: faults.MustParse("disconnect=2 learn-late=2")}),
	longer(memberMutant(mutants.ConfiguredTimeout, engine.Scenario{Clients: 2, Servers: []int{1}, Rounds: 8,
		Program: workload.InGroup(newBrokenGroup(mutants.ConfiguredTimeout), workload.StayForSeconds),
		Faults:  faults.MustParse("disconnect=4 disconnect=4 lost-early=4 lost-early=4")})),
	memberMutant(mutants.NoInterval, engine.Scenario{
		Faults: faults.MustParse("disconnect=4 disconnect=4 lost-early=4 lost-early=4")}),
}

// longer has the faults end later, after timers have fired.
func longer(s engine.Scenario) engine.Scenario {
	s.SafetySteps *= 4
	return s
}

// memberMutant is a scenario of a broken group that must be caught.
func memberMutant(f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s = mutated(f, s)
	if s.Program == nil {
		s.Rounds, s.Program = 20, workload.InGroup(newBrokenGroup(f), workload.StayInGroup)
	}
	return workload.BaseGroup(s)
}
