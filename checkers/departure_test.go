package checkers

import "testing"

// TestAMembershipLastsWhenAnotherHadItsName has a member whose session ends, another who joins by its name and leaves,
// and the znode that the first makes anew, as it has not left.
func TestAMembershipLastsWhenAnotherHadItsName(t *testing.T) {
	const usurped = `
		invoke c1 o1 join /g/m
		created c1 /g/m z1 s11
		return c1 o1 join /g/m
		deleted /g/m z2 s11
		invoke c2 o2 join /g/m
		created c2 /g/m z3 s21
		return c2 o2 join /g/m`
	judge(t, Departure{}, []judgement{
		{name: "the other's second delete takes what the first has made anew", text: usurped + `
			invoke c2 o2 leave /g/m
			deleted c2 /g/m z4 s21
			created c1 /g/m z5 s12
			deleted c2 /g/m z6 s12`, event: 10, message: "c2 deleted /g/m, whose member c1 has not left"},
		{name: "the first leaves by name while it is the other's, who is not listed then", text: usurped + `
			invoke c1 o1 leave /g/m
			return c1 o1 leave /g/m
			invoke c3 o3 members
			return c3 o3 members`, event: 10,
			message: "c3 was not told of the member /g/m, which had joined before it asked and has not left"},
		{name: "the first leaves, and the other's znode stays", text: usurped + `
			invoke c1 o1 leave /g/m
			return c1 o1 leave /g/m
			invoke c3 o3 members
			return c3 o3 members /g/m`},
	})
}

// TestObjectsOfOneClientMayJoinByOneName has two of them, one of which leaves: it may delete the znode that the other
// one has made.
func TestObjectsOfOneClientMayJoinByOneName(t *testing.T) {
	const both = `
		invoke c1 o1 join /g/m
		created c1 /g/m z1 s11
		return c1 o1 join /g/m
		deleted /g/m z2 s11
		invoke c1 o2 join /g/m
		created c1 /g/m z3 s12
		return c1 o2 join /g/m
		`
	judge(t, Departure{}, []judgement{
		{name: "the first leaves", text: both + `
			invoke c1 o1 leave /g/m
			deleted c1 /g/m z4 s12
			return c1 o1 leave /g/m`},
		{name: "the second leaves, and the znode is that which the first has made anew", text: both + `
			deleted /g/m z4 s12
			created c1 /g/m z5 s13
			invoke c1 o2 leave /g/m
			deleted c1 /g/m z6 s13
			return c1 o2 leave /g/m`},
		{name: "nobody leaves", text: both + `
			deleted c1 /g/m z4 s12`, event: 7, message: "c1 deleted /g/m, whose member c1 has not left"},
	})
}

// TestALeaveNeedNotNameTheZnode has members that record only by which znode they join.
func TestALeaveNeedNotNameTheZnode(t *testing.T) {
	const member = `
		invoke c1 o1 join /g/m
		created c1 /g/m z1 s11
		return c1 o1 join /g/m
		`
	const rested = member + `
		calm
		invoke c1 o1 rest
		return c1 o1 rest
		`
	judge(t, Departure{}, []judgement{
		{name: "it deletes its znode", text: member + `
			invoke c1 o1 leave
			deleted c1 /g/m z2 s11
			return c1 o1 leave`},
		{name: "it is not listed", text: member + `
			invoke c2 o2 members
			invoke c1 o1 leave
			deleted c1 /g/m z2 s11
			return c2 o2 members`},
		{name: "another member of the client has not left", text: member + `
			invoke c1 o2 join /g/n
			created c1 /g/n z2 s11
			return c1 o2 join /g/n
			invoke c1 o1 leave
			deleted c1 /g/n z3 s11`, event: 7, message: "c1 deleted /g/n, whose member c1 has not left"},
	})
	judge(t, Presence{}, []judgement{
		{name: "its znode is there", text: rested + `invoke c1 o1 leave`},
		{name: "its znode is gone", text: rested + `
			deleted c2 /g/m z2 s11
			invoke c1 o1 leave`, event: 7, message: "c1 is a member that has not left, and there is no /g/m"},
		{name: "nobody knows its znode", text: `
			calm
			invoke c1 o1 join
			created c1 /g/m z1 s11
			return c1 o1 join
			invoke c1 o1 rest
			return c1 o1 rest
			invoke c1 o1 leave`},
	})
}

// TestWhoClosesItsConnectionLeavesBefore is about znodes that go with a session which their client closes: in a history
// it has deleted them.
func TestWhoClosesItsConnectionLeavesBefore(t *testing.T) {
	const member = `
		invoke c1 o1 join /g/m
		created c1 /g/m z1 s11
		return c1 o1 join /g/m
		`
	const inside = begun + `
		created c2 /b/y z1 s12
		changed c1 /b/ready z2
		return c1 o1 enter /b/x v2
		return c2 o2 enter /b/y v2
		`
	judge(t, Departure{}, []judgement{
		{name: "a member that leaves", text: member + `
			invoke c1 o1 leave /g/m
			call c1 closeSession
			deleted c1 /g/m z2 s11`},
		{name: "a member that does not", text: member + `
			call c1 closeSession
			deleted c1 /g/m z2 s11`, event: 4, message: "c1 deleted /g/m, whose member c1 has not left"},
	})
	judge(t, Exit{}, []judgement{
		{name: "it leaves", text: inside + `
			invoke c2 o2 leave
			call c2 closeSession
			deleted c2 /b/y z3 s12
			invoke c1 o1 leave
			return c1 o1 leave`},
		{name: "it does not", text: inside + `
			call c2 closeSession
			deleted c2 /b/y z3 s12
			invoke c1 o1 leave
			return c1 o1 leave`, event: 12, message: "c1 has left round 0x2 while c2 is inside by /b/y"},
	})
}
