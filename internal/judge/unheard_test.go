package judge

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/jute"
)

// talk says requests and answers on a connection, by their numbers.
type talk struct {
	c   *Connection
	xid int32
}

func (t *talk) ask(q model.Request) int32 {
	t.xid++
	t.c.Sent(frame(jute.AppendRequest(nil, t.xid, &q)))
	return t.xid
}

func (t *talk) tell(xid int32, op model.Op, res model.Response) {
	t.c.Received(frame(jute.AppendReply(nil, xid, op, &res)))
}

func (t *talk) done(q model.Request, res model.Response) { t.tell(t.ask(q), q.Op, res) }

func (t *talk) notified(what zk.EventType, path string) {
	t.c.Received(frame(jute.AppendEvent(nil, model.Event{Type: what, Path: path}, jute.NoZxid)))
}

func creating(path, data string, flags int32) model.Request {
	return model.Request{Op: model.OpCreate, Path: path, Data: []byte(data), Flags: flags,
		ACL: zk.WorldACL(zk.PermAll)}
}

var (
	looking = model.Request{Op: model.OpGetData, Path: "/a"}
	syncing = model.Request{Op: model.OpSync, Path: "/a"}
)

func setting(data string) model.Request {
	return model.Request{Op: model.OpSetData, Path: "/a", Data: []byte(data), Version: -1}
}

func found(data string, version int32, mzxid, zxid int64) model.Response {
	return model.Response{Data: []byte(data), Stat: zk.Stat{Version: version, Mzxid: mzxid}, Zxid: zxid}
}

func none(zxid int64) model.Response { return model.Response{Err: model.Code(-101), Zxid: zxid} }

var deleting = model.Request{Op: model.OpMulti,
	Ops: []model.Request{{Op: model.OpDelete, Path: "/a", Version: -1}}}

// unheard are what a server does and no answer tells of, by two clients.
var unheard = map[string]func(r *Recorder, a, b *talk){
	"a delete in a multi": func(_ *Recorder, a, b *talk) {
		a.done(creating("/a", "x", 0), model.Response{Path: "/a", Zxid: 3})
		a.ask(deleting)
		a.c.Dropped()
		b.done(syncing, model.Response{Path: "/a", Zxid: 4})
		b.done(looking, none(4))
	},
	"an ephemeral": func(_ *Recorder, a, b *talk) {
		a.ask(creating("/a", "x", zk.FlagEphemeral))
		a.c.Dropped()
		b.done(syncing, model.Response{Path: "/a", Zxid: 3})
		b.done(looking, found("x", 0, 3, 3))
		b.done(syncing, model.Response{Path: "/a", Zxid: 4})
		b.done(looking, none(4))
	},
	"the end of a ttl": func(_ *Recorder, a, b *talk) {
		q := creating("/a", "x", 5)
		q.Op, q.TTL = model.OpCreateTTL, 10
		a.done(q, model.Response{Path: "/a", Zxid: 3})
		b.done(syncing, model.Response{Path: "/a", Zxid: 4})
		b.done(looking, none(4))
	},
	"a version of before": func(_ *Recorder, a, _ *talk) {
		a.done(model.Request{Op: model.OpSetData, Path: "/a", Data: []byte("y"), Version: 7},
			model.Response{Err: model.Code(-103), Zxid: 3})
	},
	"a set of others before one that was heard": func(_ *Recorder, a, _ *talk) {
		a.done(creating("/a", "x", 0), model.Response{Path: "/a", Zxid: 3})
		a.done(setting("y"), model.Response{Stat: zk.Stat{Version: 2, Mzxid: 5}, Zxid: 5})
	},
	"a set, of a znode of before": func(_ *Recorder, a, _ *talk) {
		a.done(setting("x"), model.Response{Stat: zk.Stat{Version: 8, Mzxid: 3}, Zxid: 3})
		a.ask(setting("y"))
		a.c.Dropped()
	},
	"a set, of a znode that others have written": func(_ *Recorder, a, b *talk) {
		a.done(creating("/a", "x", 0), model.Response{Path: "/a", Zxid: 3})
		b.done(syncing, model.Response{Path: "/a", Zxid: 4})
		b.done(looking, found("z", 1, 4, 4))
		a.ask(setting("y"))
		a.c.Dropped()
	},
	"a multi beside a set": func(_ *Recorder, a, _ *talk) {
		a.done(creating("/a", "x", 0), model.Response{Path: "/a", Zxid: 3})
		m := model.Request{Op: model.OpMulti, Ops: []model.Request{{Op: model.OpSetData, Path: "/a", Data: []byte("m"),
			Version: -1}}}
		s := setting("s")
		first, second := a.ask(m), a.ask(s)
		a.tell(first, m.Op, model.Response{Results: []model.Response{{Op: model.OpSetData,
			Stat: zk.Stat{Version: 1, Mzxid: 4}}}, Zxid: 4})
		a.tell(second, s.Op, model.Response{Stat: zk.Stat{Version: 2, Mzxid: 5}, Zxid: 5})
	},
	"the end of a session": func(r *Recorder, a, b *talk) {
		a.done(creating("/e", "", zk.FlagEphemeral), model.Response{Path: "/e", Zxid: 3})
		a.c.Left()
		refused(r, 1, password)
	},
	"a sync that was refused, as by a read-only server": func(_ *Recorder, a, b *talk) {
		a.done(creating("/a", "x", 0), model.Response{Path: "/a", Zxid: 3})
		a.done(setting("y"), model.Response{Stat: zk.Stat{Version: 1, Mzxid: 4}, Zxid: 4})
		sync, first := b.ask(syncing), b.ask(looking)
		b.tell(sync, model.OpSync, model.Response{Err: model.NotReadOnly, Zxid: 3})
		b.tell(first, model.OpGetData, found("x", 0, 3, 3))
		b.done(looking, found("x", 0, 3, 3))
	},
	"an authentication that has a number": func(_ *Recorder, a, _ *talk) {
		a.done(model.Request{Op: model.OpAuth, Path: "digest", Data: []byte("u:p")}, model.Response{})
		a.done(creating("/a", "x", 0), model.Response{Path: "/a", Zxid: 3})
	},
	"an authentication whose answer overtakes others": func(_ *Recorder, a, _ *talk) {
		auth := model.Request{Op: model.OpAuth, Path: "digest", Data: []byte("u:p")}
		q := creating("/a", "x", 0)
		first, second, third := a.ask(q), a.ask(auth), a.ask(looking)
		a.tell(second, auth.Op, model.Response{})
		a.tell(first, q.Op, model.Response{Path: "/a", Zxid: 3})
		a.tell(third, looking.Op, found("x", 0, 3, 3))
	},
	"a check that nobody answers, as it succeeds": func(_ *Recorder, a, _ *talk) {
		a.ask(model.Request{Op: model.OpCheck, Path: "/", Version: -1})
		a.done(creating("/a", "x", 0), model.Response{Path: "/a", Zxid: 3})
	},
	"whose znode it is": func(_ *Recorder, a, b *talk) {
		q := creating("/l/lock-", "", zk.FlagEphemeral|zk.FlagSequence)
		a.ask(q)
		a.c.Dropped()
		b.done(q, model.Response{Path: "/l/lock-0000000001", Zxid: 4})
		b.done(model.Request{Op: model.OpGetChildren, Path: "/l"}, model.Response{Children: []string{"lock-0000000000",
			"lock-0000000001"}, Zxid: 4})
		again := &talk{c: attached(a.c.r, 1)}
		again.done(model.Request{Op: model.OpDelete, Path: "/l/lock-0000000000", Version: -1},
			model.Response{Zxid: 5})
	},
}

// What a server has done and no answer tells of is no violation.
func TestWhatNoAnswerTellsOfIsNoViolation(t *testing.T) {
	for name, say := range unheard { // order-free: each by itself
		r := NewRecorder()
		say(r, &talk{c: attached(r, 1)}, &talk{c: attached(r, 2)})
		j, _, err := r.Judge(nil)
		if err != nil || len(j.Violations) > 0 || strings.Contains(strings.Join(j.Inconclusive, ""), "followed") {
			t.Errorf("%s: %+v, %v", name, j, err)
		}
	}
}

// Java and Kazoo list children by the older of two operations, unless the stat is asked for, too.
func TestAChangeWakesThoseThatListByEitherOperation(t *testing.T) {
	r := NewRecorder()
	a := &talk{c: attached(r, 1)}
	a.done(creating("/l", "", 0), model.Response{Path: "/l", Zxid: 3})
	a.done(creating("/l/lock-0000000000", "", 0), model.Response{Path: "/l/lock-0000000000", Zxid: 4})
	var list []*talk
	for i, op := range []model.Op{model.OpGetChildren, model.OpGetChildren2} {
		b := &talk{c: attached(r, int64(i+2))}
		b.done(model.Request{Op: op, Path: "/l", Watch: true}, model.Response{Children: []string{"lock-0000000000"}, Zxid: 4})
		list = append(list, b)
	}
	deletion := a.ask(model.Request{Op: model.OpDelete, Path: "/l/lock-0000000000", Version: -1})
	for _, b := range list {
		b.notified(zk.EventNodeChildrenChanged, "/l")
	}
	a.tell(deletion, model.OpDelete, model.Response{Zxid: 5})
	j, _, err := r.Judge(nil)
	for _, want := range []string{"2 watches on the whole folder", "at most 2 by one change (deleted "} {
		if facts := strings.Join(j.Facts, "\n"); err != nil || !strings.Contains(facts, want) {
			t.Errorf("no %q in %s, %v", want, facts, err)
		}
	}
}

// A client that was not told the name of its sequential znode finds it in a listing, and deletes it.
func TestASequentialZnodeWhoseCreateIsNotAnsweredIsNotOneOfOthers(t *testing.T) {
	r := NewRecorder()
	a := &talk{c: attached(r, 1)}
	a.ask(creating("/l/lock-", "", zk.FlagEphemeral|zk.FlagSequence))
	a.c.Dropped()
	again := &talk{c: attached(r, 1)}
	for i, path := range []string{"/l/lock-0000000000", "/l/other-0000000001"} {
		again.done(model.Request{Op: model.OpDelete, Path: path, Version: -1}, model.Response{Zxid: int64(5 + i)})
	}
	const want = "znodes: none judged; 2 not judged (1 sequential, 1 there before or written by others)"
	if j, _, err := r.Judge(nil); err != nil || len(j.Facts) == 0 || j.Facts[0] != want {
		t.Errorf("%q, %v, want %q", j.Facts, err, want)
	}
}
