package ensemble

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/internal/txnlog"
	"zksim/model"
	"zksim/model/history"
)

// "A number twice" and "a deletion twice" are what three servers of 3.8.0 did when their leader was stopped.
func TestALogThatContradictsItselfIsTheStores(t *testing.T) {
	create := func(zxid, session int64, path string, nth int32, owned bool) txnlog.Txn {
		return txnlog.Txn{Zxid: zxid, Session: session, Op: model.OpCreate,
			Changes: []txnlog.Change{{Op: model.OpCreate, Path: path, Nth: nth, Owned: owned}}}
	}
	change := func(zxid int64, op model.Op, path string) txnlog.Txn {
		return txnlog.Txn{Zxid: zxid, Op: op, Changes: []txnlog.Change{{Op: op, Path: path}}}
	}
	closing := func(zxid, session int64, paths ...string) txnlog.Txn {
		x := txnlog.Txn{Zxid: zxid, Session: session, Op: model.OpCloseSession}
		for _, p := range paths {
			x.Changes = append(x.Changes, txnlog.Change{Op: model.OpDelete, Path: p})
		}
		return x
	}
	dir, first := create(1, 7, "/q", 1, false), create(2, 7, "/q/a-0000000000", 1, true)
	for name, x := range map[string]struct {
		log  []txnlog.Txn
		want string
	}{
		"in order": {[]txnlog.Txn{change(1, model.OpSetData, "/zookeeper/config"), dir, first,
			change(3, model.OpSetData, "/q/a-0000000000"), change(4, model.OpDelete, "/q/a-0000000000"),
			create(5, 7, "/q/a-0000000000", 2, false)}, ""},
		"a number twice": {[]txnlog.Txn{dir, first, create(1<<32+1, 8, "/q/b-0000000000", 1, true)},
			"the servers have logged a txn 0x100000001 that cannot follow the others: " +
				"create of /q/b-0000000000 as child 1 of /q, which has had 1"},
		"a znode twice": {[]txnlog.Txn{dir, create(2, 7, "/q", 2, false)},
			"the servers have logged a txn 0x2 that cannot follow the others: create of /q, which exists since 0x1"},
		"a deletion twice": {[]txnlog.Txn{dir, first, change(3, model.OpDelete, "/q/a-0000000000"),
			change(1<<32+1, model.OpDelete, "/q/a-0000000000")},
			"the servers have logged a txn 0x100000001 that cannot follow the others: " +
				"delete of /q/a-0000000000, which does not exist"},
		"the end of a session, by name": {[]txnlog.Txn{dir, first, closing(3, 7, "/q/a-0000000000"),
			create(4, 8, "/q/a-0000000000", 2, true)}, ""},
		"the end of a session": {[]txnlog.Txn{dir, first, closing(3, 7), create(4, 8, "/q/a-0000000000", 2, true)}, ""},
		"another parent": {[]txnlog.Txn{dir, first, change(3, model.OpDelete, "/q/a-0000000000"),
			change(4, model.OpDelete, "/q"), create(5, 8, "/q", 2, false), create(6, 8, "/q/b-0000000000", 1, true)}, ""},
	} {
		if got := contradiction(x.log); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

func TestAnAnswerThatNoTxnExplainsIsTheStores(t *testing.T) {
	log := []txnlog.Txn{{Zxid: 3, Changes: []txnlog.Change{{Op: model.OpCreate, Path: "/a"}}},
		{Zxid: 4, Changes: []txnlog.Change{{Op: model.OpDelete, Path: "/a"}}},
		{Zxid: 9, Changes: []txnlog.Change{{Op: model.OpCreate, Path: "/a"}}}}
	for _, x := range []struct {
		event history.Event
		want  string
	}{
		{history.Event{Op: "exists", Path: "/a", Zxid: 3}, ""},
		{history.Event{Op: "getW", Path: "/a", Zxid: 5}, ""}, // which was read before txn 4 and answered after it
		{history.Event{Op: "children", Path: "/", Zxid: 1}, ""},
		{history.Event{Op: "get", Path: "/zookeeper/config", Zxid: 1}, ""},
		{history.Event{Op: "sync", Path: "/b", Zxid: 5}, ""},
		{history.Event{Op: "exists", Path: "/b", Zxid: 5, Err: zk.ErrNoNode}, ""},
		{history.Event{Op: "exists", Path: "/b", Zxid: 5}, "c1 was told at zxid 0x5 that /b exists, and no txn has made it"},
		{history.Event{Op: "getW", Path: "/a", Zxid: 2}, "c1 was told at zxid 0x2 that /a exists, and no txn has made it"},
	} {
		x.event.Kind, x.event.Client = history.Reply, 1
		if got := phantom(&history.History{Events: []history.Event{x.event}}, log); got != x.want {
			t.Errorf("%v: %q, want %q", x.event, got, x.want)
		}
	}
	for czxid, want := range map[int64]string{9: "", 3: "",
		5: "in the end a server has /a, made at zxid 0x5, and no txn has made it"} {
		if got := phantom(&history.History{Tree: []history.Node{{Path: "/a", Czxid: czxid}}}, log); got != want {
			t.Errorf("%d: %q, want %q", czxid, got, want)
		}
	}
}
