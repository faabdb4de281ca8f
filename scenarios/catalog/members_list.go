package catalog

import (
	"zksim/faults"
	"zksim/scenarios/catalog/mutants"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// memberScenarios are those of groups.
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
}

// memberMutant is a scenario of a broken group that must be caught.
func memberMutant(f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s = mutated(f, s)
	if s.Program == nil {
		s.Rounds, s.Program = 20, workload.InGroup(newBrokenGroup(f), workload.StayInGroup)
	}
	return workload.BaseGroup(s)
}
