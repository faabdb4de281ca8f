package checkers

import "testing"

func TestWhoeverIsDisconnectedIsToldBeforeItsSessionEnds(t *testing.T) {
	const held = `
		session c1 StateHasSession s11
		created c1 /l/a z1 s11
		acquired c1 o1 /l/a
		session c1 StateDisconnected s11
	`
	const late = "c1 still believes that it holds the lock by /l/a, whose session has ended, and was disconnected before"
	judge(t, Claim{}, []judgement{
		{name: "not told", text: held + `deleted c0 /l/a z2 s11`, event: 4, message: late},
		{name: "told", text: held + `
			lost c1 o1
			deleted c0 /l/a z2 s11`},
		{name: "given up", text: held + `
			released c1 o1
			deleted c0 /l/a z2 s11`},
		{name: "before it could know", text: held + `
			exceeded c1
			deleted c0 /l/a z2 s11`},
		{name: "deleted by somebody", text: held + `deleted c2 /l/a z2 s11`},
		{name: "crashed", text: held + `
			crashed c1
			deleted c0 /l/a z2 s11`},
		{name: "an earlier session, which lives on", text: held + `
			session c1 StateHasSession s21
			deleted c0 /l/a z2 s11`},
	})
	const joined = `
		session c1 StateHasSession s11
		invoke c1 o1 join /g/m
		created c1 /g/m z1 s11
		return c1 o1 join /g/m
		session c1 StateDisconnected s11
	`
	judge(t, Presence{}, []judgement{
		{name: "a member that is not told", text: joined + `deleted c0 /g/m z2 s11`, event: 5, message: "c1 was not told " +
			"that it may be a member no longer by /g/m, whose session has ended, and was disconnected before"},
		{name: "a member that is told", text: joined + `
			told c1 o1 lost /g/m
			deleted c0 /g/m z2 s11`},
		{name: "a member that leaves", text: joined + `
			invoke c1 o1 leave /g/m
			deleted c0 /g/m z2 s11`},
	})
	judge(t, Presence{Untold: true}, []judgement{
		{name: "a member that nobody tells", text: joined + `deleted c0 /g/m z2 s11`}})
	const inside = `
		session c1 StateHasSession s11
		invoke c1 o1 enter =1
		created c1 /b/a z1 s11
		return c1 o1 enter /b/a =1
		session c1 StateDisconnected s11
	`
	judge(t, Exit{}, []judgement{
		{name: "inside and not told", text: inside + `deleted c0 /b/a z2 s11`, event: 5, message: "c1 was not told that " +
			"it is inside no longer by /b/a, whose session has ended, and was disconnected before"},
		{name: "inside and told", text: inside + `
			lost c1 o1
			deleted c0 /b/a z2 s11`},
	})
}

func TestALapseIsOfTheSessionThatItsClientHas(t *testing.T) {
	judge(t, Presence{}, []judgement{
		{name: "another's znode, after its own has gone unheard of", text: `
			session c1 StateHasSession s11
			session c2 StateHasSession s21
			invoke c1 o1 join /g/m
			created c1 /g/m z1 s11
			deleted c0 /g/m z2 s11
			session c1 StateDisconnected s11
			created c2 /g/m z3 s21
			return c1 o1 join /g/m
			deleted c0 /g/m z4 s21`},
		{name: "the znode of one of two that believe to have it", event: 9, message: "c2 was not told that it may be a " +
			"member no longer by /g/m, whose session has ended, and was disconnected before", text: `
			session c1 StateHasSession s11
			session c2 StateHasSession s21
			invoke c1 o1 join /g/m
			return c1 o1 join /g/m
			session c1 StateDisconnected s11
			created c2 /g/m z3 s21
			invoke c2 o1 join /g/m
			return c2 o1 join /g/m
			session c2 StateDisconnected s21
			deleted c0 /g/m z4 s21`},
	})
}

func TestARoundBeginsOfMembersThatAreThere(t *testing.T) {
	const two = `
		created c1 /b/x z1 s11
		created c2 /b/y z2 s12
	`
	judge(t, Rounds{Listed: true}, []judgement{
		{name: "both are there", text: two + `changed c1 /b/ready z3 "x"`},
		{name: "a mark of one", text: two + `changed c1 /b/x z3 "leaving"`},
		{name: "one has gone", text: two + `
			deleted /b/x z3 s11
			changed c1 /b/ready z4 "x"`, event: 3, message: "c1 begins a round of which /b/x is a member, whose session has " +
			"ended or who has given up"},
	})
}

func TestNothingStaysOfARegistrationThatFailed(t *testing.T) {
	const failed = `
		invoke c1 o1 register v11
		return c1 o1 register: canceled
	`
	judge(t, Names{}, []judgement{
		{name: "nothing is left", text: failed + `Finished c1`},
		{name: "it is left", text: failed + `
			Finished c1
			Znode /n/a s0 11`, event: 1, message: "c1 could not register its name, and what it has made of it stays: /n/a"},
		{name: "it is left by one that has crashed", text: failed + `
			crashed c1
			Finished c1
			Znode /n/a s0 11`},
		{name: "another's is left", text: failed + `
			Finished c1
			Znode /n/a s0 21`},
		{name: "its client has not come to its end", text: failed + `Znode /n/a s0 11`},
	})
}
