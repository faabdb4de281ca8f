package checkers

import (
	"strings"
	"testing"
)

// sharedQueue is two readers and a writer behind each other.
const sharedQueue = `
		invoke c1 o1 rlock
		created c1 /l/x-read-1 z1 s11
		invoke c2 o2 rlock
		created c2 /l/y-read-2 z2 s12
		invoke c3 o3 lock
		created c3 /l/w-read-3 z3 s13
		created c3 /l/w-write-4 z3 s13
		invoke c4 o4 rlock
		created c4 /l/z-read-5 z4 s14
	`

func TestOwnershipOfReadersAndWriters(t *testing.T) {
	judge(t, Ownership{}, []judgement{
		{name: "readers together, then the writer, then the reader behind it", text: sharedQueue + `
			acquired c2 o2 /l/y-read-2 read
			acquired c1 o1 /l/x-read-1 read
			released c1 o1
			deleted c1 /l/x-read-1
			released c2 o2
			deleted c2 /l/y-read-2
			acquired c3 o3 /l/w-write-4
			released c3 o3
			deleted c3 /l/w-read-3
			deleted c3 /l/w-write-4
			acquired c4 o4 /l/z-read-5 read`},
		{name: "a writer past a reader", text: sharedQueue + `
			deleted c1 /l/x-read-1
			acquired c3 o3 /l/w-write-4`, event: 10, message: "c3 was told that it holds the lock by /l/w-write-4, which is " +
			"not the first of the queue"},
		{name: "a reader past a writer", text: sharedQueue + `
			acquired c4 o4 /l/z-read-5 read`, event: 9, message: "c4 was told that it holds the lock by /l/z-read-5, which is " +
			"not the first of the queue"},
		{name: "a downgrade lets in readers only", text: sharedQueue + `
			deleted c1 /l/x-read-1
			deleted c2 /l/y-read-2
			acquired c3 o3 /l/w-write-4
			acquired c3 o3 /l/w-read-3 read
			invoke c3 o3 downgrade
			deleted c3 /l/w-write-4
			acquired c4 o4 /l/z-read-5 read
			return c3 o3 downgrade
			acquired c3 o3 /l/w-read-3 read`},
		{name: "a downgrade to a read behind a writer", text: `
			invoke c1 o1 lock
			created c1 /l/a-read-1 z1 s11
			created c1 /l/a-write-2 z1 s11
			acquired c1 o1 /l/a-write-2
			invoke c2 o2 lock
			created c2 /l/b-write-3 z2 s12
			invoke c1 o1 downgrade
			created c1 /l/c-read-4 z3 s11
			deleted c1 /l/a-write-2
			acquired c1 o1 /l/c-read-4 read`, event: 9, message: "c1 was told that it holds the lock by /l/c-read-4, which is " +
			"not the first of the queue"},
	})
}

func TestReadersAreKnownByTheNamesThatLibrariesGiveThem(t *testing.T) {
	var all []judgement
	for read, write := range map[string]string{"read-": "write-", "_c_2f-read-": "_c_2e-write-",
		"_c_2f-__READ__": "_c_2e-__WRIT__", "2f__rlock__": "2e__lock__"} {
		queue := strings.NewReplacer("R#", "/l/"+read, "W#", "/l/"+write).Replace(`
			invoke c1 o1 rlock
			created c1 R#1 z1 s11
			invoke c2 o2 rlock
			created c2 R#2 z2 s12
			acquired c2 o2 R#2 read
			invoke c3 o3 lock
			created c3 W#3 z3 s13
			invoke c4 o4 rlock
			created c4 R#4 z4 s14
			`)
		all = append(all, judgement{name: read, text: queue},
			judgement{name: read + " behind a writer", text: queue + "acquired c4 o4 /l/" + read + "4 read", event: 9,
				message: "c4 was told that it holds the lock by /l/" + read + "4, which is not the first of the queue"})
	}
	judge(t, Ownership{}, all)
}

func TestOwnershipOfLeases(t *testing.T) {
	const queue = `
		invoke c1 o1 acquire
		created c1 /s/a z1 s11
		invoke c2 o2 acquire
		created c2 /s/b z2 s12
		invoke c3 o3 acquire
		created c3 /s/c z3 s13
		acquired c2 o2 /s/b
		acquired c1 o1 /s/a
	`
	judge(t, Ownership{Leases: 2}, []judgement{
		{name: "as many as there are", text: queue},
		{name: "one more", text: queue + `acquired c3 o3 /s/c`, event: 8,
			message: "c3 was told that it holds a lease by /s/c, which is not one of the first 2 in the queue"},
		{name: "whichever is given up first lets the next one in", text: queue + `
			released c2 o2
			deleted c2 /s/b
			acquired c3 o3 /s/c`},
	})
}

func TestBeliefOfReadersHoldersOfLeasesAndBrokenLocks(t *testing.T) {
	judge(t, Belief{}, []judgement{
		{name: "readers together", text: `
			acquired c1 o1 /l/a read
			acquired c2 o2 /l/b read`},
		{name: "a writer beside a reader", text: `
			acquired c1 o1 /l/a read
			acquired c2 o2 /l/b`, event: 1, message: "c2 believes that it holds the lock by /l/b while c1 still believes so " +
			"by /l/a"},
		{name: "a reader beside a writer", text: `
			acquired c1 o1 /l/a
			acquired c2 o2 /l/b read`, event: 1, message: "c2 believes that it holds the lock by /l/b while c1 still believes " +
			"so by /l/a"},
		{name: "a downgrade, and a reader that comes in", text: `
			acquired c1 o1 /l/a
			acquired c1 o1 /l/a read
			acquired c2 o2 /l/b read`},
		{name: "nothing is believed in the course of a downgrade", text: `
			acquired c1 o1 /l/a
			acquired c1 o1 /l/a read
			invoke c1 o1 downgrade
			acquired c2 o2 /l/b`},
		{name: "but after it", text: `
			acquired c1 o1 /l/a
			invoke c1 o1 downgrade
			acquired c2 o2 /l/b
			return c1 o1 downgrade
			acquired c1 o1 /l/a read`, event: 4, message: "c1 believes that it holds the lock by /l/a while c2 still believes " +
			"so by /l/b"},
		{name: "a belief is excused when the lock is being broken", text: `
			acquired c1 o1 /l/a
			invoke c2 o2 break /l/a
			acquired c2 o2 /l/b`},
		{name: "a claim to a broken lock is excused", text: `
			invoke c2 o3 break /l/a
			acquired c2 o2 /l/b
			acquired c1 o1 /l/a`},
		{name: "that another lock is broken is no excuse", text: `
			invoke c2 o3 break /l/x
			acquired c2 o2 /l/b
			acquired c1 o1 /l/a`, event: 2, message: "c1 believes that it holds the lock by /l/a while c2 still believes so " +
			"by /l/b"},
	})
	judge(t, Belief{Leases: 2}, []judgement{
		{name: "as many as there are", text: `
			acquired c1 o1 /s/a
			acquired c2 o2 /s/b
			lost c1 o1
			acquired c3 o3 /s/c`},
		{name: "one more", text: `
			acquired c1 o1 /s/a
			acquired c2 o2 /s/b
			acquired c3 o3 /s/c`, event: 2, message: "c3 believes that it holds a lease by /s/c while 2 others still believe " +
			"so, c1 by /s/a and c2 by /s/b"},
	})
}

func TestAFencedResourceLetsReadersShare(t *testing.T) {
	const holders = `
		created c1 /l/a z5 s11
		acquired c1 o1 /l/a v5 read
		created c2 /l/b z7 s12
		acquired c2 o2 /l/b v7 read
		created c3 /l/c z8 s13
		acquired c3 o3 /l/c v8
	`
	judge(t, Fenced{}, []judgement{
		{name: "readers in any order, then the writer", text: holders + `
			write c2 o2 v7 read ok
			write c1 o1 v5 read ok
			write c3 o3 v8 ok`},
		{name: "a read after a write of a later holder", text: holders + `
			write c3 o3 v8 ok
			write c1 o1 v5 read ok`, event: 7, message: "the resource accepted a read of c1, holder since zxid 0x5, after a " +
			"write of c3, holder since 0x8"},
		{name: "refused", text: holders + `
			write c3 o3 v8 ok
			write c1 o1 v5 read`},
		{name: "a write after a read of a later holder", text: `
			created c1 /l/a z5 s11
			acquired c1 o1 /l/a v5
			created c2 /l/b z7 s12
			acquired c2 o2 /l/b v7 read
			write c2 o2 v7 read ok
			write c1 o1 v5 ok`, event: 5, message: "the resource accepted a write of c1, holder since zxid 0x5, after a read " +
			"of c2, holder since 0x7"},
		{name: "a writer that has become a reader", text: `
			created c1 /l/a z5 s11
			created c1 /l/b z5 s11
			acquired c1 o1 /l/b v5
			write c1 o1 v5 ok
			acquired c1 o1 /l/a v5 read
			write c1 o1 v5 read ok`},
	})
}

func TestOnlyWakeUpsInVainAreAHerdOfReaders(t *testing.T) {
	const release = `
		created c1 /l/a z1 s11
		deleted c1 /l/a z4
		notify c2 deleted /l/a z4
		notify c3 deleted /l/a z4
		notify c4 deleted /l/a z4
		acquired c2 o2 /l/b read
	`
	judge(t, Herd{PerEvent: 1, InVain: true}, []judgement{
		{name: "two readers go on, a writer does not", text: release + `
			return c3 o3 rlock
			acquired c3 o3 /l/c read
			notify c4 deleted /l/b z5
			acquired c4 o4 /l/d`},
		{name: "two do not", text: release + `
			return c3 o3 rlock: gave up
			notify c4 deleted /l/b z5
			acquired c4 o4 /l/d`, event: 4, message: "one change of /l/a caused 3 notifications, 2 of them in vain; " +
			"at most 1 may be"},
		{name: "two have not yet, as the run comes to rest", text: release, event: 4, message: "one change of /l/a caused " +
			"3 notifications, 2 of them in vain; at most 1 may be"},
		{name: "two have not yet, as the run is stopped", text: release + `Outcome stopped`},
		{name: "two do not, before the run is stopped", text: release + `
			notify c3 deleted /l/b z5
			notify c4 deleted /l/b z5
			Outcome stopped`, event: 4, message: "one change of /l/a caused 3 notifications, 2 of them in vain; " +
			"at most 1 may be"},
	})
}

func TestARevocationMustReachTheHolder(t *testing.T) {
	judge(t, LostRevoke{}, []judgement{
		{name: "told", text: `
			calm
			invoke c1 o1 hold /l/a
			return c2 o2 revoke /l/a
			told c1 o1 revoked /l/a
			return c1 o1 hold /l/a`},
		{name: "not told", text: `
			calm
			invoke c1 o1 hold /l/a
			return c2 o2 revoke /l/a
			return c1 o1 hold /l/a: context deadline exceeded`, event: 3,
			message: "c1 was not told that its lock by /l/a is revoked, by c2"},
		{name: "revoked before it was held", text: `
			return c2 o2 revoke /l/a
			calm
			invoke c1 o1 hold /l/a
			return c1 o1 hold /l/a: context deadline exceeded`, event: 3,
			message: "c1 was not told that its lock by /l/a is revoked, by c2"},
		{name: "broken", text: `
			calm
			invoke c1 o1 hold /l/a
			deleted c2 /l/a
			return c2 o2 break /l/a
			return c1 o1 hold /l/a: context deadline exceeded`, event: 4,
			message: "c1 was not told that its lock by /l/a is broken, by c2"},
		{name: "nobody has revoked it", text: `
			calm
			return c2 o2 revoke /l/b
			return c2 o2 revoke /l/a: connection closed
			invoke c1 o1 hold /l/a
			return c1 o1 hold /l/a: context deadline exceeded`},
		{name: "while there are faults time says nothing", text: `
			invoke c1 o1 hold /l/a
			calm
			return c2 o2 revoke /l/a
			return c1 o1 hold /l/a: context deadline exceeded`},
		{name: "another znode of that name", text: `
			calm
			return c2 o2 revoke /l/a
			deleted c1 /l/a
			created c1 /l/a
			invoke c1 o1 hold /l/a
			return c1 o1 hold /l/a: context deadline exceeded`},
		{name: "live", text: `
			Live
			calm
			invoke c1 o1 hold /l/a
			return c2 o2 revoke /l/a
			return c1 o1 hold /l/a: context deadline exceeded`, event: 3,
			message: "c1 was not told that its lock by /l/a is revoked, by c2"},
	})
}

func TestAHolderThatGoesOnIsToldOfABreakOnly(t *testing.T) {
	judge(t, LostRevoke{}, []judgement{
		{name: "told, goes on, and revoked again", text: `
			calm
			invoke c1 o1 hold /l/a
			return c2 o2 revoke /l/a
			told c1 o1 revoked /l/a
			return c1 o1 hold /l/a
			invoke c1 o1 hold /l/a
			return c2 o2 revoke /l/a
			return c1 o1 hold /l/a: context deadline exceeded`},
		{name: "told, goes on, and broken", text: `
			calm
			return c2 o2 revoke /l/a
			told c1 o1 revoked /l/a
			invoke c1 o1 hold /l/a
			return c2 o2 break /l/a
			return c3 o3 revoke /l/a
			return c1 o1 hold /l/a: context deadline exceeded`, event: 6,
			message: "c1 was not told that its lock by /l/a is broken, by c2"},
	})
}

func TestALockIsBrokenOrRevokedWhenThatIsSaid(t *testing.T) {
	const begun = `
		created c1 /l/a z3 s11
		invoke c2 o2 `
	judge(t, LostRevoke{}, []judgement{
		{name: "broken", text: begun + `break /l/a
			deleted c2 /l/a z4
			return c2 o2 break /l/a`},
		{name: "not broken", text: begun + `break /l/a
			return c2 o2 break /l/a`, event: 2,
			message: "c2 was told that it has broken the lock by /l/a, which is still there"},
		{name: "another znode of that name", text: begun + `break /l/a
			deleted c1 /l/a z4
			created c1 /l/a z5 s12
			return c2 o2 break /l/a`},
		{name: "revoked", text: begun + `revoke /l/a
			changed c2 /l/a z4 "unlock"
			return c2 o2 revoke /l/a`},
		{name: "revoked before", text: `
			created c1 /l/a z3 s11 "unlock"
			invoke c2 o2 revoke /l/a
			return c2 o2 revoke /l/a`},
		{name: "not revoked", text: begun + `revoke /l/a
			return c2 o2 revoke /l/a`, event: 2,
			message: "c2 was told that it has revoked the lock by /l/a, which is there, and its data is not \"unlock\""},
		{name: "gone", text: begun + `revoke /l/a
			deleted c1 /l/a z4
			return c2 o2 revoke /l/a`},
		{name: "it failed", text: begun + `revoke /l/a
			return c2 o2 revoke /l/a: connection closed`},
	})
}

func TestAnAlarmMustBeTrue(t *testing.T) {
	judge(t, Overdue{}, []judgement{
		{name: "true, for all that anybody knows", text: `
			told c1 o1 overdue /l/a v300
			return c2 o2 held /l/a v300
			told c1 o1 overdue /l/b v900`},
		{name: "said for how long again, which counts for nothing", text: `
			told c1 o1 overdue /l/a v300
			return c2 o2 held /l/a v300
			return c2 o2 held /l/a v200`},
		{name: "said by two monitors", text: `
			told c1 o1 overdue /l/a v300
			told c2 o2 overdue /l/a v310
			return c3 o3 held /l/a v310`},
		{name: "said by two monitors, and one is wrong", text: `
			told c1 o1 overdue /l/a v300
			told c2 o2 overdue /l/a v310
			return c3 o3 held /l/a v300`, event: 1,
			message: "c2 says that /l/a has been held for 310ns, but its holder had it for 300ns at most"},
		{name: "said twice", text: `
			told c1 o1 overdue /l/a v300
			told c1 o1 overdue /l/a v400`, event: 1, message: "c1 says again that /l/a has been held for too long"},
		{name: "false", text: `
			told c1 o1 overdue /l/a v300
			return c2 o2 held /l/b v500
			return c2 o2 held /l/a v299`, event: 0, message: "c1 says that /l/a has been held for 300ns, but its holder had " +
			"it for 299ns at most"},
	})
}

func TestWhatIsFreeIsNotRefused(t *testing.T) {
	const reader = `
		created c1 /l
		created c1 /l/x-read-1 z1 s11
		invoke c2 o2 tryrlock
		created c2 /l/y-read-2 z2 s12
	`
	judge(t, Refusal{}, []judgement{
		{name: "a reader because of a reader", text: reader + `return c2 o2 tryrlock ok: locked`, event: 4,
			message: "c2 was refused by tryrlock, and nobody was in its way"},
		{name: "a reader because of a writer that was there for a moment", text: `
			created c1 /l/x-write-1 z1 s11
			invoke c2 o2 tryrlock
			deleted c1 /l/x-write-1
			created c2 /l/y-read-2 z2 s12
			return c2 o2 tryrlock ok: locked`},
		{name: "a reader because of a writer that had gone", text: `
			created c1 /l/x-write-1 z1 s11
			deleted c1 /l/x-write-1
			invoke c2 o2 tryrlock
			created c2 /l/y-read-2 z2 s12
			return c2 o2 tryrlock ok: locked`, event: 4, message: "c2 was refused by tryrlock, and nobody was in its way"},
		{name: "a writer because of a reader", text: reader + `
			return c2 o2 tryrlock
			invoke c3 o3 trylock
			created c3 /l/z-read-3 z3 s13
			created c3 /l/z-write-4 z3 s13
			return c3 o3 trylock ok: locked`},
		{name: "a writer because of itself", text: `
			invoke c3 o3 trylock
			created c3 /l/z-read-3 z3 s13
			created c3 /l/z-write-4 z3 s13
			return c3 o3 trylock ok: locked`, event: 3, message: "c3 was refused by trylock, and nobody was in its way"},
		{name: "another error, or another call, is no refusal", text: `
			invoke c3 o3 trylock
			return c3 o3 trylock: connection closed
			invoke c3 o3 downgrade
			return c3 o3 downgrade ok: lost`},
	})
	judge(t, Refusal{Leases: 2}, []judgement{{name: "a lease is free", text: `
		created c1 /s/x z1 s11
		invoke c2 o2 tryacquire
		created c2 /s/y z2 s12
		return c2 o2 tryacquire ok: locked`, event: 3,
		message: "c2 was refused by tryacquire, and 1 of 2 leases were taken"}})
}
