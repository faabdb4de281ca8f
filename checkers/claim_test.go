package checkers

import (
	"testing"
)

func TestNobodyClaimsWhatItKnowsToBeOver(t *testing.T) {
	const queued = `
		session c1 StateHasSession s11
		invoke c1 o1 lock
		created c1 /l/a z1 s11
	`
	judge(t, Claim{}, []judgement{
		{name: "an empty history"},
		{name: "a claim", text: queued + `acquired c1 o1 /l/a`},
		{name: "a disconnection of which only the library knows", text: queued + `
			session c1 StateDisconnected s11
			acquired c1 o1 /l/a`},
		{name: "a disconnection of which the code knows", text: queued + `
			session c1 StateDisconnected s11
			heard c1 disconnected s11
			acquired c1 o1 /l/a`, event: 5, message: "c1 claims the lock by /l/a after it was told that it is disconnected"},
		{name: "connected again in the same session", text: queued + `
			session c1 StateDisconnected s11
			heard c1 disconnected s11
			session c1 StateHasSession s11
			acquired c1 o1 /l/a`},
		{name: "old news of a disconnection", text: queued + `
			session c1 StateDisconnected s11
			session c1 StateHasSession s11
			heard c1 connected s11
			acquired c1 o1 /l/a`},
		{name: "another client is disconnected", text: queued + `
			heard c2 disconnected s12
			acquired c1 o1 /l/a`},
		{name: "an end of the session of which only the library knows", text: queued + `
			deleted c1 /l/a z2 s11
			session c1 StateExpired s0
			session c1 StateHasSession s21
			acquired c1 o1 /l/a`},
		{name: "the code asks for the session", text: queued + `
			deleted c1 /l/a z2 s11
			session c1 StateExpired s0
			session c1 StateHasSession s21
			heard c1 s21
			acquired c1 o1 /l/a`, event: 7, message: "c1 claims the lock by /l/a after it was told that the session which " +
			"owns that, 0xb, is over"},
		{name: "the code hears of the end and claims later", text: queued + `
			session c1 StateExpired s0
			heard c1 disconnected s0
			session c1 StateHasSession s21
			acquired c1 o1 /l/a`, event: 6, message: "c1 claims the lock by /l/a after it was told that the session which " +
			"owns that, 0xb, is over"},
		{name: "a znode of the new session", text: queued + `
			deleted c1 /l/a z2 s11
			session c1 StateExpired s0
			heard c1 disconnected s0
			session c1 StateHasSession s21
			created c1 /l/b z3 s21
			acquired c1 o1 /l/b`},
		{name: "a leader that acknowledges with a session that is over", text: queued + `
			session c1 StateExpired s0
			heard c1 disconnected s0
			session c1 StateHasSession s21
			return c1 o1 acknowledge /l/a`, event: 6, message: "c1 succeeds with acknowledge by /l/a after it was told that " +
			"the session which owns that, 0xb, is over"},
		{name: "an acknowledgement that is followed by a disconnection", text: queued + `
			session c1 StateDisconnected s11
			heard c1 disconnected s11
			return c1 o1 acknowledge /l/a`},
		{name: "a process that has ended", text: queued + `
			heard c1 disconnected s11
			crashed c1
			acquired c1 o1 /l/a`},
	})
}

func TestAZnodeThatWasGoneBeforeACallIsNotThatOfItsClaim(t *testing.T) {
	judge(t, Claim{}, []judgement{
		{name: "another object's call is older", text: `
			session c1 StateHasSession s11
			invoke c1 o1 lock
			created c1 /l/a z1 s11
			deleted c1 /l/a z2 s11
			session c1 StateExpired s0
			session c1 StateHasSession s21
			heard c1 s21
			invoke c1 o4 lock
			acquired c1 o4 /l/a`},
	})
}

func TestNobodyEntersABarrierByASessionThatItKnowsToBeOver(t *testing.T) {
	const waits = `
		session c1 StateHasSession s11
		invoke c1 o1 enter
		created c1 /d/member-a z1 s11
	`
	judge(t, Claim{Of: ClaimedPlace}, []judgement{
		{name: "the session lasts", text: waits + `return c1 o1 enter /d/member-a`},
		{name: "the code has asked for the next one", text: waits + `
			session c1 StateExpired s0
			session c1 StateHasSession s21
			heard c1 s21
			return c1 o1 enter /d/member-a`, event: 6, message: "c1 succeeds with enter by /d/member-a after it was told that " +
			"the session which owns that, 0xb, is over"},
		{name: "the code does not know yet", text: waits + `
			session c1 StateExpired s0
			session c1 StateHasSession s21
			return c1 o1 enter /d/member-a`},
		{name: "by a znode of the next one", text: waits + `
			session c1 StateExpired s0
			session c1 StateHasSession s21
			heard c1 s21
			created c1 /d/member-b z2 s21
			return c1 o1 enter /d/member-b`},
	})
}

func TestNoMemberIsToldThatItIsOneInASessionThatItKnowsToBeOver(t *testing.T) {
	const member = `
		session c1 StateHasSession s11
		invoke c1 o1 join
		created c1 /g/a z1 s11
		return c1 o1 join
		told c1 o1 lost /g/a
	`
	judge(t, Claim{Of: ClaimedMember}, []judgement{
		{name: "the session lasts", text: member + `heard c1 connected s11
			told c1 o1 joined /g/a`},
		{name: "the member has heard of the next one", text: member + `
			session c1 StateExpired s0
			session c1 StateHasSession s21
			heard c1 connected s21
			told c1 o1 joined /g/a`, event: 8, message: "c1 is told that it is a member by /g/a after it was told that the " +
			"session which owns that, 0xb, is over"},
		{name: "its znode was made anew", text: member + `
			deleted c1 /g/a z2 s11
			session c1 StateExpired s0
			session c1 StateHasSession s21
			heard c1 connected s21
			created c1 /g/a z3 s21
			told c1 o1 joined /g/a`},
		{name: "it hears of the connection before the library tells others", text: member + `
			session c1 StateDisconnected s11
			heard c1 disconnected s11
			heard c1 connected s11
			told c1 o1 joined /g/a`},
		{name: "it is disconnected", text: member + `
			session c1 StateDisconnected s11
			heard c1 disconnected s11
			told c1 o1 joined /g/a`, event: 7,
			message: "c1 is told that it is a member by /g/a after it was told that it is disconnected"},
	})
}
