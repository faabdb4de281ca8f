package checkers

import "testing"

// begun is two clients of two that have begun to enter.
const begun = `
	session c1 StateHasSession
	session c2 StateHasSession
	session c3 StateHasSession
	invoke c1 o1 enter v2
	invoke c2 o2 enter v2
`

func TestEntryNeedsAllAtOnce(t *testing.T) {
	alone := func(event int) judgement {
		return judgement{event: event, message: "c2 entered by /b/y for 2, but there were never more than 1 inside while " +
			"it did"}
	}
	with := func(name, text string, x judgement) judgement {
		x.name, x.text = name, text
		return x
	}
	judge(t, Entry{}, []judgement{
		{name: "two", text: begun + `
			return c1 o1 enter /b/x v7
			return c2 o2 enter /b/y v7`},
		with("alone", `
			invoke c2 o2 enter v2
			return c2 o2 enter /b/y v7`, alone(1)),
		{name: "a quick one has left", text: begun + `
			return c1 o1 enter /b/x v7
			invoke c1 o1 leave
			return c1 o1 leave
			return c2 o2 enter /b/y v7`},
		with("the other had left before", begun+`
			return c1 o1 enter /b/x v7
			return c2 o2 enter /b/y v7
			invoke c1 o1 leave
			invoke c2 o2 leave
			return c2 o2 leave
			invoke c2 o2 enter v2
			return c2 o2 enter /b/y v8`, alone(11)),
		with("the other has given up before", `
			session c1 StateHasSession
			invoke c1 o1 enter v2
			return c1 o1 enter: deadline
			invoke c2 o2 enter v2
			return c2 o2 enter /b/y v7`, alone(4)),
		{name: "the other gives up during the call", text: begun + `
			return c1 o1 enter: deadline
			return c2 o2 enter /b/y v7`},
		{name: "the other gave up while it had no connection", text: `
			session c1 StateHasSession
			invoke c1 o1 enter v2
			session c1 StateDisconnected
			session c1 StateHasSession
			return c1 o1 enter: deadline
			invoke c2 o2 enter v2
			return c2 o2 enter /b/y v7`},
		{name: "the other gave up before it had a connection", text: `
			invoke c1 o1 enter v2
			session c1 StateHasSession
			return c1 o1 enter: deadline
			invoke c2 o2 enter v2
			return c2 o2 enter /b/y v7`},
		{name: "the other crashed", text: `
			session c1 StateHasSession
			invoke c1 o1 enter v2
			crashed c1
			invoke c2 o2 enter v2
			return c2 o2 enter /b/y v7`},
		with("the connection of a third is nobody else's", `
			session c1 StateHasSession
			invoke c1 o1 enter v2
			session c3 StateDisconnected
			return c1 o1 enter: deadline
			invoke c2 o2 enter v2
			return c2 o2 enter /b/y v7`, alone(5)),
	})
}

func TestAnEnterThatFailsCountsOnWhileAnyConnectionIsDown(t *testing.T) {
	judge(t, Entry{}, []judgement{
		{name: "the other gave up while one of its two connections was down", text: `
			session c1 StateDisconnected s11
			session c1 n1 StateHasSession s21
			invoke c1 o1 enter v2
			return c1 o1 enter: deadline
			invoke c2 o2 enter v2
			return c2 o2 enter /b/y v7`},
	})
}

func TestAnEnterThatIsRefusedDoesNotCount(t *testing.T) {
	judge(t, Entry{}, []judgement{
		{name: "refused without a connection", text: `
			invoke c1 o1 enter v2
			return c1 o1 enter ok: inside already
			invoke c2 o2 enter v2
			return c2 o2 enter /b/y v7`, event: 3, message: "c2 entered by /b/y for 2, but there were never more than 1 " +
			"inside while it did"},
	})
}

func TestNobodyHasLeftBeforeAllLeave(t *testing.T) {
	const inside = begun + `
		return c1 o1 enter /b/x v7
		return c2 o2 enter /b/y v7
		invoke c1 o1 leave
	`
	judge(t, Exit{}, []judgement{
		{name: "the other leaves, too", text: inside + `
			invoke c2 o2 leave
			return c1 o1 leave`},
		{name: "the other is inside", text: inside + `
			return c1 o1 leave
			invoke c2 o2 leave`, event: 8, message: "c1 has left round 0x7 while c2 is inside by /b/y"},
		{name: "the other's session has ended", text: inside + `
			deleted c0 /b/y
			return c1 o1 leave`},
		{name: "the other's znode was deleted by a client", text: inside + `
			deleted c1 /b/y
			return c1 o1 leave`, event: 9, message: "c1 has left round 0x7 while c2 is inside by /b/y"},
		{name: "the other's session ends later", text: inside + `
			return c1 o1 leave
			deleted c0 /b/y`, event: 8, message: "c1 has left round 0x7 while c2 is inside by /b/y"},
		{name: "the other crashed, and its session is there", text: inside + `
			crashed c2
			return c1 o1 leave`, event: 9, message: "c1 has left round 0x7 while c2 is inside by /b/y"},
		{name: "the other does not know yet that it is inside", text: begun + `
			return c1 o1 enter /b/x v7
			invoke c1 o1 leave
			return c1 o1 leave
			return c2 o2 enter /b/y v7`, event: 7, message: "c1 has left round 0x7 while c2 is inside by /b/y"},
		{name: "a leave that gave up promises nothing", text: inside + `return c1 o1 leave: canceled`},
		{name: "another round", text: begun + `
			return c1 o1 enter /b/x v7
			return c2 o2 enter /b/y v8
			invoke c1 o1 leave
			return c1 o1 leave`},
		{name: "a leave of somebody who is not inside", text: `
			invoke c1 o1 leave
			return c1 o1 leave`},
	})
}

// An Enter whose session has ended made the znode of the same name again.
func TestAZnodeThatIsMadeAgainIsInLaterRounds(t *testing.T) {
	const (
		again = `
			invoke c1 o1 enter v2
			created c1 /b/x z1 s11
			changed c1 /b/ready z2
			deleted c0 /b/x z3 s11
			created c1 /b/x z4 s12
			changed c1 /b/ready z5
		`
		former = again + "return c1 o1 enter /b/x v2\n"
		later  = again + "return c1 o1 enter /b/x v5\n"
		other  = "invoke c2 o2 enter v2\nreturn c2 o2 enter /b/y v"
		left   = "\ninvoke c2 o2 leave\nreturn c2 o2 leave"
	)
	judge(t, Exit{}, []judgement{
		{name: "left while it is inside", text: later + other + "5" + left, event: 10,
			message: "c2 has left round 0x5 while c1 is inside by /b/x"},
		{name: "it ends as well", text: later + "deleted c0 /b/x z6 s12\n" + other + "5" + left},
		{name: "it ends as well, before it returns", text: again + "deleted c0 /b/x z6 s12\n" + other + "5" + left +
			"\nreturn c1 o1 enter /b/x v5"},
		{name: "it is in a round of the znode that has ended", text: former + other + "2" + left},
		{name: "nobody knows when the round began", text: again + "return c1 o1 enter /b/x v9\n" + other + "9" + left},
		{name: "another client makes a znode of that name", text: `
			invoke c1 o1 enter v2
			created c1 /b/x z1 s11
			deleted c0 /b/x z3 s11
			created c3 /b/x z4 s13
			changed c1 /b/ready z5
			return c1 o1 enter /b/x v5
			` + other + "5" + left},
	})
	judge(t, Rounds{}, []judgement{
		{name: "another round while it is inside", text: later + other + "2", event: 8,
			message: "c2 entered round 0x2 while c1 is inside 0x5 by /b/x"},
		{name: "another round after that of the znode that has ended", text: former + other + "5"},
	})
}

func TestRoundsHaveTheirOwnMembers(t *testing.T) {
	judge(t, Rounds{}, []judgement{
		{name: "two rounds", text: begun + `
			return c1 o1 enter /b/x v7
			return c2 o2 enter /b/y v7
			invoke c1 o1 leave
			invoke c2 o2 leave
			invoke c1 o1 enter v2
			invoke c3 o3 enter v2
			return c1 o1 enter /b/x2 v9
			return c3 o3 enter /b/z v9`},
		{name: "one too many", text: begun + `
			invoke c3 o3 enter v2
			return c1 o1 enter /b/x v7
			return c2 o2 enter /b/y v7
			return c3 o3 enter /b/z v7`, event: 8, message: "c3 entered round 0x7 as number 3 of 2"},
		{name: "twice", text: begun + `
			return c1 o1 enter /b/x v7
			invoke c1 o1 leave
			invoke c1 o1 enter v2
			return c1 o1 enter /b/x2 v7`, event: 8, message: "c1 entered round 0x7 twice, by /b/x and /b/x2"},
		{name: "while another is inside the round before", text: begun + `
			return c1 o1 enter /b/x v7
			return c2 o2 enter /b/y v9`, event: 6, message: "c2 entered round 0x9 while c1 is inside 0x7 by /b/x"},
		{name: "the session of the other has ended", text: begun + `
			return c1 o1 enter /b/x v7
			deleted c0 /b/x
			return c2 o2 enter /b/y v9`},
		{name: "its own session has ended", text: begun + `
			return c1 o1 enter /b/x v9
			deleted c0 /b/y
			return c2 o2 enter /b/y v7`},
	})
}

// third is that another begins to enter when the faults are over.
const third = `
			calm
			invoke c3 o3 enter v2`

func TestNobodyGivesUpWhileThereAreEnough(t *testing.T) {
	judge(t, Gather{}, []judgement{
		{name: "one of those who were enough crashes", text: begun + `
			calm
			told c1 o1 impatient
			crashed c2
			return c1 o1 enter: canceled`},
		{name: "enough", text: begun + `
			calm
			told c1 o1 impatient
			return c1 o1 enter: canceled`, event: 7, message: "c1 gave up entering, although it was one of 2 who were waiting " +
			"and 2 are enough"},
		{name: "too few", text: `
			invoke c1 o1 enter v2
			calm
			told c1 o1 impatient
			return c1 o1 enter: canceled`},
		{name: "before the faults were over", text: begun + `
			told c1 o1 impatient
			calm
			return c1 o1 enter: canceled`},
		{name: "cancelled by a fault", text: begun + `
			calm
			return c1 o1 enter: canceled`},
		{name: "the other is gone when it gives up", text: begun + `
			calm
			told c1 o1 impatient
			return c2 o2 enter: canceled
			return c1 o1 enter: canceled`},
		{name: "the other came after it was impatient", text: `
			calm
			invoke c1 o1 enter v2
			told c1 o1 impatient
			invoke c2 o2 enter v2
			return c1 o1 enter: canceled`},
		{name: "the other crashed", text: begun + `
			crashed c2
			calm
			told c1 o1 impatient
			return c1 o1 enter: canceled`},
		{name: "it enters", text: begun + `
			calm
			told c1 o1 impatient
			return c1 o1 enter /b/x v7`},
		{name: "a third is inside", text: begun + third + `
			return c3 o3 enter /b/z v7
			told c1 o1 impatient
			invoke c3 o3 leave
			return c1 o1 enter: canceled`},
		{name: "a third has left", text: begun + third + `
			return c3 o3 enter /b/z v7
			invoke c3 o3 leave
			return c3 o3 leave
			told c1 o1 impatient
			return c1 o1 enter: canceled`, event: 11, message: "c1 gave up entering, although it was one of 2 who were " +
			"waiting and 2 are enough"},
	})
}

func TestWhoHasCrashedIsInsideAsLongAsItsZnode(t *testing.T) {
	judge(t, Gather{}, []judgement{
		{name: "a third has crashed inside, and its znode stays", text: begun + third + `
			created c3 /b/z z8 s31
			return c3 o3 enter /b/z v7
			crashed c3
			told c1 o1 impatient
			return c1 o1 enter: canceled`},
		{name: "a third has crashed inside, and nobody knows whether its znode stays", text: begun + third + `
			return c3 o3 enter /b/z v7
			crashed c3
			told c1 o1 impatient
			return c1 o1 enter: canceled`},
		{name: "a third has crashed as it was let in", text: begun + third + `
			created c3 /b/z z8 s31
			crashed c3
			told c1 o1 impatient
			return c1 o1 enter: canceled`},
		{name: "the znode of a third that has crashed is made late", text: begun + third + `
			created c1 /b/x z8 s11
			crashed c3
			told c1 o1 impatient
			created c3 /b/z z9 s31
			return c1 o1 enter: canceled`},
		{name: "a third has crashed inside, and its session has ended", text: begun + third + `
			created c3 /b/z z8 s31
			return c3 o3 enter /b/z v7
			crashed c3
			deleted c0 /b/z z9 s31
			told c1 o1 impatient
			return c1 o1 enter: canceled`, event: 12, message: "c1 gave up entering, although it was one of 2 who were " +
			"waiting and 2 are enough"},
	})
}
