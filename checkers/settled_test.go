package checkers

import "testing"

func TestAListThatIsToldAsSettledStayedWhileItWasWaitedFor(t *testing.T) {
	const begun = `
		created c2 /d z1
		created c2 /d/a z2
		invoke c1 o1 watch-children /d
		invoke c1 o1 settle
	`
	judge(t, Settled{}, []judgement{
		{name: "it stayed", text: begun + `return c1 o1 settle
			told c1 o1 children /d z2`},
		{name: "it changed after that", text: begun + `return c1 o1 settle
			created c2 /d/b z3
			told c1 o1 children /d z2`},
		{name: "it changed before", text: begun + `created c2 /d/b z3
			return c1 o1 settle
			told c1 o1 children /d z2`, event: 6, message: "c1 was told the list of /d at zxid 0x2 as settled, and c2 " +
			"changed it by /d/b before the time to settle had passed"},
		{name: "it was new", text: begun + `created c2 /d/b z3
			return c1 o1 settle
			told c1 o1 children /d z3`, event: 6, message: "c1 was told the list of /d at zxid 0x3 as settled, which dates " +
			"from after the time to settle had begun"},
		{name: "the data of a child changed", text: begun + `changed c2 /d/a z3
			return c1 o1 settle
			told c1 o1 children /d z2`},
		{name: "the time has not passed", text: begun + `told c1 o1 children /d z2`, event: 4,
			message: "c1 was told a list of /d before the time to settle had passed"},
		{name: "it has not passed since the list that was told last", text: begun + `return c1 o1 settle
			told c1 o1 children /d z2
			deleted c2 /d/a z3
			told c1 o1 children /d z3`, event: 7,
			message: "c1 was told a list of /d before the time to settle had passed"},
		{name: "there is no such znode", text: begun + `deleted c2 /d/a z3
			deleted c2 /d z4
			invoke c1 o1 settle
			return c1 o1 settle
			told c1 o1 children /d`},
		{name: "it was there again after that, and is told late", text: begun + `deleted c2 /d/a z3
			deleted c2 /d z4
			invoke c1 o1 settle
			return c1 o1 settle
			created c2 /d z5
			deleted c2 /d z6
			told c1 o1 children /d`},
		{name: "it was there again", text: begun + `deleted c2 /d/a z3
			deleted c2 /d z4
			invoke c1 o1 settle
			created c2 /d z5
			return c1 o1 settle
			told c1 o1 children /d`, event: 9, message: "c1 was told that there is no /d as settled, and c2 " +
			"changed it by /d before the time to settle had passed"},
		{name: "a change was proposed, and nobody was told that it was made", text: begun + `created c2 /d/b z3 proposed
			return c1 o1 settle
			told c1 o1 children /d z2`},
		{name: "a change was made, as an answer shows", text: begun + `created c2 /d/b z3 proposed
			reply c2 create /d/b z3
			return c1 o1 settle
			told c1 o1 children /d z2`, event: 7, message: "c1 was told the list of /d at zxid 0x2 as settled, and c2 " +
			"changed it by /d/b before the time to settle had passed"},
	})
}

// What came and went while a list was to settle, the world does not know in the end.
func TestAZnodeThatCameAndWentIsRemembered(t *testing.T) {
	const begun = `
		invoke c1 o1 watch-children /d
		invoke c1 o1 settle
	`
	came, other := Settled{}.Monitor(), Settled{}.Monitor()
	follow(script(t, begun+`
		created c2 /d z1
		deleted c2 /d z2`), came)
	follow(script(t, begun+`
		created c2 /e z1
		deleted c2 /e z2`), other)
	if digest(came) == digest(other) {
		t.Error("it makes no difference whether the znode or another one came and went")
	}
}
