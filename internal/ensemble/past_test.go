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
		"the end of a session whose znode another one has made anew": {[]txnlog.Txn{dir, first,
			change(3, model.OpDelete, "/q/a-0000000000"), create(4, 8, "/q/a-0000000000", 2, true), closing(5, 7),
			change(6, model.OpDelete, "/q/a-0000000000")}, ""},
		"an ephemeral of a session that has ended": {[]txnlog.Txn{dir, closing(2, 7), create(3, 7, "/q/a", 1, true)},
			"the servers have logged a txn 0x3 that cannot follow the others: " +
				"create of /q/a for session 0x7, which 0x2 has ended"},
		"the end of a session, by the name of another one's znode": {[]txnlog.Txn{dir, create(2, 8, "/q/b", 1, true),
			closing(3, 7, "/q/b")}, "the servers have logged a txn 0x3 that cannot follow the others: " +
			"the end of session 0x7 with /q/b, which is not its own"},
		"another parent": {[]txnlog.Txn{dir, first, change(3, model.OpDelete, "/q/a-0000000000"),
			change(4, model.OpDelete, "/q"), create(5, 8, "/q", 2, false), create(6, 8, "/q/b-0000000000", 1, true)}, ""},
	} {
		if _, got := pastOf(x.log); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// one returns a txn with one change.
func one(zxid, session int64, op model.Op, path string, nth int32) txnlog.Txn {
	return txnlog.Txn{Zxid: zxid, Session: session, Op: op, Changes: []txnlog.Change{{Op: op, Path: path, Nth: nth,
		Owned: session != 0}}}
}

// aPast is that of an /a that is made, deleted and made again, and of /e, which its session takes away.
func aPast(t *testing.T) *past {
	t.Helper()
	p, why := pastOf([]txnlog.Txn{one(3, 0, model.OpCreate, "/a", 1), one(4, 0, model.OpDelete, "/a", 0),
		one(6, 7, model.OpCreate, "/e", 2), {Zxid: 8, Session: 7, Op: model.OpCloseSession},
		one(9, 0, model.OpCreate, "/a", 3), one(11, 0, model.OpSetData, "/a", 0), one(12, 0, model.OpCreate, "/a/b", 1),
		one(13, 0, model.OpDelete, "/a/b", 0)})
	if why != "" {
		t.Fatal(why)
	}
	return p
}

func TestAnAnswerThatContradictsTheTxnsIsTheStores(t *testing.T) {
	past := aPast(t)
	for _, x := range []struct {
		event history.Event
		want  string
	}{
		{history.Event{Op: "exists", Path: "/a", Zxid: 3}, ""},
		{history.Event{Op: "exists", Path: "/a", Zxid: 5, Err: zk.ErrNoNode}, ""},
		{history.Event{Op: "children", Path: "/", Zxid: 1}, ""},
		{history.Event{Op: "get", Path: "/zookeeper/config", Zxid: 1}, ""},
		{history.Event{Op: "get", Path: "/zookeepers", Zxid: 1, Err: zk.ErrNoNode}, ""},
		{history.Event{Op: "sync", Path: "/b", Zxid: 5}, ""},
		{history.Event{Op: "get", Path: "/a", Zxid: 5, Err: zk.ErrNoAuth}, ""},
		{history.Event{Op: "create", Path: "/a", Zxid: 9, Err: zk.ErrNodeExists}, ""},
		{history.Event{Op: "exists", Path: "/b", Zxid: 5}, "c1 was told at zxid 0x5 that /b exists, and no txn has made it"},
		{history.Event{Op: "getW", Path: "/a", Zxid: 2}, "c1 was told at zxid 0x2 that /a exists, and no txn has made it"},
		{history.Event{Op: "getW", Path: "/a", Zxid: 5},
			"c1 was told at zxid 0x5 that /a exists, and txn 0x4 has deleted it"},
		{history.Event{Op: "existsW", Path: "/e", Zxid: 7, Err: zk.ErrNoNode},
			"c1 was told at zxid 0x7 that /e does not exist, and txn 0x6 has made it, and none has deleted it"},
		{history.Event{Op: "children", Path: "/e", Zxid: 8, Err: zk.ErrNoNode}, ""},
	} {
		x.event.Kind, x.event.Client = history.Reply, 1
		if got := past.untrue(&history.History{Events: []history.Event{x.event}}); got != x.want {
			t.Errorf("%v: %q, want %q", x.event, got, x.want)
		}
	}
}

// A server that was brought up to date by a snapshot keeps its old log files, so a txn that the ensemble has lost may
// still be in a log.
func TestAZnodeThatIsNotWhatTheTxnsHaveMadeIsTheStores(t *testing.T) {
	past := aPast(t)
	stat := func(czxid, mzxid int64) *zk.Stat {
		version := int32(0)
		if mzxid == 11 {
			version = 1
		}
		return &zk.Stat{Czxid: czxid, Mzxid: mzxid, Pzxid: czxid, Version: version}
	}
	family := func(change func(*zk.Stat)) *zk.Stat { // of /a, when it has a child
		s := stat(9, 11)
		s.Pzxid, s.Cversion, s.NumChildren = 12, 1, 1
		change(s)
		return s
	}
	for _, x := range []struct {
		look look
		want string
	}{
		{look{path: "/a", zxid: 12, stat: family(func(*zk.Stat) {}), names: []string{"b"}, listed: 12}, ""},
		{look{path: "/a", zxid: 12, stat: family(func(s *zk.Stat) { s.EphemeralOwner = 7 })},
			"has /a of session 0x7, and txn 0x9 has made it for 0x0"},
		{look{path: "/a", zxid: 12, stat: family(func(s *zk.Stat) { s.Ctime = 1 })},
			"has /a with Ctime 1, and the txns have made it 0"},
		{look{path: "/a", zxid: 12, stat: family(func(s *zk.Stat) { s.Mtime = 1 })},
			"has /a with Mtime 1, and the txns have made it 0"},
		{look{path: "/a", zxid: 12, stat: stat(9, 11)}, "has /a with Pzxid 9, and the txns have made it 12"},
		{look{path: "/a", zxid: 12, stat: family(func(s *zk.Stat) { s.Cversion = 2 })},
			"has /a with Cversion 2, and the txns have made it 1"},
		{look{path: "/a", zxid: 12, stat: family(func(s *zk.Stat) { s.NumChildren = 0 })},
			"has /a with NumChildren 0, and the txns have made it 1"},
		{look{path: "/a", zxid: 12, stat: family(func(s *zk.Stat) { s.DataLength = 3 })},
			"has /a with DataLength 3, and the txns have made it 0"},
		{look{path: "/a", zxid: 14, stat: family(func(s *zk.Stat) { s.Pzxid, s.Cversion, s.NumChildren = 13, 2, 0 })}, ""},
		{look{path: "/a", zxid: 10, stat: stat(9, 9), listed: 11}, ""},
		{look{path: "/a", zxid: 5}, ""},
		{look{path: "/e", zxid: 12}, ""},
		{look{path: "/a", zxid: 13}, "has no /a, and txn 0x9 has made it, and none has deleted it"},
		{look{path: "/a", zxid: 12, stat: family(func(*zk.Stat) {}), listed: 12},
			"has no /a/b, and txn 0xc has made it, and none has deleted it"},
		{look{path: "/a", zxid: 12, stat: family(func(*zk.Stat) {}), names: []string{"b", "c"}, listed: 12},
			"has /a/c, and no txn has made it"},
		{look{path: "/a", zxid: 12, stat: stat(9, 9), names: []string{"b"}, listed: 12},
			"has /a, changed last at zxid 0x9, and txn 0xb has changed it last"},
		{look{path: "/a", zxid: 12, stat: stat(10, 11), names: []string{"b"}, listed: 12},
			"has /a, made at zxid 0xa, and txn 0x9 has made it"},
		{look{path: "/e", zxid: 12, stat: stat(6, 6), listed: 12},
			"has /e, made at zxid 0x6, and txn 0x8 has deleted it"},
	} {
		want := x.want
		if want != "" {
			want = "in the end a server " + want
		}
		if got := past.mistold([]look{x.look}); got != want {
			t.Errorf("%+v: %q, want %q", x.look, got, want)
		}
	}
}

// What a server shows only while the run goes on is gone when it has been brought up to date.
func TestAnAnswerThatTellsOfAnotherZnodeIsTheStores(t *testing.T) {
	make := one(3, 0, model.OpCreate, "/a", 1)
	make.Changes[0].Data = "x"
	set := one(5, 0, model.OpSetData, "/a", 0)
	set.Changes[0].Data = "y"
	past, why := pastOf([]txnlog.Txn{make, one(4, 7, model.OpCreate, "/a/e", 1), set,
		one(6, 0, model.OpDelete, "/a/e", 0)})
	if why != "" {
		t.Fatal(why)
	}
	h := &liveHost{}
	answer := func(op model.Op, path string, zxid int64, res model.Response) look {
		h.told, res.Op, res.Zxid = nil, op, zxid
		h.reads(1)(path, &res)
		return h.told[0]
	}
	stat := func(czxid, mzxid int64, version int32, owner int64) zk.Stat {
		return zk.Stat{Czxid: czxid, Mzxid: mzxid, Version: version, EphemeralOwner: owner, Pzxid: 4}
	}
	parent := func(zxid int64) zk.Stat { // /a, of which /a/e is made and deleted
		s := stat(3, max(3, zxid/5*5), int32(zxid/5), 0)
		s.DataLength = 1
		switch zxid {
		case 3:
			s.Pzxid = 3
		case 6:
			s.Pzxid, s.Cversion = 6, 2
		default:
			s.Cversion, s.NumChildren = 1, 1
		}
		return s
	}
	get := func(zxid int64, version int32, data string) look {
		s := parent(zxid)
		s.Version = version
		return answer(model.OpGetData, "/a", zxid, model.Response{Data: []byte(data), Stat: s})
	}
	children := func(zxid int64, names ...string) look {
		return answer(model.OpGetChildren2, "/a", zxid, model.Response{Children: names, Stat: parent(zxid)})
	}
	for _, x := range []struct {
		look look
		want string
	}{
		{get(3, 0, "x"), ""},
		{get(5, 1, "y"), ""},
		{get(3, 0, "y"), `zxid 0x3 by a server that it has /a with "y", and the txns have made it "x"`},
		{get(5, 2, "y"), "zxid 0x5 by a server that it has /a with version 2, and the txns have made it 1"},
		{children(3), ""},
		{children(5, "e"), ""},
		{answer(model.OpGetChildren, "/a", 6, model.Response{}), ""},
		{children(6, "e"), "zxid 0x6 by a server that it has /a/e, and txn 0x6 has deleted it"},
		{children(4), "zxid 0x4 by a server that it has no /a/e, and txn 0x4 has made it, and none has deleted it"},
		{answer(model.OpExists, "/a/e", 5, model.Response{Stat: stat(4, 4, 0, 7)}), ""},
		{answer(model.OpExists, "/a/e", 5, model.Response{Stat: stat(4, 4, 0, 8)}),
			"zxid 0x5 by a server that it has /a/e of session 0x8, and txn 0x4 has made it for 0x7"},
		{answer(model.OpExists, "/a/e", 5, model.Response{Stat: stat(2, 4, 0, 7)}),
			"zxid 0x5 by a server that it has /a/e, made at zxid 0x2, and txn 0x4 has made it"},
	} {
		if x.want != "" {
			x.want = "c1 was told at " + x.want
		}
		if got := past.mistold([]look{x.look}); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

func TestAWatchMayBeSilentOnlyWhereAZnodeMayBeHidden(t *testing.T) {
	h := history.History{Events: []history.Event{{Kind: history.Reply, Client: 1, Op: "existsW", Path: "/r/a", Zxid: 2},
		{Kind: history.Reply, Client: 1, Op: "sync", Path: "/r/a", Zxid: 4}}}
	shut, open := one(2, 0, model.OpCreate, "/r/a", 1), one(2, 0, model.OpCreate, "/r/a", 1)
	shut.Changes[0].Shut = true
	set := one(3, 0, model.OpSetData, "/r/a", 0)
	for i, log := range [][]txnlog.Txn{{open, set}, {shut, set}, {open, set, {Zxid: 4, Op: model.OpSetACL}}} {
		got := untold(&h, groupsOf(&h, log, "/r", nil), log, "/r")
		const want = "c1 was told of zxid 0x4, and not of 0x3, for which it had a watch on /r/a since 0x2"
		if i > 0 && got != "" || i == 0 && got != want {
			t.Errorf("%d: %q", i, got)
		}
	}
}
