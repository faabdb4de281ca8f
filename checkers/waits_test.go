package checkers

import "testing"

func TestNobodyWaitsForWhatIsFreeWhenNothingElseCanHappen(t *testing.T) {
	const one = `
		invoke c1 o1 acquire
		return c1 o1 acquire
		acquired c1 o1 /l/a
		invoke c2 o2 acquire
	`
	judge(t, Waits{Leases: 2}, []judgement{
		{name: "one of two is taken", text: one + `told c1 at-rest`, event: 4,
			message: "c2 waits in its acquire when nothing but time can pass, although only 1 of 2 are taken"},
		{name: "both are taken", text: one + `acquired c3 o3 /l/b
			told c1 at-rest`},
		{name: "the second was given up", text: one + `acquired c3 o3 /l/b
			released c3 o3
			told c1 at-rest`, event: 6,
			message: "c2 waits in its acquire when nothing but time can pass, although only 1 of 2 are taken"},
		{name: "the client of the second has crashed", text: one + `acquired c3 o3 /l/b
			crashed c3
			told c1 at-rest`, event: 6,
			message: "c2 waits in its acquire when nothing but time can pass, although only 1 of 2 are taken"},
		{name: "the one that waits has crashed", text: one + `crashed c2
			told c1 at-rest`},
		{name: "it waits no longer", text: one + `return c2 o2 acquire
			told c1 at-rest`},
		{name: "it does not wait, but tries", text: `
			invoke c2 o2 tryacquire
			told c1 at-rest`},
	})
	judge(t, Waits{}, []judgement{
		{name: "a lock that another has", text: `
			acquired c1 o1 /l/a
			invoke c2 o2 lock
			told c1 at-rest`},
		{name: "the leadership that nobody has, by an object that asks who leads", text: `
			invoke c1 o1 campaign
			invoke c1 o1 leader
			told c2 at-rest`, event: 2,
			message: "c1 waits in its campaign when nothing but time can pass, although nobody has what it waits for"},
		{name: "a lock that nobody has", text: `
			acquired c1 o1 /l/a
			invoke c2 o2 lock
			lost c1 o1
			told c3 at-rest`, event: 3,
			message: "c2 waits in its lock when nothing but time can pass, although nobody has what it waits for"},
	})
}

func TestNobodyWaitsToReadWithReadersWhenNothingElseCanHappen(t *testing.T) {
	const reads = `
		acquired c1 o1 /l/a read
		invoke c2 o2 rlock
	`
	judge(t, Waits{}, []judgement{
		{name: "a lock that only a reader has", text: reads + `told c1 at-rest`, event: 2, message: "c2 waits in its rlock " +
			"when nothing but time can pass, although only readers have the lock and nobody waits to write"},
		{name: "a lock that somebody waits to write", text: reads + `
			invoke c3 o3 lock
			told c1 at-rest`},
		{name: "a lock that a writer has", text: `
			acquired c1 o1 /l/a
			invoke c2 o2 rlock
			told c1 at-rest`},
	})
}

func TestNobodyWaitsForALeaderThatThereIsWhenNothingElseCanHappen(t *testing.T) {
	const leads = `
		acquired c1 o1 /e/a
		invoke c1 o1 acknowledge
		return c1 o1 acknowledge
		invoke c2 o2 leader
	`
	judge(t, Waits{}, []judgement{
		{name: "a leader that has acknowledged", text: leads + `told c1 at-rest`, event: 4,
			message: "c2 waits for a leader when nothing but time can pass, although c1 leads and has acknowledged it"},
		{name: "a leader that has not", text: `
			acquired c1 o1 /e/a
			invoke c1 o1 acknowledge
			invoke c2 o2 leader
			told c1 at-rest`},
		{name: "a leader that leads no longer", text: leads + `released c1 o1
			told c1 at-rest`},
		{name: "a candidate behind it", text: leads + `return c2 o2 leader
			invoke c2 o3 campaign
			told c1 at-rest`},
	})
}

func TestNobodyWaitsForAnItemThatIsFreeWhenNothingElseCanHappen(t *testing.T) {
	const put = `
		invoke c1 o1 put v1
		return c1 o1 put
	`
	judge(t, Waits{For: AwaitedItem}, []judgement{
		{name: "one is free", text: put + `
			invoke c2 o2 take
			told c1 at-rest`, event: 3,
			message: "c2 waits in its take when nothing but time can pass, although at least 1 item is free"},
		{name: "none is left", text: put + `
			invoke c2 o2 take
			return c2 o2 take v1
			invoke c2 o2 take
			told c1 at-rest`},
		{name: "nobody knows whether one is left", text: put + `
			invoke c3 o3 claim
			return c3 o3 claim: unknown
			invoke c2 o2 take
			told c1 at-rest`},
		{name: "a claim that was given up in time", text: put + `
			invoke c3 o3 claim
			return c3 o3 claim ok: canceled
			invoke c2 o2 claim
			told c1 at-rest`, event: 5,
			message: "c2 waits in its claim when nothing but time can pass, although at least 1 item is free"},
		{name: "one that was claimed is given back", text: put + `
			invoke c3 o3 claim
			return c3 o3 claim v1
			invoke c2 o2 take
			invoke c3 o3 return v1
			return c3 o3 return
			told c1 at-rest`, event: 7,
			message: "c2 waits in its take when nothing but time can pass, although at least 1 item is free"},
		{name: "the one that has perhaps got it has crashed", text: put + `
			invoke c3 o3 take
			crashed c3
			invoke c2 o2 take
			told c1 at-rest`},
		{name: "nobody waits", text: put + `
			told c1 at-rest`},
		{name: "nobody knows whether one was put", text: `
			invoke c1 o1 put v1
			return c1 o1 put: unknown
			invoke c2 o2 take
			told c1 at-rest`},
		{name: "another one is free, and the first was put all the same", text: `
			invoke c1 o1 put v2
			return c1 o1 put: unknown
			invoke c2 o2 take
			return c2 o2 take v2` + put + `
			invoke c2 o2 take
			told c1 at-rest`, event: 7,
			message: "c2 waits in its take when nothing but time can pass, although at least 1 item is free"},
		{name: "one that is got before its put has ended", text: `
			invoke c1 o1 put v1
			invoke c2 o2 take
			return c2 o2 take v1
			return c1 o1 put
			invoke c2 o2 take
			told c1 at-rest`},
	})
}

func TestAnObjectThatWaitsDoesOtherThingsMeanwhile(t *testing.T) {
	judge(t, Waits{For: AwaitedItem}, []judgement{
		{name: "one is put and another perhaps returned, by one object, and the one that waits tries, too", text: `
			invoke c3 o3 put v1
			invoke c3 o3 return v2
			return c3 o3 return: unknown
			return c3 o3 put
			invoke c2 o2 take
			invoke c2 o2 trytake
			return c2 o2 trytake ok: empty
			told c1 at-rest`, event: 7,
			message: "c2 waits in its take when nothing but time can pass, although at least 1 item is free"},
	})
}
