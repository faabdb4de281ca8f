package checkers

import (
	"fmt"
	"testing"
)

func TestWhatIsToldDoesNotGoBack(t *testing.T) {
	judge(t, Monotone{}, []judgement{
		{name: "forward, the same again, and others", text: `
			deleted c2 /w/a z6
			told c1 o1 data /w/a z3
			told c1 o1 data /w/a z3
			told c1 o1 data /w/a z5
			told c1 o2 data /w/a z3
			told c1 o1 data /w/b z3
			told c1 o1 children /w/a z4
			told c1 o1 gone /w/a
			told c1 o1 data /w/a z7
			told c1 o1 joined /w/a
			told c1 o1 data /w/a z8`},
		{name: "back", text: `
			told c1 o1 data /w/a z5
			told c1 o1 data /w/a z4`, event: 1, message: "c1 was told the state of /w/a at zxid 0x4 after that at 0x5"},
		{name: "children", text: `
			told c1 o1 children /w z5 v1
			told c1 o1 children /w z4 v2`, event: 1, message: "c1 was told the state of /w at zxid 0x4 after that at 0x5"},
		{name: "back after the end", text: `
			deleted c2 /w/a z6
			told c1 o1 data /w/a z5
			told c1 o1 gone /w/a
			told c1 o1 gone /w/a
			told c1 o1 data /w/a z5`, event: 4, message: "c1 was told the state of /w/a at zxid 0x5 again after it was told " +
			"that it was gone"},
		{name: "made anew by the txn that has deleted it", text: `
			told c1 o1 data /w/a z3
			deleted c2 /w/a z6
			created c2 /w/a z6
			told c1 o1 gone /w/a
			told c1 o1 data /w/a z6`},
		{name: "back to before the beginning", text: `
			deleted c2 /w/a z4
			told c1 o1 gone /w/a
			told c1 o1 data /w/a z5
			told c1 o1 gone /w/a`, event: 3, message: "c1 was told that /w/a is gone, after its state at zxid 0x5 and without " +
			"a deletion since"},
	})
}

func TestWatchersConverge(t *testing.T) {
	told := func(op, path string, zxid int, set ...string) string {
		return fmt.Sprintf("told c1 o1 %s %s z%d v%d\n", op, path, zxid, Fingerprint(set...))
	}
	const rest, tree = "calm\ninvoke c1 o1 rest\ninvoke c1 o1 stop\n", `
		Znode /w s0 z1 p9
		Znode /w/a s0 z5 one
		Znode /w/b s7 z8 two
	`
	watch := func(op, path string) string { return "invoke c1 o1 " + op + " " + path + "\n" }
	judge(t, Convergence{}, []judgement{
		{name: "data", text: watch(WatchData, "/w/a") + told("data", "/w/a", 4, "old") + told("data", "/w/a", 5,
			"one") + rest + tree},
		{name: "older data", text: watch(WatchData, "/w/a") + told("data", "/w/a", 4, "one") + rest + tree,
			event: 1, message: "c1 was told last the state of /w/a at zxid 0x4, and 0x5 is the last"},
		{name: "other data", text: watch(WatchData, "/w/a") + told("data", "/w/a", 5, "two") + rest + tree,
			event: 1, message: "c1 was told last another state of /w/a than that of zxid 0x5"},
		{name: "a znode that is there", text: watch(WatchData, "/w/a") + "told c1 o1 gone /w/a\n" + rest + tree,
			event: 1, message: "c1 was told last that /w/a is gone, which exists"},
		{name: "a znode that is not there", text: watch(WatchData, "/w/c") + told("data", "/w/c", 5, "one") + rest + tree,
			event: 1, message: "c1 was told last that /w/c exists, which is gone"},
		{name: "gone", text: watch(WatchData, "/w/c") + told("data", "/w/c", 5, "one") + "told c1 o1 gone /w/c\n" +
			rest + tree},
		{name: "nothing", text: watch(WatchData, "/w/c") + rest + tree, event: 3, message: "c1 was told nothing of /w/c"},
		{name: "children", text: watch(WatchChildren, "/w") + told("children", "/w", 9, "b", "a") + rest + tree},
		{name: "other children", text: watch(WatchChildren, "/w") + told("children", "/w", 9, "b") + rest + tree,
			event: 1, message: "c1 was told last another state of /w than that of zxid 0x9"},
		{name: "no parent", text: watch(WatchChildren, "/x") + told("children", "/x", 9, "b") + told("children", "/x",
			0) + rest + tree},
		{name: "cache", text: watch(WatchCache, "/w") + told("data", "/w/a", 5, "one") + told("data", "/w/b", 8,
			"two") + rest + tree},
		{name: "a cache that misses one", text: watch(WatchCache, "/w") + told("data", "/w/a", 5, "one") + rest + tree,
			event: 4, message: "c1 was told nothing of /w/b, which exists"},
		{name: "a cache with one too many", text: watch(WatchCache, "/w") + told("data", "/w/a", 5, "one") + told("data",
			"/w/b", 8, "two") +
			told("data", "/w/c", 8, "two") + rest + tree, event: 3, message: "c1 was told last that /w/c exists, which is gone"},
		{name: "an empty cache", text: watch(WatchCache, "/w/a") + rest + tree},
		{name: "members are ephemeral", text: watch(WatchMembers, "/w") + told("data", "/w/b", 8, "two") + rest + tree},
		{name: "stopped before all was quiet", text: watch(WatchData, "/w/a") +
			"invoke c1 o1 rest\ncalm\ninvoke c1 o1 stop\n" + tree},
		{name: "ended by itself", text: watch(WatchData, "/w/a") + "return c1 o1 " + WatchData + "\n" + rest + tree},
		{name: "changed since", text: watch(WatchChildren, "/w") + told("children", "/w", 8) + rest + "created c2 /w/b z9\n" +
			tree},
		{name: "a run that was stopped", text: watch(WatchData, "/w/a") + rest + tree + "Outcome stopped\n"},
	})
}

func TestMembersDoNotDepart(t *testing.T) {
	const member = `
		invoke c1 o1 join /g/a
		created c1 /g/a z3 s11
		return c1 o1 join /g/a
		invoke c3 o3 watch-members /g
	`
	judge(t, Departure{}, []judgement{
		{name: "leaves", text: member + `
			invoke c1 o1 leave /g/a
			deleted c1 /g/a z4 s11
			told c3 o3 gone /g/a`},
		{name: "the session ends", text: member + `
			deleted c0 /g/a z4 s11
			told c3 o3 gone /g/a`},
		{name: "deletes its own", text: member + `deleted c1 /g/a z4 s11`, event: 4,
			message: "c1 deleted /g/a, whose member c1 has not left"},
		{name: "deleted by another", text: member + `deleted c2 /g/a z4 s11`, event: 4,
			message: "c2 deleted /g/a, whose member c1 has not left"},
		{name: "a cancelled join", text: `
			invoke c1 o1 join /g/a
			created c1 /g/a z3 s11
			return c1 o1 join /g/a: context canceled
			deleted c1 /g/a z4 s11`},
		{name: "somebody else's after the end of the session", text: member + `
			deleted c0 /g/a z4 s11
			created c2 /g/a z5 s12
			deleted c2 /g/a z6 s12`},
		{name: "told without a deletion", text: member + `
			told c3 o3 data /g/a z3
			told c3 o3 gone /g/a`, event: 5, message: "c3 was told that /g/a is gone more often than it was deleted"},
		{name: "told twice", text: member + `
			deleted c0 /g/a z4 s11
			told c3 o3 gone /g/a
			told c3 o3 data /g/a z5
			told c3 o3 gone /g/a`, event: 7, message: "c3 was told that /g/a is gone more often than it was deleted"},
		{name: "others may tell what they like", text: member + `told c4 o4 gone /g/a`},
		{name: "is listed", text: member + `
			invoke c2 o2 members /g
			return c2 o2 members /g/a`},
		{name: "is not listed", text: member + `
			invoke c2 o2 members /g
			return c2 o2 members /g/b`, event: 5,
			message: "c2 was not told of the member /g/a, which had joined before it asked and has not left"},
		{name: "leaves while somebody asks", text: member + `
			invoke c2 o2 members /g
			invoke c1 o1 leave /g/a
			return c2 o2 members`},
		{name: "ends while somebody asks", text: member + `
			invoke c2 o2 members /g
			deleted c0 /g/a z4 s11
			created c1 /g/a z5 s12
			return c2 o2 members`},
		{name: "joins while somebody asks", text: `
			invoke c1 o1 join /g/a
			created c1 /g/a z3 s11
			invoke c2 o2 members /g
			return c1 o1 join /g/a
			return c2 o2 members`},
		{name: "nobody is told", text: member + `
			invoke c2 o2 members /g
			return c2 o2 members: context canceled`},
	})
}

func TestAMemberThatIsMadeAnewHasItsData(t *testing.T) {
	const joined = `
		invoke c1 o1 join /g/a
		created c1 /g/a z1 s11 "x"
		return c1 o1 join /g/a
		deleted /g/a z2 s11`
	judge(t, Presence{}, []judgement{
		{name: "the same", text: joined + `
			created c1 /g/a z3 s12 "x"`},
		{name: "none", text: joined + `
			created c1 /g/a z3 s12`, event: 4,
			message: `c1 is a member again by /g/a with the data "", which were "x" before`},
		{name: "those of another who takes the name", text: joined + `
			created c2 /g/a z3 s13 "y"`},
		{name: "others, after it has left", text: joined + `
			invoke c1 o1 leave /g/a
			return c1 o1 leave /g/a
			invoke c1 o2 join /g/a
			created c1 /g/a z3 s12 "z"
			return c1 o2 join /g/a`},
	})
}

func TestMembersArePresent(t *testing.T) {
	const member, leaves = `
		invoke c1 o1 join /g/a
		created c1 /g/a z3 s11
		return c1 o1 join /g/a
	`, `
		calm
		invoke c1 o1 rest
		invoke c1 o1 leave /g/a
	`
	judge(t, Presence{}, []judgement{
		{name: "present", text: member + leaves},
		{name: "made anew", text: member + `
			deleted c0 /g/a
			told c1 o1 lost /g/a
			created c1 /g/a z5 s12
			told c1 o1 joined /g/a` + leaves},
		{name: "not there", text: member + `deleted c0 /g/a` + leaves, event: 6,
			message: "c1 is a member that has not left, and there is no /g/a"},
		{name: "not there, and known", text: member + `
			deleted c0 /g/a
			told c1 o1 lost /g/a` + leaves, event: 7, message: "c1 is a member that has not left, and there is no /g/a"},
		{name: "another's", text: member + `
			deleted c0 /g/a
			created c2 /g/a z5 s12` + leaves, event: 7, message: "c1 was told that it is a member by /g/a, which is of c2"},
		{name: "another's, and known", text: member + `
			deleted c0 /g/a
			told c1 o1 lost /g/a
			created c2 /g/a z5 s12` + leaves},
		{name: "made anew, and not known", text: member + `
			deleted c0 /g/a
			told c1 o1 lost /g/a
			created c1 /g/a z5 s12` + leaves, event: 8, message: "c1 was not told that it is a member again by /g/a"},
		{name: "another member's of the client, and known", text: member + `
			deleted c0 /g/a
			told c1 o1 lost /g/a
			invoke c1 o4 join /g/a
			created c1 /g/a z5 s12
			return c1 o4 join /g/a` + leaves},
		{name: "before all was quiet", text: member + `
			deleted c0 /g/a
			invoke c1 o1 rest
			calm
			invoke c1 o1 leave /g/a`},
	})
}

func TestAWatcherTellsOfItsDoubts(t *testing.T) {
	const watches = `
		session c1 StateHasSession s11
		invoke c1 o1 watch-data /a
		told c1 o1 doubt ok
		reply c1 getW /a
		told c1 o1 data /a z5
		told c1 o1 doubt
	`
	const end = `
		calm
		invoke c1 o1 rest
		invoke c1 o1 stop
	`
	const lost = watches + `
		heard c1 disconnected
		heard c1 disconnected
	`
	judge(t, Suspicion{}, []judgement{
		{name: "doubts that come and go", text: lost + `
			told c1 o1 doubt ok
			reply c1 getW /a
			told c1 o1 doubt` + end},
		{name: "doubts that go with the connection", text: lost + `
			told c1 o1 doubt ok
			told c1 o1 doubt` + end, event: 9, message: "c1 was told that what it knows of /a is up to date again, and " +
			"nothing was read since it was told that it may not be"},
		{name: "no doubts", text: lost + end, event: 10, message: "c1 was not told that what it knows of /a may be out of " +
			"date, and has heard that the connection is lost"},
		{name: "a connection that was there again before anybody looked", text: watches + `
			heard c1 disconnected
			heard c1 connected` + end},
		{name: "doubts that stay", text: lost + `told c1 o1 doubt ok` + end, event: 11, message: "c1 was told that what it " +
			"knows of /a may be out of date, and not that it is up to date again"},
		{name: "doubts of a client without a connection", text: lost + `
			told c1 o1 doubt ok
			session c1 StateDisconnected s11` + end},
		{name: "without a rest", text: lost + `
			invoke c1 o1 rest
			invoke c1 o1 stop`},
		{name: "no doubts twice", text: watches + `told c1 o1 doubt`, event: 6,
			message: "c1 was told twice in a row that what it knows is up to date"},
		{name: "news after the last doubt was taken back", text: watches + `told c1 o1 data /a z7`, event: 6,
			message: "c1 was told that what it knows of /a is up to date, and then, before anything else was read, what " +
				"had changed"},
		{name: "news that was read", text: watches + `
			reply c1 getW /a
			told c1 o1 data /a z7`},
	})
}

// What is not watched may change during the rest.
func TestWatchersConvergeWhateverElseChanges(t *testing.T) {
	const tree = `
		invoke c1 o1 stop
		Znode /w s0 z7 p6 old
		Znode /w/a s0 z6
	`
	told := "told c1 o1 children /w z4 v1\ntold c1 o1 data /w z5 v1\ncalm\ninvoke c1 o1 rest\n"
	const data, list = "changed c2 /w z7", "created c2 /w/a z6"
	judge(t, Convergence{}, []judgement{
		{name: "data, and a child is made", text: "invoke c1 o1 watch-data /w\n" + told + list + tree, event: 2,
			message: "c1 was told last the state of /w at zxid 0x5, and 0x7 is the last"},
		{name: "data, and they change", text: "invoke c1 o1 watch-data /w\n" + told + data + tree},
		{name: "children, and data change", text: "invoke c1 o1 watch-children /w\n" + told + data + tree, event: 1,
			message: "c1 was told last the state of /w at zxid 0x4, and 0x6 is the last"},
		{name: "children, and one is made", text: "invoke c1 o1 watch-children /w\n" + told + list + tree},
		{name: "data of children, and those of their parent change", text: "invoke c1 o1 watch-cache /w\n" + told + data +
			tree, event: 6, message: "c1 was told nothing of /w/a, which exists"},
		{name: "data of children, and one is made", text: "invoke c1 o1 watch-cache /w\n" + told + list + tree},
	})
}
