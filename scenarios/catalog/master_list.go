package catalog

import (
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// masterScenarios are the scenarios of the master-worker pools.
var masterScenarios = []engine.Scenario{
	poolScenario(engine.Scenario{
		Name: "master/pool", Doc: "clients, masters and workers under every fault",
		Rounds: 4, Program: poolOf(newPool), Faults: poolFaults,
		Goals: []engine.Goal{
			{Name: "a task that moves from one worker to another", Reached: movedTask},
			{Name: "a task that is done after its client has crashed", Reached: doneForNobody},
			{Name: "two masters that assign", Reached: twoMasters},
			{Name: "a worker whose task has gone", Reached: workload.Returned("done", recipes.ErrTaskGone)},
			{Name: "a submission whose answer is lost", Reached: lostSubmission},
		},
	}),

	poolScenario(engine.Scenario{
		Name: "master/early", Doc: "clients submit in new sessions, while earlier ones live on", Rounds: 4,
		Program: poolOf(newPool), Faults: early, Goals: []engine.Goal{{Name: "a submission whose answer is lost",
			Reached: lostSubmission}},
	}),

	poolScenario(engine.Scenario{
		Name: "master/lagging", Doc: "clients, masters and workers whose servers lag, and whose sessions end", Rounds: 4,
		Servers: []int{3}, Program: poolOf(newPool),
		Faults: faults.MustParse("learn-late=3 stale-read=3 failover=2 disconnect=2"),
	}),

	poolScenario(engine.Scenario{
		Name: "master/succession", Doc: "masters that follow one another, with tasks to take back and to assign, under " +
			"every fault",
		Setup: successionSetup, Program: succession(newPool), Faults: poolFaults.Except("cancel"), // nobody gives up
		Goals: []engine.Goal{{Name: "two masters that assign", Reached: twoMasters}},
	}),

	poolScenario(mutated(mutants.TwoCalls, engine.Scenario{Faults: faults.MustParse("crash=2 disconnect=2")})),
	poolScenario(mutated(mutants.SubmitTwice, engine.Scenario{Faults: faults.MustParse("lose-reply=2")})),
	poolScenario(mutated(mutants.OldMaster, engine.Scenario{
		Faults: faults.MustParse("pause=3 learn-late=3"), Setup: successionSetup,
		Program: succession(newBrokenPool(mutants.OldMaster))})),
	poolScenario(mutated(mutants.TwoReports, engine.Scenario{Faults: faults.MustParse("crash=2 disconnect=2")})),
	poolScenario(mutated(mutants.ForgottenWorker, engine.Scenario{})),
	poolScenario(mutated(mutants.WatchAlone, engine.Scenario{
		Faults: faults.MustParse("disconnect=40@client=c1"), Servers: []int{1},
		Rounds: 2, Program: withReader(poolOf(newBrokenPool(mutants.WatchAlone)))})),
}

// movedTask reports whether a task was given to two workers.
func movedTask(h *history.History) bool {
	given := map[string]int32{}
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Told && e.Op == "task" {
			if other := given[e.Path]; other != 0 && other != e.Client {
				return true
			}
			given[e.Path] = e.Client
		}
	}
	return false
}

func doneForNobody(h *history.History) bool {
	crashed := map[int32]bool{}
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Kind == history.Crashed:
			crashed[e.Client] = true
		case e.Kind == history.Return && e.Op == "done" && e.Err == nil && crashed[int32(e.Value/100)]:
			return true
		}
	}
	return false
}

func twoMasters(h *history.History) bool {
	master := int32(0)
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Created && strings.Contains(e.Path, "/assign/worker-") &&
			strings.Contains(e.Path, "/task-") {
			if master != 0 && master != e.Client {
				return true
			}
			master = e.Client
		}
	}
	return false
}

// lostSubmission reports whether a client submitted a task although it was told, after the task's znodes were made,
// that the connection was lost.
func lostSubmission(h *history.History) bool {
	made, lost := map[string]int32{}, map[string]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		id, isTask := strings.CutPrefix(e.Path, poolDir+"/tasks/")
		switch {
		case e.Kind == history.Created && isTask:
			made[id] = e.Client
		case e.Kind == history.Reply && e.Op == "multi" && e.Err == zk.ErrConnectionClosed:
			for id, client := range made { // order-free: each is set independently
				lost[id] = lost[id] || client == e.Client
			}
		case e.Kind == history.Return && e.Op == "submit" && e.Err == nil && lost[e.Path]:
			return true
		}
	}
	return false
}
