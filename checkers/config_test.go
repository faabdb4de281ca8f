package checkers

import (
	"testing"

	"zksim/model/history"
)

func TestNobodyIsGivenPartsOfTwoUpdates(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "a=7/1": true, "a=7/2 b=7/2": true, "a=7/2 b=8/2": false, "a=7/2": false, "a=7/1 b=7/1": false,
		"a=7/3 b=7/2 c=7/3": false, "a= b=": false, "a=7 b=7": false, "a": false,
	} {
		if whole(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
	judge(t, Torn{}, []judgement{
		{name: "whole sets, and the empty one", text: `
			invoke c1 o1 get
			return c1 o1 get z5
			told c1 o2 config z5`},
		{name: "only what was given is judged", text: `
			invoke c1 o1 update v7
			return c1 o1 update /a=7/2
			return c1 o1 get /a=7/2: invalid
			told c1 o2 other /a=7/2`},
		{name: "part of an update, asked for", text: `
			return c1 o1 get /a=7/2`, event: 0, message: "c1 was given /a=7/2, which is of more than one update"},
		{name: "part of an update, told", text: `
			told c2 o1 config /a=7/1
			told c2 o1 config /a=7/3`, event: 1, message: "c2 was given /a=7/3, which is of more than one update"},
		{name: "what no update writes", text: `
			told c2 o1 config /a=`, event: 0, message: "c2 was given /a=, and /a= is a value of no update"},
	})
}

func TestAnUpdateThatLeavesPartsOfAnotherIsNamed(t *testing.T) {
	h := &history.History{Txns: true}
	for _, e := range []history.Event{
		{Kind: history.Created, Client: 2, Path: "/config/a", Data: "7/2"},
		{Kind: history.Created, Client: 2, Path: "/config/b", Data: "7/2"},
		{Kind: history.Invoke, Client: 1, Object: 1, Op: "update", Path: "/config", Value: 8},
		{Kind: history.Changed, Client: 1, Path: "/config/a", Data: "8/1"},
		{Kind: history.Return, Client: 1, Object: 1, Op: "update"},
		{Kind: history.Told, Client: 2, Object: 2, Op: "config", Path: "a=8/1 b=7/2"},
	} {
		h.Add(e)
	}
	const want = "update 8 of c1 left a=8/1 b=7/2, which is of more than one update, and c2 was given that"
	if v := (Torn{}).Check(h); v.Level != Violated || v.Event != 5 || v.Message != want {
		t.Errorf("%+v, want %q", v, want)
	}
	h.Events[5].Path = "a=7/2 b=8/1"
	if v := (Torn{}).Check(h); v.Message != "c2 was given a=7/2 b=8/1, which is of more than one update" {
		t.Errorf("of a set that nobody has left: %+v", v)
	}
}

func TestConfigurationsDoNotGoBack(t *testing.T) {
	judge(t, Recency{}, []judgement{
		{name: "which of two updates of a client has made the later set is not known", text: `
			invoke c1 o1 update /config
			changed c1 /config z3
			invoke c1 o4 update /config
			changed c1 /config z5
			return c1 o1 update
			invoke c2 o2 get
			return c2 o2 get z3 /a=1/1`},
		{name: "later and later", text: `
			told c1 o1 config z3
			told c1 o1 config z3
			invoke c2 o2 get
			return c2 o2 get z3
			told c1 o1 config z7`},
		{name: "a cached reader may be behind others", text: `
			told c1 o1 config z7
			told c2 o2 config z3`},
		{name: "a cached reader goes back", text: `
			told c1 o1 config z7
			told c2 o2 config z3
			told c1 o1 config z3`, event: 2, message: "the cached reader of c1 goes back from zxid 0x7 to 0x3"},
		{name: "one that has ended is another when it begins again", text: `
			told c1 o1 config z7
			return c1 o1 follow ok: canceled
			told c1 o1 config z3`},
		{name: "what becomes known while one asks need not be given", text: `
			invoke c2 o2 get
			told c1 o1 config z7
			return c2 o2 get z3`},
		{name: "what was told before must be given", text: `
			told c1 o1 config z7
			invoke c2 o2 get
			return c2 o2 get z3`, event: 2, message: "c2 was given the set of zxid 0x3 although that of 0x7 was known before"},
		{name: "and so must what was given before", text: `
			invoke c1 o1 get
			return c1 o1 get z7
			invoke c2 o2 get
			return c2 o2 get z3`, event: 3, message: "c2 was given the set of zxid 0x3 although that of 0x7 was known before"},
		{name: "an update that has ended is known", text: `
			invoke c1 o1 update /config
			changed c1 /config z7
			deleted c1 /config/_r_1 z8
			return c1 o1 update
			invoke c2 o2 get
			return c2 o2 get z3`, event: 5, message: "c2 was given the set of zxid 0x3 although that of 0x7 was known before"},
		{name: "one that has not ended need not be seen, nor one of which nobody knows", text: `
			invoke c1 o1 update /config
			changed c1 /config z7
			invoke c2 o2 get
			return c1 o1 update: lost
			return c2 o2 get z3
			invoke c2 o2 get
			return c2 o2 get z3`},
		{name: "what others change is not the update's, nor are other znodes", text: `
			invoke c1 o1 update /config
			changed c2 /config z7
			changed c1 /config/a z8
			return c1 o1 update
			invoke c2 o2 get
			return c2 o2 get z3`},
		{name: "an error is no set", text: `
			told c1 o1 config z7
			invoke c2 o2 get
			return c2 o2 get: invalid`},
	})
}

func TestAReaderThatAlsoAsksIsTwo(t *testing.T) {
	judge(t, Recency{}, []judgement{
		{name: "one that also asks may be behind what it asks for", text: `
			told c2 o2 config z7
			told c1 o1 config z3
			invoke c1 o1 get
			told c1 o1 config z5
			return c1 o1 get z7
			told c1 o1 config z6`},
		{name: "one that also asks goes back", text: `
			told c1 o1 config z7
			invoke c1 o1 get
			return c1 o1 get z7
			told c1 o1 config z3`, event: 3, message: "the cached reader of c1 goes back from zxid 0x7 to 0x3"},
	})
}

func TestAnUpdateIsRefusedOnlyWhileAnotherIsMade(t *testing.T) {
	const other = `
		invoke c1 o1 update
		return c1 o1 update
	`
	const refused = `
		invoke c2 o2 update
		return c2 o2 update ok: changed
	`
	const message = "the update of c2 was refused although no other was in progress"
	judge(t, Conflict{}, []judgement{
		{name: "nobody else", text: refused, event: 1, message: message},
		{name: "another has ended", text: other + refused, event: 3, message: message},
		{name: "another begins later", text: refused + other, event: 1, message: message},
		{name: "another was refused before", text: `
			invoke c3 o3 update
			invoke c1 o1 update
			return c1 o1 update ok: changed
			return c3 o3 update` + refused, event: 5, message: message},
		{name: "another goes on", text: `invoke c1 o1 update` + refused},
		{name: "another begins meanwhile", text: `
			invoke c2 o2 update
			invoke c1 o1 update
			return c2 o2 update ok: changed`},
		{name: "another ends meanwhile", text: `
			invoke c1 o1 update
			invoke c2 o2 update
			return c1 o1 update
			return c2 o2 update ok: changed`},
		{name: "nobody knows whether another was made", text: `
			invoke c1 o1 update
			return c1 o1 update: unknown` + refused},
		{name: "its own of before, too", text: `
			invoke c2 o2 update
			return c2 o2 update: unknown` + refused},
		{name: "a crash ends nothing", text: `
			invoke c1 o1 update
			crashed c1` + refused},
		{name: "no refusal", text: `
			invoke c2 o2 update
			return c2 o2 update: canceled`},
	})
}

func TestAnUpdateThatIsRefusedWasNotMade(t *testing.T) {
	const begun = `
		invoke c1 o1 update v100
		invoke c2 o2 update /config v200`
	const refused = `
		return c2 o2 update ok: changed`
	judge(t, Conflict{Flag: "changing"}, []judgement{
		{name: "it was", text: begun + `
			changed c2 /config z3
			changed c2 /config/a z3 "200/2"` + refused, event: 4, message: "update 200 of c2 was refused, but was made"},
		{name: "what was made is an earlier one of its client", text: begun + `
			changed c2 /config z3
			changed c2 /config/a z3 "20/2"` + refused},
		{name: "what was made is another's", text: begun + `
			changed c1 /config/a z3 "100/2"` + refused},
		{name: "it is made step by step", text: begun + `
			changed c2 /config z3 "changing"
			created c2 /config/a z4 "200/2"` + refused},
		{name: "it is made later", text: begun + refused + `
			changed c2 /config/a z3 "200/2"`, event: 3, message: "update 200 of c2 was refused, but was made after that"},
		{name: "the next one of its client is made", text: begun + refused + `
			invoke c2 o2 update /config v201
			changed c2 /config/a z3 "201/2"`},
	})
}

func TestASetThatWasReplacedDoesNotComeBack(t *testing.T) {
	const given = `
		told c1 o1 config z3 /a=7/1
		told c1 o1 config z5 /a=8/1
	`
	judge(t, Replaced{}, []judgement{
		{name: "sets in their order", text: given + `
			told c2 o2 config z3 /a=7/1
			told c2 o2 config z5 /a=8/1`},
		{name: "the same again, as an update that is repeated", text: `
			told c1 o1 config z3 /a=7/1
			told c1 o1 config z5 /a=7/1`},
		{name: "the old set under the date of the new one", text: given + `
			told c2 o2 config z5 /a=7/1`, event: 2,
			message: "c2 was given the set of update 7/1 under zxid 0x5, and somebody that of update 8/1"},
		{name: "the old set under a later date", text: given + `
			invoke c2 o2 get
			return c2 o2 get z9 /a=7/1`, event: 3, message: "c2 was given the set of update 7/1 under zxid 0x9, although that " +
			"of update 8/1 had replaced it at zxid 0x5"},
		{name: "the old set under its own date, when it was given under a later one before", text: `
			told c1 o1 config z9 /a=7/1
			told c2 o2 config z5 /a=8/1
			told c3 o3 config z3 /a=7/1`, event: 2, message: "c3 was given the set of update 7/1 under zxid 0x3, and " +
			"somebody under 0x9, although that of update 8/1 had replaced it at zxid 0x5"},
		{name: "an error, and the empty set", text: given + `
			return c2 o2 get z5 /a=7/1: invalid
			told c2 o2 config z5`},
	})
}

func TestAnUpdateThatIsOvertakenDoesNotSucceed(t *testing.T) {
	const begun = `
		invoke c1 o1 update /config
		changed c1 /config z3 "changing"
	`
	judge(t, Overtaken{Flag: "changing"}, []judgement{
		{name: "one that ends", text: begun + `
			changed c1 /config z5 "ready"
			changed c2 /config z6 "changing"
			return c1 o1 update`},
		{name: "one that is overtaken", text: begun + `
			changed c2 /config z5 "changing"
			changed c2 /config z6 "ready"
			return c1 o1 update`, event: 4,
			message: "the update of c1 succeeds, and the last that it has made of /config says that it " +
				"goes on: another has overtaken it"},
		{name: "one that says so", text: begun + `return c1 o1 update ok: changed`},
		{name: "two of one client", text: begun + `
			invoke c1 o2 update /config
			return c1 o1 update`},
		{name: "other znodes", text: `
			invoke c1 o1 update /config
			changed c1 /config/a z3 "changing"
			return c1 o1 update`},
	})
}
