package checkers

import (
	"testing"

	"zksim/model/history"
)

func TestWatchesAreNotLeftForNothing(t *testing.T) {
	judge(t, Watches{Each: 2, Missing: []string{"/again/*"}}, []judgement{
		{name: "one that fires", text: `
			call c1 existsW /l/a
			reply c1 existsW /l/a: zk: node does not exist
			notify c1 created /l/a`},
		{name: "one on a znode that is there", text: `
			call c1 getW /l/a
			reply c1 getW /l/a
			Znode /l/a s0`},
		{name: "exists leaves one on a znode that is gone", text: `
			call c1 existsW /l/a
			reply c1 existsW /l/a: zk: node does not exist`, event: 1,
			message: "c1 still watches /l/a when nothing can happen any more, which does not exist"},
		{name: "get does not", text: `
			call c1 getW /l/a
			reply c1 getW /l/a: zk: node does not exist`},
		{name: "one on a znode that may come again", text: `
			call c1 existsW /again/a
			reply c1 existsW /again/a: zk: node does not exist`},
		{name: "a session that has ended", text: `
			call c1 existsW /l/a
			reply c1 existsW /l/a: zk: node does not exist
			session c1 StateExpired s11`},
		{name: "a session that its client has closed", text: `
			call c1 existsW /l/a
			reply c1 existsW /l/a: zk: node does not exist
			call c1 closeSession`},
		{name: "a connection that its client has closed while it was down", text: `
			session c1 StateHasSession s11
			call c1 existsW /l/a
			reply c1 existsW /l/a: zk: node does not exist
			session c1 StateDisconnected s11`},
		{name: "a connection that came back", text: `
			session c1 StateHasSession s11
			call c1 existsW /l/a
			reply c1 existsW /l/a: zk: node does not exist
			session c1 StateDisconnected s11
			session c1 StateHasSession s11`, event: 2,
			message: "c1 still watches /l/a when nothing can happen any more, which does not exist"},
		{name: "a session that somebody else has closed", text: `
			call c1 existsW /l/a
			reply c1 existsW /l/a: zk: node does not exist
			call c2 closeSession`, event: 1,
			message: "c1 still watches /l/a when nothing can happen any more, which does not exist"},
		{name: "a client that has crashed", text: `
			call c1 existsW /l/a
			reply c1 existsW /l/a: zk: node does not exist
			crashed c1`},
		{name: "a run that does not come to rest", text: `
			call c1 existsW /l/a
			reply c1 existsW /l/a: zk: node does not exist
			Outcome step-limit`},
	})
}

func TestWatchesOnOneZnodeAreCounted(t *testing.T) {
	const twice = `
		Znode /l s0
		call c1 getW /l
		reply c1 getW /l
		call c1 existsW /l
		reply c1 existsW /l
	`
	judge(t, Watches{Each: 2}, []judgement{
		{name: "twice", text: twice},
		{name: "three times", text: twice + `
			call c1 getW /l
			reply c1 getW /l`, event: 5,
			message: "c1 watches /l 3 times, and its session has not changed state in between; 2 times will do"},
		{name: "once more for the children", text: twice + `
			call c1 childrenW /l
			reply c1 childrenW /l`},
		{name: "once more after a disconnection", text: twice + `
			session c1 StateDisconnected s11
			call c1 getW /l
			reply c1 getW /l`},
		{name: "once more in another call of the recipe", text: twice + `
			invoke c1 o1 lock
			call c1 getW /l
			reply c1 getW /l`},
		{name: "once more when they have fired", text: twice + `
			notify c1 changed /l
			call c1 getW /l
			reply c1 getW /l`},
		{name: "once by somebody else", text: twice + `
			call c2 getW /l
			reply c2 getW /l`},
	})
}

func TestNothingIsLeftOver(t *testing.T) {
	h := &history.History{}
	h.Reset(1)
	h.Tree = append(h.Tree, history.Node{Path: "/"}, history.Node{Path: "/l"}, history.Node{Path: "/l/mine", Owner: 11},
		history.Node{Path: "/l/left"})
	c := Leftover{Stay: []string{"/l"}}
	if v := c.Check(h); v.Level != OK {
		t.Errorf("with a client that has crashed: %v", v)
	}
	h.Finished[1] = true
	if v := c.Check(h); v.Message != "/l/left is left when all clients are done, and nobody needs it" {
		t.Errorf("%v", v)
	}
	if v := (Leftover{Stay: []string{"/l", "/l/*"}}).Check(h); v.Level != OK {
		t.Errorf("with a pattern: %v", v)
	}
	h.Failed[1] = "why"
	if v := c.Check(h); v.Level != OK {
		t.Errorf("with a client that has given up: %v", v)
	}
}

func TestWhoeverWaitsPassesABarrierThatHasBeenOpen(t *testing.T) {
	const looked = `
		calm
		invoke c1 o1 wait
		call c1 sync /b
		reply c1 sync /b
		call c1 getW /b
		reply c1 getW /b
	`
	const open = `
		invoke c2 o2 release
		return c2 o2 release
	`
	const end = `
		told c1 o1 impatient
		return c1 o1 wait ok: context canceled`
	judge(t, Passage{}, []judgement{
		{name: "open, and nobody gives up", text: looked + open + `return c1 o1 wait`},
		{name: "open, and held again", text: looked + open + end, event: 9,
			message: "c1 gave up waiting, although the barrier had been open after it had looked"},
		{name: "never open", text: looked + end},
		{name: "open before it has looked", text: `
			calm
			invoke c1 o1 wait` + open + end},
		{name: "a release that had begun before", text: `
			calm
			invoke c2 o2 release
			invoke c1 o1 wait
			call c1 sync /b
			reply c1 sync /b
			call c1 getW /b
			reply c1 getW /b
			return c2 o2 release` + end},
		{name: "a release that failed", text: looked + `
			invoke c2 o2 release
			return c2 o2 release: zk: connection closed` + end},
		{name: "a look in the session before", text: looked + `session c1 StateExpired` + open + end},
		{name: "the session of the look ends later", text: looked + open + `session c1 StateExpired` + end},
		{name: "impatient before", text: looked + `told c1 o1 impatient` + open + `return c1 o1 wait ok: context canceled`},
		{name: "with faults", text: looked[len("\n\t\tcalm"):] + open + end},
		{name: "a look by the first request", text: `
			calm
			invoke c1 o1 wait
			call c1 getW /b
			reply c1 getW /b` + open + end, event: 7,
			message: "c1 gave up waiting, although the barrier had been open after it had looked"},
		{name: "a look by the first request after the session changed", text: `
			calm
			invoke c1 o1 wait
			session c1 StateDisconnected
			call c1 getW /b
			reply c1 getW /b` + open + end},
		{name: "a look that may be another's", text: `
			calm
			invoke c1 o1 wait
			invoke c1 o4 wait
			call c1 getW /b
			reply c1 getW /b` + open + end},
		{name: "a look before another began", text: looked + `invoke c1 o4 wait` + open + end, event: 10,
			message: "c1 gave up waiting, although the barrier had been open after it had looked"},
	})
}

func TestAnAlarmComesInTime(t *testing.T) {
	const queue = `
		calm
		invoke c1 o1 monitor
		told c2 o2 since v100
		created c2 /l/a z1 s12
		created c3 /l/b z2 s13
	`
	judge(t, Alarm{Limit: 10}, []judgement{
		{name: "measured from when it came first", text: queue + `
			told c2 o2 until v200
			deleted c2 /l/a
			told c1 o1 clock v215
			told c1 o1 overdue /l/b v15`},
		{name: "measured from when it was in the queue", text: queue + `
			told c2 o2 until v200
			deleted c2 /l/a
			told c1 o1 clock v215
			told c1 o1 overdue /l/b v16`, event: 8,
			message: "c1 says that the lock has been held by /l/b for 16ns, but that came first 15ns ago at most"},
		{name: "a reader beside a reader", text: `
			created c2 /l/a-read-1 z1 s12
			told c2 o2 since v100
			created c3 /l/b-read-2 z2 s13
			told c1 o1 clock v150
			told c1 o1 overdue /l/b-read-2 v51`, event: 4,
			message: "c1 says that the lock has been held by /l/b-read-2 for 51ns, but that came first 50ns ago at most"},
		{name: "no alarm", text: queue + `
			told c2 o2 since /l/a v100
			told c2 o2 until /l/a v121`, event: 6, message: "c2 has had the lock by /l/a for 21ns, with the faults over, " +
			"and no monitor has said so; the limit is 10ns"},
		{name: "an alarm", text: queue + `
			told c2 o2 since /l/a v100
			told c1 o1 clock v110
			told c1 o1 overdue /l/a v10
			told c2 o2 until /l/a v121`},
		{name: "not for that long", text: queue + `
			told c2 o2 since /l/a v100
			told c2 o2 until /l/a v120`},
		{name: "time has jumped", text: queue + `
			told c2 o2 since /l/a v100
			told c2 o2 until /l/a v141`},
		{name: "the monitor's client was disconnected", text: queue + `
			told c2 o2 since /l/a v100
			session c1 StateDisconnected s11
			session c1 StateHasSession s11
			told c2 o2 until /l/a v121`},
		{name: "another client was disconnected", text: queue + `
			told c2 o2 since /l/a v100
			session c3 StateDisconnected s13
			told c2 o2 until /l/a v121`, event: 7, message: "c2 has had the lock by /l/a for 21ns, with the faults over, " +
			"and no monitor has said so; the limit is 10ns"},
		{name: "the monitor's client is disconnected", text: queue + `
			session c1 StateDisconnected s11
			told c2 o2 since /l/a v100
			told c2 o2 until /l/a v121`},
		{name: "the monitor has ended", text: queue + `
			told c2 o2 since /l/a v100
			return c1 o1 monitor
			told c2 o2 until /l/a v121`},
		{name: "with faults", text: `
			invoke c1 o1 monitor
			created c2 /l/a z1 s12
			told c2 o2 since /l/a v100
			told c2 o2 until /l/a v121`},
	})
}

func TestAnAlarmIsJudgedWhenSomethingElseHasEnded(t *testing.T) {
	const queue = `
		calm
		invoke c1 o1 monitor
		told c2 o2 since v100
		created c2 /l/a z1 s12
		created c3 /l/b z2 s13
	`
	const late = `
		told c2 o2 since /l/a v100
		told c2 o2 until /l/a v121`
	const message = "c2 has had the lock by /l/a for 21ns, with the faults over, and no monitor has said so; the limit " +
		"is 10ns"
	judge(t, Alarm{Limit: 10}, []judgement{
		{name: "one who is no monitor has crashed", text: queue + `crashed c3` + late, event: 7, message: message},
		{name: "the monitor has crashed", text: queue + `crashed c1` + late},
		{name: "one of two monitors has ended", text: queue + `
			invoke c3 o3 monitor
			return c3 o3 monitor` + late, event: 8, message: message},
		{name: "one of two monitors ends meanwhile", text: queue + `
			invoke c3 o3 monitor
			told c2 o2 since /l/a v100
			return c3 o3 monitor
			told c2 o2 until /l/a v121`},
		{name: "a monitor begins without a connection", text: queue + `
			told c2 o2 since /l/a v100
			session c3 StateDisconnected s13
			invoke c3 o3 monitor
			told c2 o2 until /l/a v121`},
		{name: "one who waited is gone", text: queue + `
			deleted c3 /l/b z3
			told c1 o1 clock v110
			told c1 o1 overdue /l/b v10`, event: 7,
			message: "c1 says that the lock has been held by /l/b, which has only waited for it"},
		{name: "one who had it is gone", text: queue + `
			deleted c2 /l/a z3
			told c1 o1 clock v110
			told c1 o1 overdue /l/a v11`, event: 7,
			message: "c1 says that the lock has been held by /l/a for 11ns, but that came first 10ns ago at most"},
	})
}

func TestTheReadThatAWriterMakesForItselfHoldsNothingBeforeTheWrite(t *testing.T) {
	judge(t, Alarm{Limit: 10}, []judgement{
		{name: "the read of a writer that waits", text: `
			created c2 /l/a-read-1 z1 s12
			told c2 o2 since v100
			created c3 /l/b-read-2 z2 s13
			created c3 /l/b-write-3 z2 s13
			told c1 o1 clock v150
			told c1 o1 overdue /l/b-read-2 v20`, event: 5,
			message: "c1 says that the lock has been held by /l/b-read-2, which has only waited for it"},
		{name: "the read of a writer that has the lock", text: `
			told c2 o2 since v100
			created c3 /l/b-read-2 z2 s13
			created c3 /l/b-write-3 z2 s13
			told c1 o1 clock v150
			told c1 o1 overdue /l/b-read-2 v20`},
		{name: "one alarm for both", text: `
			calm
			invoke c1 o1 monitor
			created c3 /l/b-read-2 z2 s13
			created c3 /l/b-write-3 z2 s13
			told c3 o3 since /l/b-write-3 v100
			told c1 o1 clock v110
			told c1 o1 overdue /l/b-read-2 v10
			told c3 o3 until /l/b-write-3 v121`},
	})
}
