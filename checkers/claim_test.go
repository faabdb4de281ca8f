package checkers

import "testing"

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
