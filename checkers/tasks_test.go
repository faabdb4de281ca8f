package checkers

import "testing"

// In these histories c1 has submitted task 7, and c2 was told to do it.
const (
	task = `
		invoke c1 o1 submit v7
		return c1 o1 submit v7 /t
	`
	assigned = task + `
		created c3 /p/assign/w/t z2
		told c2 o2 task v7 /t
	`
)

func TestNoTaskIsLost(t *testing.T) {
	judge(t, Tasks{}, []judgement{
		{name: "nothing"},
		{name: "done", text: assigned + `
			changed c2 /p/status/t z3
			deleted c2 /p/assign/w/t z3
			return c2 o2 done v7 /t
			return c1 o1 wait v7 /t`},
		{name: "done, and the worker crashed before it knew", text: assigned + `
			changed c2 /p/status/t z3
			deleted c2 /p/assign/w/t z3
			crashed c2`},
		{name: "awaits a worker", text: task + `
			Znode /p/tasks/t s0`},
		{name: "is assigned to a worker that has ended", text: assigned + `
			Znode /p/assign/w/t s0
			Znode /p/workers/w s12`},
		{name: "still waits although there is a worker", text: assigned + `
			Znode /p/assign/w/t s0
			Znode /p/workers/w s12
			Open s12 c2`, event: -1, message: "task 7 of c1 still waits as /p/assign/w/t, although w lives"},
		{name: "lost", text: assigned + `
			deleted c3 /p/assign/w/t z3
			Znode /p/status/t s0`, event: -1, message: "task 7 of c1 is lost: it was submitted as t, was never done, and is " +
			"nowhere"},
		{name: "lost is another than what the tree shows", text: task + `
			Znode /p/tasks/u s0`, event: -1, message: "task 7 of c1 is lost: it was submitted as t, was never done, and is " +
			"nowhere"},
		{name: "not acknowledged", text: `
			invoke c1 o1 submit v7
			return c1 o1 submit v7: cancelled
			invoke c1 o1 submit v8
			crashed c1`},
		{name: "a run that was stopped says nothing of the end", text: "Outcome stopped" + task},
		{name: "done by the tree", text: task + `
			Znode /p/status/t s0 w`},
	})
}

func TestTasksBelongToOneWorkerAndAreReportedOnce(t *testing.T) {
	judge(t, Tasks{}, []judgement{
		{name: "moved to another worker", text: assigned + `
			deleted c3 /p/assign/w/t z3
			created c3 /p/tasks/t z3
			created c3 /p/assign/v/t z4
			deleted c3 /p/tasks/t z4
			changed c4 /p/status/t z5
			deleted c4 /p/assign/v/t z5`},
		{name: "two workers at once", text: assigned + `
			created c3 /p/assign/v/t z3`, event: 4, message: "t is assigned to w and to v at once"},
		{name: "two tasks of one worker", text: assigned + `
			created c3 /p/assign/w/u z3
			Znode /p/assign/w/t s0`},
		{name: "a worker's folder is no task", text: `
			created c2 /p/assign/w z1
			created c2 /q/assign/w z1`},
		{name: "reported twice", text: assigned + `
			changed c2 /p/status/t z3
			deleted c2 /p/assign/w/t z3
			changed c4 /p/status/t z5`, event: 6, message: "task 7 of c1 is reported done a second time, as t by c4"},
		{name: "reported twice, under two IDs", text: assigned + `
			changed c2 /p/status/t z3
			told c4 o4 task v7 /u
			changed c4 /p/status/u z5`, event: 6, message: "task 7 of c1 is reported done a second time, as u by c4"},
		{name: "invented", text: `told c2 o2 task v9 /t`, message: "c2 was given t, which nobody has submitted"},
		{name: "done by nobody", text: task + `
			return c1 o1 wait v7 /t`, event: 2, message: "c1 was told that t is done, which was given to no worker"},
		{name: "not done yet", text: assigned + `
			return c1 o1 wait v7 /t`, event: 4, message: "c1 was told that t is done, which nobody has reported"},
		{name: "a wait that failed", text: task + `
			return c1 o1 wait v7 /t: gone
			Znode /p/tasks/t s0`},
	})
}

func TestWorkersKnowWhatCounts(t *testing.T) {
	const given = `
		invoke c1 o1 submit v7
		created c1 /p/status/t z1
		created c1 /p/tasks/t z1
		return c1 o1 submit v7 /t
		created c2 /p/assign/w z2
		created c2 /p/workers/w z2 s12
		created c3 /p/assign/w/t z3
		deleted c3 /p/tasks/t z3
		told c2 o2 task v7 /t
	`
	const reported = given + `
		changed c2 /p/status/t z4
		deleted c2 /p/assign/w/t z4
	`
	judge(t, Tasks{}, []judgement{
		{name: "its report counts", text: reported + `return c2 o2 done v7 /t`},
		{name: "its report counts, and it is told that it does not", text: reported + `
			return c2 o2 done v7 /t ok: gone`, event: 11,
			message: "c2 was told that its report of t does not count, but it does"},
		{name: "its task is gone while it is assigned to it", text: given + `
			return c2 o2 done v7 /w/t ok: gone`, event: 9,
			message: "c2 was told that t is not its own any more, which is still assigned to w"},
		{name: "its task is gone, and assigned to another of its names", text: given + `
			deleted c3 /p/assign/w/t z4
			created c3 /p/assign/v/t z5
			return c2 o2 done v7 /w/t ok: gone
			Znode /p/tasks/t s0`},
		{name: "the task is forgotten before it is told", text: reported + `
			deleted c1 /p/status/t z5
			return c2 o2 done v7 /t ok: gone`},
		{name: "another's report counts", text: reported + `
			return c4 o4 done v7 /t`, event: 11, message: "c4 was told that its report of t counts, but that of c2 does"},
		{name: "taken back from a worker that lives", text: given + `
			created c3 /p/tasks/t z4
			deleted c3 /p/assign/w/t z4`, event: 10, message: "c3 takes /p/assign/w/t away from w, which lives"},
		{name: "taken back from a worker that has ended", text: given + `
			deleted /p/workers/w z4 s12
			created c3 /p/tasks/t z5
			deleted c3 /p/assign/w/t z5
			deleted c3 /p/assign/w z6
			Znode /p/tasks/t s0`},
		{name: "its folder is taken from a worker that lives", text: `
			created c2 /p/assign/w z2
			created c2 /p/workers/w z2 s12
			deleted c3 /p/assign/w z3`, event: 2, message: "c3 takes /p/assign/w away from w, which lives"},
		{name: "its folder is deleted by the worker itself, which is still registered", text: `
			created c2 /p/assign/w z2
			created c2 /p/workers/w z2 s12
			deleted c2 /p/assign/w z3`, event: 2, message: "c2 deletes /p/assign/w while it is still registered as w"},
		{name: "forgotten, and something stays", text: reported + `
			return c1 o1 forget v7 /t
			Znode /p/status/t s0 done`, event: -1, message: "t was forgotten, and /p/status/t is left of it"},
	})
}

// A client may have several workers, one after the other or at once. An assignment ends in the txn of the report,
// before it or after it.
func TestWhichWorkerOfAClientHasReportedIsKnown(t *testing.T) {
	const moved = `
		invoke c1 o1 submit v7
		return c1 o1 submit v7 /t
		created c3 /p/assign/v/t z1
		told c2 o2 task v7 /t
		deleted c3 /p/assign/v/t z2
		created c3 /p/assign/w/t z2
		told c2 o3 task v7 /t
	`
	const reported = moved + `
		deleted c2 /p/assign/w/t z3
		changed c2 /p/status/t z3
	`
	judge(t, Tasks{}, []judgement{
		{name: "the report of the other does not count", text: reported + `
			return c2 o3 done v7 /w/t
			return c2 o2 done v7 /v/t ok: gone`},
		{name: "it is told that it does", text: reported + `
			return c2 o2 done v7 /v/t`, event: 9,
			message: "c2 was told that its report of t as v counts, but that as w does"},
		{name: "the one that counts is told that it does not", text: moved + `
			changed c2 /p/status/t z3
			deleted c2 /p/assign/w/t z3
			return c2 o3 done v7 /w/t ok: gone`, event: 9,
			message: "c2 was told that its report of t does not count, but it does"},
		{name: "nobody has reported", text: moved + `
			return c2 o2 done v7 /v/t`, event: 7,
			message: "c2 was told that its report of t counts, but nobody has reported it"},
	})
}
