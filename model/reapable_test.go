package model_test

import (
	"slices"
	"testing"

	"zksim/model"

	"github.com/go-zookeeper/zk"
)

// TestReapable walks containers and ttl znodes through their lives.
func TestReapable(t *testing.T) {
	w := newWorld(t, model.NewServer(model.Config{ExtendedTypes: true, Order: 1})) // by path
	all := zk.WorldACL(zk.PermAll)
	create := func(op model.Op, path string, flags int32, ttl int64) {
		if res := w.do(0, &model.Request{Op: op, Path: path, Flags: flags, TTL: ttl, ACL: all}); res.Err != model.OK {
			t.Fatalf("create %s: %v", path, res.Err)
		}
	}
	remove := func(path string) { w.do(0, &model.Request{Op: model.OpDelete, Path: path, Version: -1}) }
	now := func() int64 { return 10 * w.zxid } // as world tells the time
	want := func(when int64, paths ...string) {
		t.Helper()
		if got := w.server.Reapable(when); !slices.Equal(got, paths) {
			t.Errorf("Reapable(%d) = %v, want %v", when, got, paths)
		}
	}
	create(model.OpCreateContainer, "/z", zk.FlagContainer, 0)
	create(model.OpCreateContainer, "/c", zk.FlagContainer, 0)
	create(model.OpCreate, "/plain", 0, 0)
	create(model.OpCreate, "/plain/k", 0, 0)
	remove("/plain/k")
	want(now()) // containers that never had a child stay
	create(model.OpCreate, "/z/k", 0, 0)
	create(model.OpCreate, "/c/k", 0, 0)
	want(now())
	remove("/z/k")
	want(now(), "/z")
	remove("/c/k")
	want(now(), "/c", "/z")
	create(model.OpCreate, "/c/k", 0, 0)
	want(now(), "/z")

	create(model.OpCreateTTL, "/t", zk.FlagTTL, 100)
	made := now()
	want(made+100, "/z")
	want(made+101, "/t", "/z")
	w.do(0, &model.Request{Op: model.OpSetData, Path: "/t", Version: -1})
	want(made+101, "/z") // a set starts the clock anew
	want(now()+101, "/t", "/z")
	create(model.OpCreate, "/t/k", 0, 0)
	want(now()+1000, "/z")
	remove("/t/k") // a child does not
	want(made+10+101, "/t", "/z")
	create(model.OpCreateTTL, "/s-", zk.FlagPersistentSequentialWithTTL, 1)
	want(now()+1, "/z")
	want(now()+2, "/s-0000000004", "/z")
}

// TestReapingIsTheLeadersOwnTxn: OpDeleteContainer fires watches, refuses
// clients and whatever has got a child since the check.
func TestReapingIsTheLeadersOwnTxn(t *testing.T) {
	w := newWorld(t, model.NewServer(model.Config{}))
	all := zk.WorldACL(zk.PermAll)
	w.do(0, &model.Request{Op: model.OpCreateContainer, Path: "/c", Flags: zk.FlagContainer, ACL: all})
	w.do(0, &model.Request{Op: model.OpCreate, Path: "/c/k", ACL: all})
	w.do(1, &model.Request{Op: model.OpExists, Path: "/c", Watch: true})
	reap := func(session int64) model.Code {
		var res model.Response
		w.zxid++
		r := &model.Request{Op: model.OpDeleteContainer, Path: "/c"}
		w.server.Apply(&model.Txn{Zxid: w.zxid, Session: session, Req: r}, &res)
		return res.Err
	}
	if got := reap(1); got != model.BadArguments {
		t.Errorf("for a client: %v", got)
	}
	if got := reap(0); got != model.NotEmpty {
		t.Errorf("with a child: %v", got)
	}
	w.do(0, &model.Request{Op: model.OpDelete, Path: "/c/k", Version: -1})
	w.said = nil
	if got := reap(0); got != model.OK {
		t.Errorf("without: %v", got)
	}
	if len(w.said) != 1 || w.said[0].ev.Type != zk.EventNodeDeleted || w.said[0].ev.Path != "/c" {
		t.Errorf("events: %+v", w.said)
	}
	if got := reap(0); got != model.NoNode {
		t.Errorf("twice: %v", got)
	}
}

// A real server deletes what one check finds due in the order of a Java set: seen with 26 ttl znodes, and with
// /s0000000004 before /s0000000003.
func TestWhatIsDueTogetherEndsInTheOrderOfARealServer(t *testing.T) {
	for order, want := range map[uint64]string{0: "/s0000000004", 1: "/s0000000003"} {
		w := newWorld(t, model.NewServer(model.Config{ExtendedTypes: true, Order: order}))
		for _, path := range []string{"/s0000000003", "/s0000000004"} {
			w.do(0, &model.Request{Op: model.OpCreateTTL, Path: path, Flags: zk.FlagTTL, TTL: 1, ACL: zk.WorldACL(zk.PermAll)})
		}
		if due := w.server.Reapable(1000); len(due) != 2 || due[0] != want {
			t.Errorf("order %d: %v, expected %s first", order, due, want)
		}
	}
}
