package checkers

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// inTree is a queue with items 7 and 8, in that order.
const inTree = `
	invoke c1 o1 put v7
	created c1 /q/items/a z1 "7"
	return c1 o1 put v7
	invoke c1 o1 put v8
	created c1 /q/items/b z2 "8"
	return c1 o1 put v8
`

// proposed has the changes of a history at the moments when they were proposed.
func proposed(text string) string {
	return regexp.MustCompile(`(?m)^\s*(created|changed|deleted) .*$`).ReplaceAllString(text, "$0 proposed")
}

func TestTheTreeSaysWhichItemIsTheFirstThatIsFree(t *testing.T) {
	const passed = "c2 got item 8 while item 7, which comes first, was free all the time since it asked"
	others := inTree + `
		invoke c3 o3 claim
		created c3 /q/claims/a z3 s13
		return c3 o3 claim v7`
	judge(t, FIFO{}, []judgement{
		{name: "the first, beside another consumer", text: inTree + `
			invoke c3 o3 claim
			invoke c2 o2 claim
			created c2 /q/claims/a z3 s12
			return c2 o2 claim v7`},
		{name: "the second, beside another consumer", text: inTree + `
			invoke c3 o3 claim
			invoke c2 o2 claim
			created c2 /q/claims/b z3 s12
			return c2 o2 claim v8`, event: 9, message: passed},
		{name: "the second, by a consumer that removes it at once", text: inTree + `
			invoke c3 o3 take
			invoke c2 o2 take
			deleted c2 /q/items/b z3
			return c2 o2 take v8`, event: 9, message: passed},
		{name: "the first is claimed", text: others + `
			invoke c2 o2 claim
			created c2 /q/claims/b z4 s12
			return c2 o2 claim v8`},
		{name: "the first is given up meanwhile", text: others + `
			invoke c2 o2 claim
			deleted /q/claims/a z4 s13
			created c2 /q/claims/b z5 s12
			return c2 o2 claim v8`},
		{name: "the first was given up before", text: others + `
			deleted /q/claims/a z4 s13
			invoke c2 o2 claim
			created c2 /q/claims/b z5 s12
			return c2 o2 claim v8`, event: 12, message: passed},
		{name: "the second was claimed by an earlier operation", text: inTree + `
			invoke c2 o2 claim
			created c2 /q/claims/b z3 s12
			return c2 o2 claim ok: canceled
			deleted c2 /q/claims/b z4 s12
			invoke c2 o2 claim
			created c2 /q/claims/a z5 s12
			return c2 o2 claim v7`},
		{name: "no answer shows that the first was there before", text: proposed(inTree) + `
			invoke c3 o3 claim
			invoke c2 o2 claim
			reply c2 sync /q z2
			created c2 /q/claims/b z3 s12
			return c2 o2 claim v8`},
		{name: "an answer shows that it was", text: proposed(inTree) + `
			invoke c3 o3 claim
			reply c3 sync /q z1
			invoke c2 o2 claim
			created c2 /q/claims/b z3 s12
			return c2 o2 claim v8`, event: 10, message: passed},
		{name: "no answer shows that it was given up before", text: proposed(others) + `
			reply c1 children /q/items z3
			deleted /q/claims/a z4 s13 proposed
			invoke c2 o2 claim
			created c2 /q/claims/b z5 s12
			return c2 o2 claim v8`},
	})
}

func TestTheTreeSaysWhichItemComesFirst(t *testing.T) {
	judge(t, PriorityOrder{Of: func(item int64) int64 { return -item }}, []judgement{
		{name: "the later one is of higher priority", text: inTree + `
			invoke c3 o3 claim
			invoke c2 o2 claim
			created c2 /q/claims/b z3 s12
			return c2 o2 claim v8`},
		{name: "the earlier one is of lower priority", text: inTree + `
			invoke c3 o3 claim
			invoke c2 o2 claim
			created c2 /q/claims/a z3 s12
			return c2 o2 claim v7`, event: 9,
			message: "c2 got item 7 while item 8, which comes first, was free all the time since it asked"},
	})
}

func TestAQueueIsEmptyOnlyIfNothingWasFreeAllTheTime(t *testing.T) {
	judge(t, FIFO{}, []judgement{
		{name: "one of two was claimed by another", text: inTree + `
			invoke c2 o2 trytake
			invoke c3 o3 claim
			created c3 /q/claims/a z3 s13
			return c3 o3 claim v7
			return c2 o2 trytake ok: empty`, event: 10,
			message: "c2 was told that the queue is empty while item 8 was free all the time since it asked"},
		{name: "the one that is put by an object that was told so before", text: `
			invoke c1 o1 put v7
			invoke c1 o1 trytake
			return c1 o1 trytake ok: empty
			created c1 /q/items/a z1 "7"
			invoke c2 o2 trytake
			return c2 o2 trytake ok: empty`, event: 5,
			message: "c2 was told that the queue is empty while item 7 was free all the time since it asked"},
		{name: "both were", text: inTree + `
			invoke c2 o2 trytake
			invoke c3 o3 claim
			created c3 /q/claims/a z3 s13
			return c3 o3 claim v7
			invoke c3 o3 claim
			created c3 /q/claims/b z4 s13
			deleted /q/claims/a z5 s13
			return c2 o2 trytake ok: empty`},
	})
}

func TestAnItemThatIsReturnedKeepsItsPlace(t *testing.T) {
	claimed := inTree + `
		invoke c2 o2 claim
		created c2 /q/claims/a z3 s12
		return c2 o2 claim v7
		invoke c2 o2 return v7
		deleted c2 /q/claims/a z4 s12`
	judge(t, FIFO{}, []judgement{
		{name: "the claim goes", text: claimed + `
			return c2 o2 return v7`},
		{name: "the item is made anew", text: claimed + `
			deleted c2 /q/items/a z4
			created c2 /q/items/c z4 "7"
			return c2 o2 return v7`, event: 13, message: "c2 has returned item 7, which has lost its place: it was /q/items/a"},
		{name: "the item is written down elsewhere", text: claimed + `
			created c2 /q/log/c z4 "7"
			return c2 o2 return v7`},
	})
}

// TestFIFORemembersWhichZnodesAreItems has a put whose znode is made before it fails, and one whose znode is made
// after that: the same znodes, programs and servers, and other verdicts on who is told that the queue is empty.
func TestFIFORemembersWhichZnodesAreItems(t *testing.T) {
	put := history.Event{Kind: history.Invoke, Client: 1, Object: 1, Op: "put", Value: 5}
	made := history.Event{Kind: history.Created, Client: 1, Path: "/q/item-0", Data: "5", Zxid: 1}
	failed := history.Event{Kind: history.Return, Client: 1, Object: 1, Op: "put", Value: 5, Err: zk.ErrConnectionClosed}
	next := []history.Event{{Kind: history.Invoke, Client: 2, Object: 2, Op: "trytake"},
		{Kind: history.Return, Client: 2, Object: 2, Op: "trytake", Err: zk.ErrNoNode, OK: true}}
	for _, c := range []Monitored{FIFO{}, PriorityOrder{Of: rank}} {
		var hashes [2]uint64
		var levels [2]Level
		for k, past := range [][]history.Event{{put, made, failed}, {put, failed, made}} {
			m := c.Monitor()
			if v := follow(historyOf(past), m); v.Level != OK {
				t.Fatal(v)
			}
			hashes[k], levels[k] = digest(m), c.Check(historyOf(past, next)).Level
		}
		if levels[0] != levels[1] && hashes[0] == hashes[1] {
			t.Errorf("%s: verdicts %v after what has the hashes %x", c.Name(), levels, hashes)
		}
	}
}

func TestTheOrderOfAQueueRemembersWhatIsRare(t *testing.T) {
	const put = "invoke c2 o2 put v7\n"
	remembersRare(t, FIFO{}, "whether a crash has cut off a put",
		"created c2 /q/items/a z1 \"7\"\ninvoke c1 o1 trytake\nreturn c1 o1 trytake ok: empty",
		put+"return c2 o2 put v7: zk: connection closed\ncrashed c2", put+"crashed c2")
	const three = inTree + `
		invoke c1 o1 put v9
		created c1 /q/items/c z3 "9"
		return c1 o1 put v9
		invoke c3 o3 take
		invoke c2 o2 take
	`
	remembersRare(t, FIFO{}, "which item a client has removed", "return c2 o2 take v8",
		three+"deleted c2 /q/items/c z4\ndeleted c3 /q/items/b z5",
		three+"deleted c2 /q/items/b z4\ndeleted c3 /q/items/c z5")
	remembersRare(t, FIFO{}, "whether a client has passed over an item", "return c2 o2 take v8",
		three+"deleted c3 /q/items/a z4\ndeleted c2 /q/items/b z5",
		three+"deleted c2 /q/items/b z4\ndeleted c3 /q/items/a z5")
	const returns = `
		invoke c1 o1 put v7
		created c1 /%s/a z1 "7"
		return c1 o1 put v7
		invoke c2 o2 return v7
		deleted c2 /%[1]s/a z2
	`
	remembersRare(t, FIFO{}, "who has made an item anew", "return c2 o2 return v7",
		fmt.Sprintf(returns, "q")+"created c3 /q/b z3 \"7\"", fmt.Sprintf(returns, "q")+"created c2 /q/b z3 \"7\"")
	remembersRare(t, FIFO{}, "where an item was that is returned", "created c2 /q/b z3 \"7\"\nreturn c2 o2 return v7",
		fmt.Sprintf(returns, "p"), fmt.Sprintf(returns, "q"))
}

func TestAnItemIsClaimedWhileAZnodeElsewhereHasItsName(t *testing.T) {
	const asks = `
		invoke c3 o3 claim
		invoke c2 o2 trytake
		return c2 o2 trytake ok: empty`
	const claimedTwice = `
			invoke c1 o1 put v7
			created c1 /q/items/a z1 "7"
			return c1 o1 put v7
			created c3 /q/claims/a z2 s13
			created c3 /q/log/a z3
			deleted /q/claims/a z4 s13`
	const message = "c2 was told that the queue is empty while item 7 was free all the time since it asked"
	judge(t, FIFO{}, []judgement{
		{name: "a znode that was there before the item", text: `
			created c3 /q/claims/a z1 s13
			invoke c1 o1 put v7
			created c1 /q/items/a z2 "7"
			return c1 o1 put v7` + asks},
		{name: "one of two", text: claimedTwice + asks},
		{name: "none of two", text: claimedTwice + `
			deleted /q/log/a z5` + asks, event: 9, message: message},
	})
}
