package checkers

import "testing"

func TestOwnershipIsOfTheFirstZnode(t *testing.T) {
	const both = `
		invoke c1 o1 lock
		created c1 /l/a z1 s11
		invoke c2 o2 lock
		created c2 /l/b z2 s12
	`
	judge(t, Ownership{}, []judgement{
		{name: "an empty history"},
		{name: "one after the other", text: both + `
			acquired c1 o1 /l/a
			released c1 o1
			deleted c1 /l/a
			acquired c2 o2 /l/b
			released c2 o2`},
		{name: "told before the znode of the other is gone", text: both + `
			acquired c1 o1 /l/a
			released c1 o1
			acquired c2 o2 /l/b`, event: 6, message: "c2 was told that it holds the lock by /l/b, which is not the first of " +
			"the queue"},
		{name: "not the first", text: both + `acquired c2 o2 /l/b`, event: 4,
			message: "c2 was told that it holds the lock by /l/b, which is not the first of the queue"},
		{name: "the session ended after it was first and before it was told", text: both + `
			deleted c0 /l/a
			acquired c1 o1 /l/a
			acquired c2 o2 /l/b`},
		{name: "the session ended before it was ever first", text: both + `
			deleted c0 /l/b
			deleted c1 /l/a
			acquired c2 o2 /l/b`, event: 6, message: "c2 was told that it holds the lock by /l/b, which had been deleted " +
			"before it was first in the queue"},
		{name: "first only before the call that claims it", text: both + `
			deleted c1 /l/a
			deleted c2 /l/b
			invoke c2 o2 lock
			acquired c2 o2 /l/b`, event: 7, message: "c2 was told that it holds the lock by /l/b, which had been deleted " +
			"before the call began"},
		{name: "the path was another client's before", text: `
			created c1 /l/a z1 s11
			deleted c1 /l/a
			invoke c2 o2 lock
			created c2 /l/a z2 s12
			acquired c2 o2 /l/a
			released c2 o2
			deleted c2 /l/a
			invoke c1 o1 lock
			created c1 /l/a z3 s11
			acquired c1 o1 /l/a`},
		{name: "the path belongs to another client now", text: `
			invoke c1 o1 lock
			created c1 /l/a z1 s11
			deleted c0 /l/a
			invoke c2 o2 lock
			created c2 /l/a z2 s12
			acquired c2 o2 /l/a
			acquired c1 o1 /l/a`},
	})
}

func TestOwnershipSaysWhatIsWrongWithTheZnode(t *testing.T) {
	judge(t, Ownership{}, []judgement{
		{name: "no znode at all", text: `
			invoke c1 o1 lock
			acquired c1 o1 /l/a`, event: 1, message: "c1 was told that it holds the lock by /l/a, which was never made"},
		{name: "the znode of another client", text: `
			created c2 /l/a z1 s12
			invoke c1 o1 lock
			acquired c1 o1 /l/a`, event: 2,
			message: "c1 was told that it holds the lock by /l/a, which c2 has made"},
		{name: "a znode that no client has made", text: `
			created /l/a z1
			invoke c1 o1 lock
			acquired c1 o1 /l/a`, event: 2,
			message: "c1 was told that it holds the lock by /l/a, which another client has made"},
		{name: "nothing is said of a znode", text: `
			created c1 /l/a z1 s11
			invoke c1 o1 lock
			acquired c1 o1`, event: 2,
			message: "c1 was told that it holds the lock, and nobody has recorded by which znode"},
	})
}

// A latch that tells a listener has no call: it waits all the time.
func TestOwnershipIsToldWithoutACall(t *testing.T) {
	judge(t, Ownership{}, []judgement{
		{name: "first and deleted, and told by a listener without a call", text: `
			created c1 /l/a z1 s11
			deleted c0 /l/a
			acquired c1 o1 /l/a`},
		{name: "deleted before it was first, and told by a listener", text: `
			created c1 /l/a z1 s11
			created c2 /l/b z2 s12
			invoke c1 o1 lock
			deleted c0 /l/b
			acquired c2 o2 /l/b`, event: 4, message: "c2 was told that it holds the lock by /l/b, which had been deleted " +
			"before it was first in the queue"},
		{name: "another object of the client has recorded a call", text: `
			created c1 /l/a z1 s11
			invoke c1 o1 lock
			deleted c0 /l/a
			acquired c1 o2 /l/a`, event: 3, message: "c1 was told that it holds the lock by /l/a, which had been deleted, " +
			"and of that object no call is recorded that could have got it"},
	})
	judge(t, Claim{}, []judgement{
		{name: "deleted, and told by a listener that knows the session to be over", text: `
			session c1 s11 StateHasSession
			created c1 /l/a z1 s11
			deleted c0 /l/a
			session c1 s12 StateHasSession
			heard c1 s12 connected
			acquired c1 o1 /l/a`, event: 5, message: "c1 claims the lock by /l/a after it was told that the session which " +
			"owns that, 0xb, is over"},
	})
}

func TestOwnershipIsOfOneZnode(t *testing.T) {
	judge(t, Ownership{}, []judgement{
		{name: "two workers of one client", text: `
			invoke c1 o1 lock
			invoke c1 o2 lock
			created c1 /l/a z1 s11
			acquired c1 o1 /l/a
			acquired c1 o2 /l/a`, event: 4, message: "c1 and c1 own the lock at once, by /l/a and /l/a"},
		{name: "znodes of other parents do not count", text: `
			created c1 /l z1 s11
			created c1 /m/a z2 s11
			created c1 /l/x/a z3 s11
			invoke c2 o2 lock
			created c2 /l/b z4 s12
			acquired c2 o2 /l/b`},
	})
}

func TestBeliefIsOfOneClient(t *testing.T) {
	judge(t, Belief{}, []judgement{
		{name: "one after the other", text: `
			acquired c1 o1 /l/a
			released c1 o1
			acquired c2 o2 /l/b
			lost c2 o2
			acquired c3 o3 /l/c
			crashed c3
			acquired c1 o1 /l/d`},
		{name: "two at once", text: `
			acquired c1 o1 /l/a
			acquired c2 o2 /l/b`, event: 1, message: "c2 believes that it holds the lock by /l/b while c1 still believes so " +
			"by /l/a"},
		{name: "disconnected is not lost", text: `
			acquired c1 o1 /l/a
			session c1 StateDisconnected
			acquired c2 o2 /l/b`, event: 2, message: "c2 believes that it holds the lock by /l/b while c1 still believes so " +
			"by /l/a"},
		{name: "two workers of one client are the ownership's business", text: `
			acquired c1 o1 /l/a
			acquired c1 o2 /l/b`},
		{name: "the loss of one worker is not that of the other", text: `
			acquired c1 o1 /l/a
			acquired c1 o2 /l/b
			lost c1 o1
			acquired c2 o3 /l/c`, event: 3, message: "c2 believes that it holds the lock by /l/c while c1 still believes so " +
			"by /l/b"},
		{name: "a belief is excused when the session ended before the client could know", text: `
			acquired c1 o1 /l/a
			exceeded c1
			acquired c2 o2 /l/b`},
		{name: "a claim is excused as long as the client cannot know", text: `
			acquired c2 o2 /l/b
			exceeded c1
			acquired c1 o1 /l/a`},
		{name: "what another connection of the client hears is nothing that it knows by this one", text: `
			exceeded c1 n1
			session c1 StateHasSession
			acquired c2 o2 /l/b
			acquired c1 o1 /l/a`},
		{name: "once it knows it is not excused", text: `
			exceeded c1
			session c1 StateDisconnected
			acquired c2 o2 /l/b
			acquired c1 o1 /l/a`, event: 3, message: "c1 believes that it holds the lock by /l/a while c2 still believes so " +
			"by /l/b"},
		{name: "one claim that goes on as another is excused until it is given up", text: `
			exceeded c1
			acquired c1 o1 /l/a
			session c1 StateDisconnected
			acquired c2 o2 /l/c
			acquired c1 o1 /l/b
			lost c1 o1
			acquired c1 o1 /l/d`, event: 6, message: "c1 believes that it holds the lock by /l/d while c2 still believes so " +
			"by /l/c"},
		{name: "that another is excused is no excuse", text: `
			exceeded c3
			acquired c1 o1 /l/a
			session c2 StateHasSession
			acquired c2 o2 /l/b`, event: 3, message: "c2 believes that it holds the lock by /l/b while c1 still believes so " +
			"by /l/a"},
	})
}

func TestBeliefInWhatComesByThePathOfABrokenLock(t *testing.T) {
	const broken = `
		created c1 /l/a z1 s11
		invoke c3 o3 break /l/a
		deleted c3 /l/a z2 s11
	`
	judge(t, Belief{}, []judgement{
		{name: "what comes by the path of a lock that was broken is not excused", text: broken + `
			return c3 o3 break /l/a
			created c2 /l/a z3 s12
			acquired c2 o2 /l/a
			acquired c3 o3 /l/b`, event: 6, message: "c3 believes that it holds the lock by /l/b while c2 still believes so " +
			"by /l/a"},
		{name: "whoever had it before is", text: broken + `
			return c3 o3 break /l/a
			created c2 /l/a z3 s12
			acquired c2 o2 /l/a
			acquired c1 o1 /l/a`},
		{name: "so is what comes while it is being broken", text: broken + `
			return c3 o3 break /l/a: unknown
			created c2 /l/a z3 s12
			acquired c2 o2 /l/a
			acquired c3 o3 /l/b`},
	})
}

func TestBeliefSaysWhoHasDeletedWhatAnotherHolds(t *testing.T) {
	judge(t, Belief{}, []judgement{
		{name: "two at once, since one has deleted what the other holds", text: `
			created c1 /l/a z1 s11
			acquired c1 o1 /l/a
			deleted c2 /l/a z2
			created c2 /l/a z3 s12
			acquired c2 o2 /l/a`, event: 4, message: "c2 believes that it holds the lock by /l/a while c1 still believes so " +
			"by /l/a, which c2 has deleted"},
		{name: "two at once, since a session has ended", text: `
			created c1 /l/a z1 s11
			acquired c1 o1 /l/a
			deleted c0 /l/a z2 s11
			acquired c2 o2 /l/b`, event: 3, message: "c2 believes that it holds the lock by /l/b while c1 still believes so " +
			"by /l/a"},
	})
}

func TestAFencedResourceKeepsTheOrderOfHolders(t *testing.T) {
	const holders = `
		created c1 /l/a z5 s11
		invoke c1 o1 lock
		acquired c1 o1 /l/a v5
		created c2 /l/b z7 s12
		invoke c2 o2 lock
		acquired c2 o2 /l/b v7
	`
	judge(t, Fenced{}, []judgement{
		{name: "in order", text: holders + `
			write c1 o1 v5 ok
			write c1 o1 v5 ok
			write c2 o2 v7 ok`},
		{name: "refused", text: holders + `
			write c2 o2 v7 ok
			write c1 o1 v5
			write c2 o2 v7 ok`},
		{name: "accepted after a later holder", text: holders + `
			write c2 o2 v7 ok
			write c1 o1 v5 ok`, event: 7, message: "the resource accepted a write of c1, holder since zxid 0x5, after one of " +
			"c2, holder since 0x7"},
		{name: "accepted, because no token was shown", text: holders + `
			write c2 o2 v0 ok
			write c1 o1 v0 ok`, event: 7, message: "the resource accepted a write of c1, holder since zxid 0x5, after one of " +
			"c2, holder since 0x7"},
		{name: "accepted, because the token is a lie", text: holders + `
			write c2 o2 v7 ok
			write c1 o1 v9 ok`, event: 7, message: "the resource accepted a write of c1, holder since zxid 0x5, after one of " +
			"c2, holder since 0x7"},
		{name: "refused, although nobody came later", text: holders + `
			write c1 o1 v5 ok
			write c2 o2 v3`, event: 7, message: "the resource refused c2, holder since zxid 0x7, the latest that it has seen"},
		{name: "the same object holds again", text: holders + `
			write c2 o2 v7 ok
			created c1 /l/c z8 s11
			acquired c1 o1 /l/c v8
			write c1 o1 v8 ok`},
		{name: "the same path, made again", text: `
			created c1 /l/a z5 s11
			acquired c1 o1 /l/a v5
			write c1 o1 v5 ok
			deleted c1 /l/a
			created c2 /l/a z7 s12
			acquired c2 o2 /l/a v7
			write c2 o2 v7 ok
			write c1 o1 v5 ok`, event: 7, message: "the resource accepted a write of c1, holder since zxid 0x5, after one of " +
			"c2, holder since 0x7"},
		{name: "live: by the tokens", text: `
			Live
			acquired c1 o1 /l/a v5
			acquired c2 o2 /l/b v7
			write c2 o2 v7 ok
			write c1 o1 v5 ok`, event: 3, message: "the resource accepted a write of c1, holder with token 0x5, after one of " +
			"c2, holder with token 0x7"},
		{name: "live: refused", text: `
			Live
			acquired c1 o1 /l/a v5
			acquired c2 o2 /l/b v7
			write c2 o2 v7 ok
			write c1 o1 v5`},
	})
}

func TestHoldersWithoutZnodesAreToldApartByTheirTokens(t *testing.T) {
	judge(t, Fenced{}, []judgement{
		{name: "each has one of its own", text: "acquired c1 o1 v1\nacquired c2 o2 v2"},
		{name: "two have one", text: "acquired c1 o1 v1\nreleased c1 o1\nacquired c2 o2 v1", event: 2,
			message: "c2 holds the lock with token 0x1, which c1 has had: the resource cannot tell which of them is the later " +
				"holder"},
		{name: "one has it twice", text: "acquired c1 o1 v1\nreleased c1 o1\nacquired c1 o2 v1"},
		{name: "a reader has that of a writer", text: "acquired c1 o1 v1\nreleased c1 o1\nacquired c2 o2 read v1"},
	})
	remembersRare(t, Fenced{}, "the token of a holder", "acquired c1 o1 v1", "acquired c2 o2 v2", "acquired c2 o2 v1")
	for _, x := range []struct {
		token string
		want  bool
	}{{"", false}, {" v1", true}} {
		h := script(t, "acquired c1 o1"+x.token+"\nwrite c1 o1 ok\nacquired c2 o2"+x.token+"\nwrite c2 o2 ok")
		if got := twoWriters(h); got != x.want {
			t.Errorf("token%q: two holders have written: %v, want %v", x.token, got, x.want)
		}
	}
}

func TestLinearizabilityOfLocks(t *testing.T) {
	judge(t, Linearizability{}, []judgement{
		{name: "one after the other", text: `
			invoke c1 o1 lock
			return c1 o1 lock
			acquired c1 o1 /l/a
			released c1 o1
			invoke c2 o2 lock
			invoke c1 o1 unlock
			acquired c2 o2 /l/b
			return c1 o1 unlock`},
		{name: "two at once", text: `
			invoke c1 o1 lock
			acquired c1 o1 /l/a
			invoke c2 o2 lock
			acquired c2 o2 /l/b`, event: 3, message: "no order of the operations explains that c2 holds the lock by /l/b"},
		{name: "two that are told in the other order", text: `
			invoke c1 o1 lock
			invoke c2 o2 lock
			acquired c1 o1 /l/a
			invoke c3 o3 lock
			exceeded c1
			acquired c2 o2 /l/b`},
		{name: "a session that ended during the call explains a claim of the past", text: `
			invoke c1 o1 lock
			exceeded c1
			invoke c2 o2 lock
			acquired c2 o2 /l/b
			acquired c1 o1 /l/a`},
		{name: "after its return an unlock has happened", text: `
			invoke c1 o1 lock
			acquired c1 o1 /l/a
			released c1 o1
			invoke c1 o1 unlock
			return c1 o1 unlock
			invoke c2 o2 trylock
			return c2 o2 trylock ok: locked`, event: 6, message: "no order of the operations explains the answer of c2's " +
			"trylock"},
		{name: "before its return perhaps not", text: `
			invoke c1 o1 lock
			acquired c1 o1 /l/a
			released c1 o1
			invoke c1 o1 unlock
			invoke c2 o2 trylock
			return c2 o2 trylock ok: locked
			return c1 o1 unlock`},
		{name: "an old hold that is released again does not end a new one of the same client", text: `
			invoke c1 o1 lock
			acquired c1 o1 /l/a
			lost c1 o1
			invoke c2 o2 lock
			acquired c2 o2 /l/b
			released c2 o2
			invoke c1 o3 lock
			acquired c1 o3 /l/c
			released c1 o1
			invoke c3 o4 lock
			acquired c3 o4 /l/d`, event: 10, message: "no order of the operations explains that c3 holds the lock by /l/d"},
		{name: "a release without a hold", text: `released c1 o1`},
	})
}

func TestTryLockRefusesOnlyWhatIsTaken(t *testing.T) {
	judge(t, Linearizability{}, []judgement{
		{name: "a refusal because somebody waits", text: `
			created c1 /l/a s11
			invoke c2 o2 trylock
			return c2 o2 trylock ok: locked`},
		{name: "a refusal because of the own znode", text: `
			invoke c2 o2 trylock
			created c2 /l/a s12
			return c2 o2 trylock ok: locked`, event: 2, message: "no order of the operations explains the answer of c2's " +
			"trylock"},
		{name: "a refusal because of another worker of the client", text: `
			created c2 /l/a s12
			invoke c2 o2 trylock
			created c2 /l/b s12
			return c2 o2 trylock ok: locked
			deleted c2 /l/b s12`},
		{name: "a refusal because of somebody who was there for a moment", text: `
			invoke c2 o2 trylock
			created c1 /l/a s11
			deleted c0 /l/a s11
			return c2 o2 trylock ok: locked`},
		{name: "a persistent znode is nobody", text: `
			created c1 /l
			invoke c2 o2 trylock
			return c2 o2 trylock ok: locked`, event: 2, message: "no order of the operations explains the answer of c2's " +
			"trylock"},
		{name: "another error of trylock is no refusal", text: `
			invoke c2 o2 trylock
			return c2 o2 trylock: connection closed`},
	})
}

func TestAProofThatStaysBehindIsNoContender(t *testing.T) {
	judge(t, Ownership{}, []judgement{
		{name: "the lock is deleted before what proves it", text: `
			invoke c1 o1 lock
			created c1 /l/lock z1 s11
			created c1 /l/holder-a z1 s11
			acquired c1 o1 /l/lock
			released c1 o1
			deleted c1 /l/lock z2 s11
			invoke c2 o2 lock
			created c2 /l/lock z3 s12
			created c2 /l/holder-b z3 s12
			acquired c2 o2 /l/lock`},
		{name: "another lock that is older", text: `
			invoke c1 o1 lock
			created c1 /l/a z1 s11
			created c1 /l/b z1 s11
			invoke c2 o2 lock
			created c2 /l/c z2 s12
			acquired c2 o2 /l/c`, event: 5,
			message: "c2 was told that it holds the lock by /l/c, which is not the first of the queue"},
	})
}

// A lock on one znode makes two in one txn, the lock and the proof of who has it, and deletes both in one. Which of
// them goes first harms nobody.
func TestOwnershipOfALockWithAProofEndsInEitherOrder(t *testing.T) {
	const made = `
		invoke c1 o1 lock
		created c1 /l/lock z1 s11
		created c1 /l/proof z1 s11
		invoke c2 o2 lock
	`
	const next = `
		created c2 /l/lock z3 s12
		created c2 /l/proof2 z3 s12
		acquired c2 o2 /l/lock
		released c2 o2`
	var all []judgement
	const lock, proof = "deleted c1 /l/lock z2\n", "deleted c1 /l/proof z2\n"
	for _, order := range []string{lock + proof, proof + lock} {
		for _, path := range []string{"/l/lock", "/l/proof"} {
			all = append(all,
				judgement{name: order + "held by " + path,
					text: made + "acquired c1 o1 " + path + "\nreleased c1 o1\n" + order + next},
				judgement{name: order + "told late of " + path, text: made + order + "acquired c1 o1 " + path + next})
		}
	}
	judge(t, Ownership{}, all)
}
