package model_test

import (
	"reflect"
	"testing"

	"zksim/model"

	"github.com/go-zookeeper/zk"
)

// plain makes of requests for znodes that end some time, of which there is no snapshot, requests for others.
func plain(r *model.Request) *model.Request {
	switch r.Op {
	case model.OpCreateContainer, model.OpCreateTTL:
		r.Op, r.Flags, r.TTL = model.OpCreate, 0, 0
	case model.OpSetWatches2: // zxids are others
		return &model.Request{Op: model.OpGetChildren2, Path: "/a", Watch: true}
	}
	if r.Flags == zk.FlagContainer || r.Flags == zk.FlagTTL {
		r.Flags = 0
	}
	for i := range r.Ops {
		plain(&r.Ops[i])
	}
	return r
}

// TestASnapshotGoesOnLikeTheReplica runs a server and one that was restored from its snapshot.
func TestASnapshotGoesOnLikeTheReplica(t *testing.T) {
	restored := model.NewServer(model.Config{})
	taken := 0
	for seed := range uint64(500) {
		a := newWorld(t, model.NewServer(model.Config{ExtendedTypes: true, Order: 2*seed + 1,
			Like: model.Like(seed % 2)}))
		g := newSource(seed)
		for range 100 {
			a.do(g.IntN(sessions), plain(g.request()))
		}
		x, ok := a.server.Snapshot()
		if !ok { // there are quotas
			continue
		}
		taken++
		print := a.server.Fingerprint()
		b := &world{server: restored, zxid: a.zxid, conns: make([]*model.Conn, sessions)}
		restored.OnEvent = func(c *model.Conn, e model.Event) { b.said = append(b.said, utterance{to: c.Index, ev: e}) }
		for i, c := range a.conns {
			b.conns[i] = &model.Conn{Session: c.Session, Index: i, Auth: c.Auth}
		}
		restored.Restore(x, func(index int) *model.Conn { return b.conns[index] })
		if restored.Fingerprint() != print {
			t.Fatalf("seed %d: what was restored is something else", seed)
		}
		a.said = nil
		for _, w := range []*world{a, b} {
			g := newSource(^seed)
			for range 100 {
				w.do(g.IntN(sessions), plain(g.request()))
			}
		}
		for i := range a.conns {
			a.do(i, &model.Request{Op: model.OpCloseSession})
			b.do(i, &model.Request{Op: model.OpCloseSession})
		}
		if a.server.Fingerprint() != restored.Fingerprint() || len(a.said) != len(b.said) {
			t.Fatalf("seed %d: the two have become different", seed)
		}
		for i, x := range a.said {
			if !reflect.DeepEqual(x, b.said[i]) {
				t.Fatalf("seed %d: the restored one says\n%+v\nnot\n%+v", seed, b.said[i], x)
			}
		}
	}
	if taken < 300 {
		t.Errorf("only %d snapshots", taken)
	}
}

// TestThereIsNoSnapshotOfWhatEnds makes what a snapshot has no room for.
func TestThereIsNoSnapshotOfWhatEnds(t *testing.T) {
	for _, r := range []*model.Request{
		{Op: model.OpCreateContainer, Path: "/c", ACL: zk.WorldACL(zk.PermAll), Flags: zk.FlagContainer},
		{Op: model.OpCreateTTL, Path: "/t", ACL: zk.WorldACL(zk.PermAll), Flags: zk.FlagTTL, TTL: 5},
	} {
		w := newWorld(t, model.NewServer(model.Config{ExtendedTypes: true}))
		w.do(0, r)
		if _, ok := w.server.Snapshot(); ok {
			t.Errorf("there is a snapshot with %s", r.Path)
		}
	}
	w := newWorld(t, model.NewServer(model.Config{}))
	w.quotas()
	if _, ok := w.server.Snapshot(); ok {
		t.Error("there is a snapshot with quotas")
	}
}
