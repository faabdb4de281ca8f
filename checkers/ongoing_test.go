package checkers

import "testing"

// The objects of these tests have operations of different names that go on together.

func TestOperationsOfOneObjectAreToldApartByTheirNames(t *testing.T) {
	judge(t, Barrier{}, []judgement{
		{name: "a hold ends while its object waits", text: `
			invoke c2 o2 hold
			return c2 o2 hold
			invoke c1 o1 wait
			invoke c1 o1 hold
			return c1 o1 hold
			invoke c2 o2 release
			return c2 o2 release
			invoke c1 o1 release
			return c1 o1 release
			return c1 o1 wait`},
		{name: "a wait ends while its object holds", text: `
			invoke c2 o2 hold
			return c2 o2 hold
			invoke c1 o1 hold
			invoke c1 o1 wait
			return c1 o1 wait`, event: 4, message: "c1 passed, but the barrier was held all the time that it waited, the last " +
			"hold being that of c2"},
	})
	judge(t, Passage{}, []judgement{{name: "a release ends while its object waits", text: `
			calm
			invoke c1 o1 wait
			invoke c1 o1 release
			return c1 o1 release
			call c1 existsW /b
			reply c1 existsW /b
			invoke c2 o2 release
			return c2 o2 release
			told c1 o1 impatient
			return c1 o1 wait: given up`, event: 9, message: "c1 gave up waiting, although the barrier had been open after it " +
		"had looked"}})
	judge(t, Counter{}, []judgement{
		{name: "a change that fails and one that does not", text: `
			invoke c1 o1 add v1
			invoke c1 o1 cas v5 /0
			return c1 o1 cas v0
			return c1 o1 add v1
			invoke c1 o1 get
			return c1 o1 get v1`},
		{name: "an answer before another", text: `
			invoke c1 o1 add v1
			invoke c1 o1 get
			return c1 o1 get v7
			return c1 o1 add v1`, event: 2, message: "no order of the operations explains the answer 7 of c1's get"},
		{name: "the answer to the operation that began first", text: `
			invoke c1 o1 add v1
			invoke c1 o1 get
			return c1 o1 add v3`, event: 2, message: "no order of the operations explains the answer 3 of c1's add of 1"},
	})
}

func TestOperationsOnNamesAndZnodesAreToldApartByTheirNames(t *testing.T) {
	judge(t, Names{}, []judgement{
		{name: "registered while its object resolves", text: `
			invoke c1 o1 register /n v11
			invoke c1 o1 resolve /n
			return c1 o1 resolve /n v0
			return c1 o1 register /n
			invoke c1 o1 unregister /n
			return c1 o1 unregister /n`},
		{name: "two owners, one of which resolves", text: `
			invoke c1 o1 register /n v11
			invoke c1 o1 resolve /n
			return c1 o1 register /n
			return c1 o1 resolve /n v11
			invoke c2 o2 register /n v12
			return c2 o2 register /n`, event: 5, message: "c2 has registered /n, which c1 has registered and not given up"},
	})
	judge(t, Taken{}, []judgement{
		{name: "another refusal", text: `
			invoke c1 o1 resolve /m
			invoke c1 o1 register /n
			return c1 o1 resolve /m ok: no such name
			return c1 o1 register /n`},
		{name: "refused while its object resolves", text: `
			invoke c1 o1 register /n
			invoke c1 o1 resolve /m
			return c1 o1 resolve /m
			return c1 o1 register /n ok: taken`, event: 3, message: "c1 was told that /n is taken, which nobody else has had " +
			"since it asked"},
	})
	judge(t, Znodes{}, []judgement{{name: "a write ends while its object reads", text: `
			Live
			invoke c1 o1 create /a "x"
			return c1 o1 create /a
			invoke c1 o1 set /a "y" any
			invoke c1 o1 get /a
			return c1 o1 set /a n1 z5
			return c1 o1 get /a "y" n1 z5`}})
}

// A client that looks for a folder first has not looked at the barrier in it.
func TestALookAtAnotherZnodeIsNoneAtTheBarrier(t *testing.T) {
	const folder = `
			calm
			invoke c1 o1 wait
			call c1 existsW /
			reply c1 existsW /`
	const look = `
			call c1 getW /b
			reply c1 getW /b`
	const open = `
			invoke c2 o2 release
			return c2 o2 release`
	const end = `
			told c1 o1 impatient
			return c1 o1 wait ok: context canceled`
	judge(t, Passage{}, []judgement{
		{name: "open before the look at the barrier", text: folder + open + look + end},
		{name: "open after it", text: folder + look + open + end, event: 9,
			message: "c1 gave up waiting, although the barrier had been open after it had looked"},
		{name: "open after it, and one more look", text: folder + look + open + look + end, event: 11,
			message: "c1 gave up waiting, although the barrier had been open after it had looked"},
		{name: "open while the answer is on its way", text: folder + `
			call c1 getW /b` + open + `
			reply c1 getW /b` + end},
	})
}
