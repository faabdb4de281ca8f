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
		Source: "ZooKeeper recipes page, Group Membership",
		Rounds: 20, Program: workload.InGroup(newGroup, workload.StayInGroup),
		Goals: []engine.Goal{workload.GoalLostJoin, workload.GoalRejoin}}),
	workload.BaseGroup(engine.Scenario{Name: "members/names", Doc: "all clients want the same name, under every fault",
		Source: "ZooKeeper recipes page, Name Service",
		Rounds: 3, Program: workload.InGroup(newGroup, workload.ComeAndGo),
		Goals: []engine.Goal{workload.GoalTaken, workload.GoalUsurped}}).Without("presence"), // no member rests
	workload.BaseGroup(engine.Scenario{Name: "members/rivals",
		Doc:    "members that keep one name as long as they can, under every fault",
		Source: "ZooKeeper recipes page, Name Service",
		Rounds: 8, Program: workload.InGroup(newGroup, workload.Insist),
		Goals: []engine.Goal{workload.GoalTaken, workload.GoalUsurped, workload.GoalRejoin}}),

	memberMutant("flapping", mutants.Flapping, engine.Scenario{Doc: "a live member is deleted and made again when it is " +
		"connected again",
		Source: "Storm PR 1535, DolphinScheduler PR 5211", Faults: faults.MustParse("disconnect=2"),
		Caught: []string{"departure"},
		Wakes:  "disconnect"}),
	memberMutant("once", mutants.Once, engine.Scenario{Doc: "after the end of its session a member does not join again",
		Source: "derived from museum row 12", Faults: faults.MustParse("disconnect=2 expire=2 learn-late=2"),
		Caught: []string{"presence"},
		Wakes:  "expire"}),
	memberMutant("any-znode", mutants.AnyZnode, engine.Scenario{Doc: "a znode of the right name is taken for the own",
		Source: "derived from KAFKA-1387", Rounds: 8,
		Program: workload.InGroup(newBrokenGroup(mutants.AnyZnode), workload.Insist),
		Faults:  faults.MustParse("disconnect=2 expire=2 learn-late=2"),
		Caught:  []string{"presence"},
		Wakes:   "expire, and another who takes the name"}),
	memberMutant("leave-by-name", mutants.LeaveByName, engine.Scenario{Doc: "leaving deletes whoever has the name",
		Source: "derived from zk-ruby#34", Rounds: 3,
		Program: workload.InGroup(newBrokenGroup(mutants.LeaveByName), workload.ComeAndGo),
		Faults:  faults.MustParse("disconnect=3 expire=3 learn-late=3"),
		Caught:  []string{"departure"},
		Wakes:   "expire before a leave"}),
	memberMutant("forgetful", mutants.Forgetful, engine.Scenario{Doc: "all members are told as gone at a disconnection",
		Source: "derived from watchers that clear their lists", Faults: faults.MustParse("disconnect=1"),
		Caught: []string{"departure"},
		Wakes:  "disconnect"}),
	memberMutant("not-ours", mutants.NotOurs, engine.Scenario{Doc: "a znode of the name in a new session is taken for " +
		"another's",
		Source: "derived from leaders that were deposed", Servers: []int{3}, Faults: faults.MustParse("depose=2"),
		Caught: []string{"presence"},
		Wakes:  "depose"}),
}

// memberMutant is a scenario of a broken group that must be caught.
func memberMutant(name string, f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s.Name, s.Row = "members/"+name, int(f)
	if s.Program == nil {
		s.Rounds, s.Program = 20, workload.InGroup(newBrokenGroup(f), workload.StayInGroup)
	}
	return workload.BaseGroup(s)
}
