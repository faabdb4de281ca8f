package checkers

import (
	"fmt"
	"testing"
)

func TestAMembersZnodeKeepsItsData(t *testing.T) {
	const joined = `
		invoke c1 o1 join /g/m
		created c1 /g/m z1 s11 "a"
		return c1 o1 join /g/m
	`
	const other = `
		invoke c1 o4 join /g/m
		deleted c0 /g/m z2 s11
		created c1 /g/m z3 s12 "b"
	`
	const message = `c1 is a member again by /g/m with the data "b", which were "a" before`
	judge(t, Presence{Untold: true}, []judgement{
		{name: "the same", text: joined + `
			deleted c0 /g/m z2 s11
			created c1 /g/m z3 s12 "a"`},
		{name: "other data", event: 4, message: message, text: joined + `
			deleted c0 /g/m z2 s11
			created c1 /g/m z3 s12 "b"`},
		{name: "other data by a name of its own", text: joined + `created c1 /g/n z2 s11 "b"`},
		{name: "a late request of a call before, which is undone", text: `
			invoke c1 o1 join /g/m
			return c1 o1 join /g/m: canceled
			invoke c1 o1 join /g/m
			created c1 /g/m z1 s11 "a"
			deleted c1 /g/m z2 s11
			created c1 /g/m z3 s11 "b"
			return c1 o1 join /g/m`},
		{name: "another member of the client by the name", text: joined + other},
		{name: "the data of the other", text: joined + other + `
			return c1 o4 join /g/m
			invoke c1 o1 leave /g/m
			deleted c0 /g/m z4 s12
			created c1 /g/m z5 s13 "c"`},
		{name: "another that has left before", text: `
			invoke c1 o4 join /g/m
			invoke c1 o4 leave /g/m` + joined + `
			deleted c0 /g/m z2 s11
			created c1 /g/m z3 s12 "b"`, event: 6, message: message},
	})
}

func TestTheMonitorOfPresenceRemembersWhatIsRare(t *testing.T) {
	const joined = "return c1 o1 join /g/m\n"
	const a = "invoke c1 o1 join /g/m\ncreated c1 /g/m z1 s11 \"a\"\n"
	const b = "deleted /g/m z2 s11\ncreated c1 /g/m z3 s12 \"b\""
	remembersRare(t, Presence{}, "whether another member of the client had the name", b,
		a+joined+"invoke c1 o4 join /g/m\ninvoke c1 o4 leave /g/m\n",
		a+joined+"invoke c1 o4 join /g/n\ninvoke c1 o4 leave /g/n\n")
	const rested = "calm\ninvoke c1 o1 join /g/m\ncreated c1 /g/m z1\ndeleted /g/m z2\ncreated %s /g/m z3\n" +
		"return c1 o1 join /g/m\ninvoke c1 o1 rest\n"
	remembersRare(t, Presence{}, "who has made a persistent znode", "invoke c1 o1 leave /g/m",
		fmt.Sprintf(rested, "c1"), fmt.Sprintf(rested, "c2"))
}
