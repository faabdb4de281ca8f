package ensemble

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/internal/txnlog"
	"zksim/model"
	"zksim/model/history"
)

func created(path string, zxid int64) history.Event {
	return history.Event{Kind: history.Created, Client: 1, Path: path, Zxid: zxid}
}

func TestAnAcknowledgedTxnThatIsMissingIsTheStores(t *testing.T) {
	log := []txnlog.Txn{{Zxid: 1}, {Zxid: 2, Changes: []txnlog.Change{{Op: model.OpCreate, Path: "/a"}}}, {Zxid: 4}}
	for _, x := range []struct {
		event history.Event
		want  string
	}{
		{created("/a", 2), ""},
		{created("/a", 3), "c1 was told that /a is created at zxid 0x3, and no server has such a txn"},
		{history.Event{Kind: history.Deleted, Client: 1, Path: "/a", Zxid: 2},
			"c1 was told that /a is deleted at zxid 0x2, and that txn is about something else"},
		{created("/b", 2), "c1 was told that /b is created at zxid 0x2, and that txn is about something else"},
	} {
		if got := lost(&history.History{Events: []history.Event{x.event}}, log); got != x.want {
			t.Errorf("%v: %q, want %q", x.event, got, x.want)
		}
	}
}

func TestWhatServersHaveLoggedIsListedByWhoHasIt(t *testing.T) {
	made := txnlog.Txn{Zxid: 1, Session: -1, Xid: 3, Op: model.OpMulti,
		Changes: []txnlog.Change{{Op: model.OpCreate, Path: "/a"}, {Op: model.OpSetData, Path: "/"}}}
	late := txnlog.Txn{Zxid: 2, Time: 1234}
	other := late
	other.Op = model.OpCloseSession
	got := listed([][]txnlog.Txn{{made, other}, {made, late, made}, {made}})
	const made1 = "0x1 00:00:00.000 session 0xffffffffffffffff xid 3 multi: create /a, set / (s1, s2, s3)"
	want := []string{made1, fmt.Sprintf("0x2 00:00:01.234 session 0x0 xid 0 %v (s1)", model.OpCloseSession),
		fmt.Sprintf("0x2 00:00:01.234 session 0x0 xid 0 %v (s2)", late.Op)}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestZxidsOutOfOrderAreTheStores(t *testing.T) {
	call := func(c int32) history.Event { return history.Event{Kind: history.Call, Client: c} }
	reply := func(c int32, zxid int64) history.Event {
		return history.Event{Kind: history.Reply, Client: c, Zxid: zxid}
	}
	session := func(c int32, s zk.State) history.Event {
		return history.Event{Kind: history.Session, Client: c, Op: s.String()}
	}
	by := func(c int32, zxid int64) history.Event {
		return history.Event{Kind: history.Created, Client: c, Path: "/a", Zxid: zxid}
	}
	for name, x := range map[string]struct {
		events []history.Event
		want   string
	}{
		"in order":        {[]history.Event{call(1), by(1, 5), reply(1, 5), call(2), by(2, 6), reply(2, 6)}, ""},
		"at once":         {[]history.Event{call(1), call(2), by(1, 6), reply(1, 6), by(2, 5), reply(2, 5)}, ""},
		"a server behind": {[]history.Event{call(1), by(1, 5), reply(1, 5), call(2), reply(2, 3)}, ""},
		"a later write is lower": {[]history.Event{call(1), by(1, 5), reply(1, 5), call(2), by(2, 4)},
			"c2's write of /a has zxid 0x4, although 0x5 was acknowledged before it was sent"},
		"a session goes back": {[]history.Event{call(1), reply(1, 5), session(1, zk.StateDisconnected),
			session(1, zk.StateHasSession), call(1), reply(1, 4)}, "c1 saw zxid 0x4 after 0x5"},
		"an answer of which no txn is before, as that to addAuth": {[]history.Event{call(1), reply(1, 5), call(1),
			reply(1, 0), call(1), reply(1, -1)}, ""},
		"another session": {[]history.Event{call(1), reply(1, 5), session(1, zk.StateExpired), call(1), reply(1, 4)}, ""},
		"a request that was lost": {[]history.Event{call(1), session(1, zk.StateDisconnected), call(2), by(2, 5), reply(2, 5),
			session(1, zk.StateHasSession), call(1), by(1, 6), reply(1, 6)}, ""},
	} {
		if got := disorder(&history.History{Events: x.events}, nil); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
	several := map[int32]int32{1: 1}
	two := []history.Event{call(1), call(1), by(1, 7), reply(1, 7), reply(1, 4), call(2), by(2, 6)}
	if got := disorder(&history.History{Events: two[:5]}, several); got != "" {
		t.Errorf("two connections of a client: %q", got)
	}
	if got, want := disorder(&history.History{Events: two}, several),
		"c2's write of /a has zxid 0x6, although 0x7 was acknowledged before it was sent"; got != want {
		t.Errorf("after a write of one of two connections: %q, want %q", got, want)
	}
}

func TestWhatOneServerHasLoggedCountsIfItShows(t *testing.T) {
	log := func(zxids ...int64) (l []txnlog.Txn) {
		for _, z := range zxids {
			l = append(l, txnlog.Txn{Zxid: z})
		}
		return l
	}
	zxids := func(l []txnlog.Txn) (all []int64) {
		for _, t := range l {
			all = append(all, t.Zxid)
		}
		return all
	}
	const a, b = 1 << 32, 2 << 32
	logs := [][]txnlog.Txn{log(a+1, a+2, a+3, b+1), log(a+1, b+1), log(a+1, b+1)}
	for _, x := range []struct {
		events []history.Event
		looks  []look
		want   []int64
	}{
		{nil, nil, []int64{a + 1, b + 1}},
		{[]history.Event{{Kind: history.Reply, Zxid: a + 2}}, nil, []int64{a + 1, a + 2, b + 1}},
		{nil, []look{{stat: &zk.Stat{Czxid: a + 3}}}, []int64{a + 1, a + 2, a + 3, b + 1}},
		{nil, []look{{listed: a + 2}}, []int64{a + 1, a + 2, b + 1}},
	} {
		if got := zxids(union(logs, shown(&history.History{Events: x.events}, x.looks))); !slices.Equal(got, x.want) {
			t.Errorf("%x, want %x", got, x.want)
		}
	}
	if got := zxids(union(logs[:1], map[int64]int64{})); len(got) != 4 {
		t.Errorf("of a server alone: %x", got)
	}
}

// A server that was deposed has logged its last txn twice, as one may that goes on without a restart.
func TestWhatOneServerHasLoggedTwiceCountsOnce(t *testing.T) {
	logs := [][]txnlog.Txn{{{Zxid: 1}, {Zxid: 2}, {Zxid: 2}}, {{Zxid: 1}}, {{Zxid: 1}}}
	if got := union(logs, map[int64]int64{}); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

func TestTwoTxnsUnderOneZxidAreTheStores(t *testing.T) {
	made := func(zxid int64, path string) txnlog.Txn { return one(zxid, 7, model.OpCreate, path, 1) }
	a, b, late := made(2, "/a"), made(2, "/b"), made(3, "/a/c")
	for _, x := range []struct {
		logs [][]txnlog.Txn
		want string
	}{
		{[][]txnlog.Txn{{a}, {a}, {a, late}}, ""},
		{[][]txnlog.Txn{{a}, {b}, {a}}, "the servers have logged two txns 0x2, s2's is 0x2 00:00:00.000 session 0x7 xid 0 " +
			"create: create /b, and another one's 0x2 00:00:00.000 session 0x7 xid 0 create: create /a"},
	} {
		if got := ambiguous(union(x.logs, map[int64]int64{}), x.logs); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

func TestALogIsWholeIfNoZxidIsMissing(t *testing.T) {
	for _, x := range []struct {
		zxids []int64
		want  bool
	}{
		{nil, false},
		{[]int64{1, 2, 3}, true},
		{[]int64{0x1_00000001, 0x1_00000002, 0x3_00000001, 0x3_00000002}, true},
		{[]int64{1, 3}, false},
		{[]int64{2, 3}, false},
		{[]int64{0x1_00000001, 0x2_00000002}, false},
	} {
		var log []txnlog.Txn
		for _, z := range x.zxids {
			log = append(log, txnlog.Txn{Zxid: z})
		}
		if whole(log) != x.want {
			t.Errorf("%x: %v", x.zxids, !x.want)
		}
	}
}

// The session 7 of c1 ends by itself, and c2 sees that its znode is gone.
func TestWhatWasCommittedComesBeforeWhatShowsIt(t *testing.T) {
	h := &liveHost{root: "/r"}
	has := zk.StateHasSession.String()
	for _, x := range []struct {
		at int64 // milliseconds
		e  history.Event
	}{
		{1, history.Event{Kind: history.Session, Client: 1, Op: has, Session: 7}},
		{1, history.Event{Kind: history.Session, Client: 2, Op: has, Session: 8}},
		{2, history.Event{Kind: history.Call, Client: 1, Op: "create", Path: "/r/a"}},
		{4, history.Event{Kind: history.Reply, Client: 1, Op: "create", Path: "/r/a", Zxid: 3}},
		{5, history.Event{Kind: history.Call, Client: 2, Op: "existsW", Path: "/r/a"}},
		{6, history.Event{Kind: history.Reply, Client: 2, Op: "existsW", Path: "/r/a", Zxid: 3}},
		{9, history.Event{Kind: history.Notify, Client: 2, Op: "deleted", Path: "/r/a"}},
		{20, history.Event{Kind: history.Session, Client: 1, Op: zk.StateDisconnected.String(), Session: 7}},
		{30, history.Event{Kind: history.Session, Client: 1, Op: has, Session: 7}},
	} {
		h.history.Add(x.e)
		h.at = append(h.at, x.at*1000)
	}
	log := []txnlog.Txn{
		{Zxid: 1, Session: 9, Time: 0, Op: model.OpCreate, Changes: []txnlog.Change{{Op: model.OpCreate, Path: "/r"}}},
		{Zxid: 2, Session: 9, Time: 0, Op: model.OpCreate, Changes: []txnlog.Change{{Op: model.OpCreate, Path: "/else"}}},
		{Zxid: 3, Session: 7, Time: 3, Op: model.OpCreate,
			Changes: []txnlog.Change{{Op: model.OpCreate, Path: "/r/a", Owned: true}}},
		{Zxid: 4, Session: 7, Time: 25, Op: model.OpCloseSession, // the leader's clock is not ours
			Changes: []txnlog.Change{{Op: model.OpDelete, Path: "/r/a"}}},
	}
	if err := merge(h, groupsOf(&h.history, log, h.root, map[int64]int32{7: 1, 8: 2})); err != nil {
		t.Fatal(err)
	}
	var got string
	for _, e := range h.history.Events {
		got += e.String() + "\n"
	}
	const want = `c1 session StateHasSession session 0x7
c2 session StateHasSession session 0x8
c1 call create /r/a
c1 created /r/a zxid 0x3 session 0x7
c1 reply create /r/a zxid 0x3
c2 call existsW /r/a
c2 reply existsW /r/a zxid 0x3
c1 exceeded
deleted /r/a zxid 0x4 session 0x7
c2 notify deleted /r/a zxid 0x4
c1 session StateDisconnected session 0x7
c1 session StateHasSession session 0x7
c1 exceeded
`
	if got != want || !h.history.Txns {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Logs of 3.5 do not name the znodes that a session takes along, and others need not.
func TestASessionTakesItsZnodesAlongThoughNotNamed(t *testing.T) {
	log := []txnlog.Txn{one(2, 7, model.OpCreate, "/r/b", 1), one(3, 7, model.OpCreate, "/r/a", 2),
		one(4, 8, model.OpCreate, "/r/c", 3), one(5, 7, model.OpCreate, "/r/d", 4), one(6, 9, model.OpDelete, "/r/d", 0),
		{Zxid: 7, Session: 7, Op: model.OpCloseSession}}
	groups := groupsOf(&history.History{}, log, "/r", map[int64]int32{7: 1})
	got := groups[len(groups)-1].events
	want := []history.Event{{Kind: history.Deleted, Path: "/r/a", Zxid: 7, Session: 7, Proposed: true},
		{Kind: history.Deleted, Path: "/r/b", Zxid: 7, Session: 7, Proposed: true}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// c1 has two connections, each with a session of its own.
func TestAClientBelievesInTheSessionOfEachConnection(t *testing.T) {
	b := newBeliefs()
	session := func(line int32, s zk.State, id int64) {
		b.hear(nil, &history.Event{Kind: history.Session, Client: 1, Version: line, Op: s.String(), Session: id}, 0)
	}
	exceeded := func(id int64) bool {
		return len(b.commit(nil, &group{txn: txnlog.Txn{Time: reaction / 1000}, ended: id})) > 0
	}
	session(0, zk.StateHasSession, 7)
	session(1, zk.StateHasSession, 8)
	session(0, zk.StateDisconnected, 7)
	if !exceeded(8) || exceeded(7) {
		t.Error("the session of the connection that is up ends before its client knows, the other one does not")
	}
}
