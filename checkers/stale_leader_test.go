package checkers

import "testing"

func TestOnlyThePresentLeaderAssigns(t *testing.T) {
	const leader = `
		created c1 /p/masters/candidates/a z1 s11
		created c2 /p/masters/candidates/b z2 s12
	`
	judge(t, StaleLeader{}, []judgement{
		{name: "nothing"},
		{name: "the first candidate", text: leader + `
			created c1 /p/assign/w/t z3
			created c1 /p/assign/w/u z4`},
		{name: "its successor", text: leader + `
			deleted /p/masters/candidates/a z3 s11
			created c2 /p/assign/w/t z4`},
		{name: "a worker registers, a client submits, a worker reports", text: leader + `
			created c3 /p/assign/w z3
			created c3 /p/workers/w z3 s13
			created c3 /p/tasks/t z4
			deleted c3 /p/assign/w/t z5`},
		{name: "the one before", text: leader + `
			deleted /p/masters/candidates/a z3 s11
			created c1 /p/assign/w/t z4`, event: 3, message: "c1 assigned t to w while c2 led by /p/masters/candidates/b"},
		{name: "one that never led", text: leader + `
			created c2 /p/assign/w/t z4`, event: 2, message: "c2 assigned t to w while c1 led by /p/masters/candidates/a"},
		{name: "the one before is back in the queue", text: leader + `
			deleted /p/masters/candidates/a z3 s11
			created c1 /p/masters/candidates/c z4 s13
			created c1 /p/assign/w/t z5`, event: 4, message: "c1 assigned t to w while c2 led by /p/masters/candidates/b"},
		{name: "a persistent znode is no candidate", text: `
			created c3 /p/masters/candidates/readme z1
			created c1 /p/masters/candidates/a z2 s11
			created c1 /p/assign/w/t z3`},
		{name: "nobody leads", text: `
			created c1 /p/masters/candidates/a z1 s11
			deleted /p/masters/candidates/a z3 s11
			created c1 /p/assign/w/t z4`, event: 2, message: "c1 assigned t to w while nobody led"},
	})
}
