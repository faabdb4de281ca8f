package catalog

import (
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/catalog/mutants"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// masterScenarios are those of the master-worker pools.
var masterScenarios = []engine.Scenario{
	poolScenario(engine.Scenario{
		Name: "master/pool", Doc: "clients, masters and workers under every fault",
		Source: "Junqueira and Reed, ZooKeeper (2013), the master-worker example",
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
		Name: "master/succession", Doc: "masters that follow one another, with tasks to take back and to assign, under " +
			"every fault",
		Source: "Junqueira and Reed, ZooKeeper (2013), the master-worker example",
		Setup:  successionSetup, Program: succession(newPool), Faults: poolFaults.Except("cancel"), // nobody gives up
		Goals: []engine.Goal{{Name: "two masters that assign", Reached: twoMasters}},
	}),

	poolScenario(engine.Scenario{Name: "master/two-calls",
		Doc:    "a task is assigned by create and delete instead of by multi",
		Source: "Junqueira and Reed, ZooKeeper (2013)", Row: int(mutants.TwoCalls),
		Faults: faults.MustParse("crash=2 disconnect=2"),
		Caught: []string{"tasks"},
		Wakes:  "a crash, or a lost connection, between the calls"}),
	poolScenario(engine.Scenario{Name: "master/submit-twice", Doc: "a task is submitted again when the answer is lost",
		Source: "Junqueira and Reed, ZooKeeper (2013)", Row: int(mutants.SubmitTwice),
		Faults: faults.MustParse("lose-reply=2"),
		Caught: []string{"tasks"},
		Wakes:  "lose-reply"}),
	poolScenario(engine.Scenario{Name: "master/old-master", Doc: "a paused master goes on assigning",
		Source: "dolphinscheduler#7004", Row: int(mutants.OldMaster), Faults: faults.MustParse("pause=3 learn-late=3"),
		Setup: successionSetup, Program: succession(newBrokenPool(mutants.OldMaster)),
		Caught: []string{"stale-leader"},
		Wakes:  "a pause beyond the session's timeout (learn-late)"}),
	poolScenario(engine.Scenario{Name: "master/two-reports",
		Doc:    "a task is reported by set and delete instead of by multi",
		Source: "derived from the master's two calls", Row: int(mutants.TwoReports),
		Faults: faults.MustParse("crash=2 disconnect=2"),
		Caught: []string{"tasks"},
		Wakes:  "a crash, or a lost connection, between the calls"}),
	poolScenario(engine.Scenario{Name: "master/forgotten-worker",
		Doc:    "nobody looks for the tasks of workers that have ended",
		Source: "derived from Junqueira and Reed, ZooKeeper (2013)", Row: int(mutants.ForgottenWorker),
		Caught: []string{"quiescence"},
		Wakes:  "the schedule alone: a worker that leaves will do"}),
	poolScenario(engine.Scenario{Name: "master/watch-alone", Doc: "a client waits for its task by a watch alone",
		Source: "found by this harness in its own recipe", Row: int(mutants.WatchAlone),
		Faults:  faults.MustParse("disconnect=40@client=c1"),
		Servers: []int{1}, Rounds: 2, Program: withReader(poolOf(newBrokenPool(mutants.WatchAlone))),
		Caught: []string{"quiescence"},
		Wakes:  "two disconnects, and a request that waits for the connection between them"}),
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

// lostSubmission reports whether a task was submitted by a client that was told,
// after its znodes were made, that the connection is lost.
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
