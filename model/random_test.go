package model_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"zksim/model"

	"github.com/go-zookeeper/zk"
)

// world is a server with three connections and a memory of all that it said.
type world struct {
	server *model.Server
	conns  []*model.Conn
	zxid   int64
	said   []utterance
}

// utterance is a response or an event.
type utterance struct {
	to  int // the connection
	op  model.Op
	res model.Response
	ev  model.Event
}

const sessions = 3

func newWorld(t testing.TB, s *model.Server) *world {
	t.Helper()
	w := &world{server: s, conns: make([]*model.Conn, sessions)}
	s.OnEvent = func(c *model.Conn, e model.Event) {
		w.said = append(w.said, utterance{to: c.Index, ev: e})
	}
	for i := range w.conns {
		w.connect(i)
		if s.HasSession(w.conns[i].Session) {
			t.Fatalf("a new server has session %d", w.conns[i].Session)
		}
		w.do(i, &model.Request{Op: model.OpCreateSession, Version: 1000})
	}
	return w
}

func (w *world) connect(i int) {
	if c := w.conns[i]; c != nil {
		w.server.Disconnect(c)
	}
	w.conns[i] = &model.Conn{Session: int64(i) + 1, Index: i, Auth: []model.ID{{Scheme: "ip", ID: "127.0.0.1"}}}
}

// do executes r for session i, a session that has been closed having been
// opened again.
func (w *world) do(i int, r *model.Request) model.Response {
	var res model.Response
	c := w.conns[i]
	if !r.Op.IsWrite() {
		w.server.Read(c, r, &res)
	} else {
		w.zxid++
		w.server.Apply(&model.Txn{Zxid: w.zxid, Time: 10 * w.zxid, Session: c.Session, Auth: c.Auth, Req: r}, &res)
	}
	w.said = append(w.said, utterance{to: i, op: r.Op, res: res})
	if r.Op == model.OpCloseSession {
		w.connect(i)
		w.do(i, &model.Request{Op: model.OpCreateSession, Version: 1000})
	}
	return res
}

// dump writes down all of the server's state that a client can ask for.
func (w *world) dump() string {
	var b strings.Builder
	var walk func(path string)
	walk = func(path string) {
		var data, acl, list model.Response
		c := &model.Conn{Auth: []model.ID{{Scheme: "ip", ID: "127.0.0.1"}}}
		w.server.Read(c, &model.Request{Op: model.OpGetData, Path: path}, &data)
		w.server.Read(c, &model.Request{Op: model.OpGetACL, Path: path}, &acl)
		w.server.Read(c, &model.Request{Op: model.OpGetChildren, Path: path}, &list)
		fmt.Fprintf(&b, "%s %q null=%v %+v %v %v\n", path, data.Data, data.Data == nil, data.Stat, acl.ACL, list.Children)
		for _, name := range list.Children {
			walk(strings.TrimSuffix(path, "/") + "/" + name)
		}
	}
	walk("/")
	for _, c := range w.conns {
		var own model.Response
		w.server.Read(c, &model.Request{Op: model.OpGetEphemerals}, &own)
		fmt.Fprintf(&b, "session %d %v %d: %v\n", c.Session, w.server.HasSession(c.Session),
			w.server.SessionTimeout(c.Session), own.Children)
	}
	fmt.Fprintf(&b, "reapable %v\n", w.server.Reapable(1<<50))
	return b.String()
}

// source makes random requests about few paths, so that most of them matter to
// each other.
type source struct{ *rand.Rand }

func newSource(seed uint64) source { return source{rand.New(rand.NewPCG(seed, 1))} }

const quotaOf = "/zookeeper/quota"

func (g source) path() string {
	if g.IntN(6) == 0 {
		return quotaOf + []string{"/a", "/a/zookeeper_limits", "/a/zookeeper_stats", "/a/b",
			"/a/b/zookeeper_limits"}[g.IntN(5)]
	}
	path := ""
	for n := 1 + g.IntN(3); n > 0; n-- {
		path += "/" + []string{"a", "b", "c", "d", "n-0000000000", "n-0000000001"}[g.IntN(6)]
	}
	return path
}

func (g source) data(path string) []byte {
	if strings.HasPrefix(path, quotaOf) {
		return fmt.Appendf(nil, "count=%d,bytes=%d=;byteHardLimit=%d;countHardLimit=%d", g.IntN(9), g.IntN(9), g.IntN(40)-1,
			g.IntN(20)-1)
	}
	return []byte(strings.Repeat("x", g.IntN(4)))
}

func (g source) version() int32 { return []int32{-1, -1, -1, 0, 1}[g.IntN(5)] }

// write returns a request that may stand in a multi.
func (g source) write() model.Request {
	p := g.path()
	switch g.IntN(8) {
	case 0, 1, 2:
		return model.Request{Op: model.OpCreate, Path: p, Data: g.data(p), ACL: zk.WorldACL(zk.PermAll),
			Flags: int32(g.IntN(4))}
	case 3:
		return model.Request{Op: model.OpCreateContainer, Path: p, Data: g.data(p), ACL: zk.WorldACL(zk.PermAll),
			Flags: zk.FlagContainer}
	case 4:
		return model.Request{Op: model.OpCreateTTL, Path: p, ACL: zk.WorldACL(zk.PermAll), Flags: zk.FlagTTL,
			TTL: 1 + g.Int64N(100)}
	case 5:
		return model.Request{Op: model.OpSetData, Path: p, Data: g.data(p), Version: g.version()}
	}
	return model.Request{Op: model.OpDelete, Path: p, Version: g.version()}
}

// multi is short, or long enough to make the set of a session's ephemerals grow.
func (g source) multi() *model.Request {
	r := &model.Request{Op: model.OpMulti}
	long := 0
	if g.IntN(6) == 0 {
		long = 20
	}
	for n := range long {
		r.Ops = append(r.Ops, model.Request{Op: model.OpCreate, Path: fmt.Sprint("/", n, "-"), ACL: zk.WorldACL(zk.PermAll),
			Flags: 3})
	}
	for n := 1 + g.IntN(5); n > 0; n-- {
		r.Ops = append(r.Ops, g.write())
	}
	return r
}

func (g source) request() *model.Request {
	w := g.write()
	p, watch := g.path(), g.IntN(2) == 0
	switch g.IntN(16) {
	case 0, 1:
		return g.multi()
	case 2:
		return &model.Request{Op: model.OpExists, Path: p, Watch: watch}
	case 3:
		return &model.Request{Op: model.OpGetData, Path: p, Watch: watch}
	case 4:
		return &model.Request{Op: model.OpGetChildren2, Path: p, Watch: watch}
	case 5:
		return &model.Request{Op: model.OpAddWatch, Path: p, Mode: g.Int32N(2)}
	case 6:
		return &model.Request{Op: model.OpRemoveWatches, Path: p, Mode: 1 + g.Int32N(3)}
	case 7:
		return &model.Request{Op: model.OpSetACL, Path: p, Version: -1, ACL: zk.WorldACL(g.Int32N(8) + 24)}
	case 8:
		return &model.Request{Op: model.OpSetWatches2, Watches: &model.WatchLists{
			RelativeZxid: g.Int64N(50), Data: []string{p}, Child: []string{g.path()}, Recursive: []string{"/a"},
		}}
	case 9:
		if g.IntN(4) == 0 {
			return &model.Request{Op: model.OpCloseSession}
		}
	}
	return &w
}

// run executes n random requests, with a reconnect now and then.
func (w *world) run(g source, n int) {
	for range n {
		i := g.IntN(sessions)
		if g.IntN(20) == 0 {
			w.connect(i)
		}
		w.do(i, g.request())
	}
}

// quotas makes /a and a quota on it, so that random requests run into it.
func (w *world) quotas() {
	for _, p := range []string{"/a", quotaOf + "/a", quotaOf + "/a/zookeeper_limits", quotaOf + "/a/zookeeper_stats"} {
		w.do(0, &model.Request{Op: model.OpCreate, Path: p, Data: []byte("byteHardLimit=40,countHardLimit=20"),
			ACL: zk.WorldACL(zk.PermAll)})
	}
}

// sameWorlds fails when the two have said or become something different.
func sameWorlds(t *testing.T, seed uint64, what string, a, b *world) {
	t.Helper()
	for i := range min(len(a.said), len(b.said)) {
		if !reflect.DeepEqual(a.said[i], b.said[i]) {
			t.Fatalf("seed %d: %s\nsaid %+v\nnot  %+v", seed, what, a.said[i], b.said[i])
		}
	}
	if x, y := a.dump(), b.dump(); x != y || len(a.said) != len(b.said) {
		t.Fatalf("seed %d: %s\nis\n%s\nnot\n%s", seed, what, x, y)
	}
}

// TestResetMakesANewServer runs one history on a used server and on a new one.
func TestResetMakesANewServer(t *testing.T) {
	for seed := range uint64(300) {
		before := model.Config{EnforceQuota: true, ExtendedTypes: true, Order: seed % 3}
		after := model.Config{EnforceQuota: seed%2 == 0, ExtendedTypes: seed%5 > 0, Order: seed % 4}
		used := model.NewServer(before)
		w := newWorld(t, used)
		w.quotas()
		w.run(newSource(seed), 200)
		used.Reset(after)
		a, b := newWorld(t, used), newWorld(t, model.NewServer(after))
		for _, w := range []*world{a, b} {
			w.run(newSource(^seed), 200)
		}
		sameWorlds(t, seed, "a server that was reset", a, b)
	}
}

// TestAFailedMultiLeavesNothingBehind runs one history on two servers, of
// which one executes a multi that fails in its last operation where the other
// notes a failure: nothing that they say later may differ.
func TestAFailedMultiLeavesNothingBehind(t *testing.T) {
	for seed := range uint64(1000) {
		c := model.Config{EnforceQuota: seed%2 == 0, ExtendedTypes: true, Order: seed % 2}
		a, b := newWorld(t, model.NewServer(c)), newWorld(t, model.NewServer(c))
		for _, w := range []*world{a, b} {
			w.quotas()
			w.run(newSource(seed), 60)
		}
		g := newSource(^seed)
		failing := g.multi()
		failing.Ops = append(failing.Ops, model.Request{Op: model.OpCheck, Path: "/nowhere", Version: -1})
		said := len(a.said)
		a.do(1, failing)
		b.do(1, &model.Request{Op: model.OpError, Version: int32(model.NoNode)})
		if len(a.said) != said+1 {
			t.Fatalf("seed %d: a failed multi caused events: %+v", seed, a.said[said:])
		}
		a.said, b.said = nil, nil
		sameWorlds(t, seed, fmt.Sprintf("after %+v", failing.Ops), a, b)
		for _, w := range []*world{a, b} {
			w.run(newSource(seed+1), 60)
			for i := range w.conns {
				w.do(i, &model.Request{Op: model.OpCloseSession})
			}
		}
		sameWorlds(t, seed, fmt.Sprintf("some time after %+v", failing.Ops), a, b)
	}
}
