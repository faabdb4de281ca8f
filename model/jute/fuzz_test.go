package jute

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model"
)

// FuzzRequest has bytes of a hostile client. What they are taken for must come back from its own bytes, and no more
// memory is used than they have.
func FuzzRequest(f *testing.F) {
	f.Add(AppendRequest(nil, 1, &model.Request{Op: model.OpCreateTTL, Path: "/a", Data: []byte("x"),
		ACL: zk.WorldACL(zk.PermAll), Flags: 5, TTL: 9}))
	f.Add(AppendRequest(nil, 2, &model.Request{Op: model.OpSetWatches2, Watches: &model.WatchLists{
		Data: []string{"/a"}, Recursive: []string{}}}))
	f.Add(AppendRequest(nil, 3, &model.Request{Op: model.OpMulti, Ops: []model.Request{{Op: model.OpCheck, Path: "/a"},
		{Op: model.OpSetData, Path: "/a", Data: []byte{}}}}))
	f.Add(AppendRequest(nil, XidAuth, &model.Request{Op: model.OpAuth, Path: "digest", Data: []byte("a:b")}))
	f.Fuzz(func(t *testing.T, packet []byte) {
		xid, q, err := ParseRequest(packet)
		if err != nil {
			return
		}
		again := AppendRequest(nil, xid, &q)
		if len(again) > len(packet)+multiEnd {
			t.Fatalf("%d bytes became %d", len(packet), len(again))
		}
		gotXid, got, err := ParseRequest(again)
		if err != nil || gotXid != xid || !reflect.DeepEqual(got, q) {
			t.Fatalf("%x: %+v, then %+v, %v", packet, q, got, err)
		}
	})
}

// multiEnd is how much may follow when a multi is refused for one of its operations: the record of that without
// anything in it, and the header that ends a multi.
const multiEnd = 28 + 9

// FuzzReply is FuzzRequest for a hostile server.
func FuzzReply(f *testing.F) {
	f.Add(int32(model.OpGetData), AppendReply(nil, 1, model.OpGetData, &model.Response{Data: []byte("x")}))
	f.Add(int32(model.OpMulti), AppendReply(nil, 1, model.OpMulti, &model.Response{Results: []model.Response{
		{Op: model.OpCreate, Path: "/a"}, {Op: model.OpError, Err: model.NoNode}}}))
	f.Add(int32(model.OpGetACL), AppendReply(nil, 1, model.OpGetACL, &model.Response{ACL: zk.WorldACL(zk.PermAll)}))
	f.Add(int32(0), AppendEvent(nil, model.Event{Type: zk.EventNodeCreated, Path: "/a"}, NoZxid))
	f.Fuzz(func(t *testing.T, op int32, packet []byte) {
		a, err := ParseReply(packet)
		if err != nil {
			return
		}
		a.Event()
		res, err := a.Response(model.Op(op))
		if err != nil {
			return
		}
		again, err := ParseReply(AppendReply(nil, a.Xid, model.Op(op), &res))
		if err != nil || again.Err != a.Err || again.Zxid != a.Zxid {
			t.Fatalf("%x: %+v, then %+v, %v", packet, a, again, err)
		}
		if _, err := again.Response(model.Op(op)); err != nil {
			t.Fatalf("%x: %+v cannot be read again: %v", packet, res, err)
		}
	})
}

// FuzzHandshake has the first packet of either side, and the frames of a stream.
func FuzzHandshake(f *testing.F) {
	f.Add((&ConnectRequest{Timeout: 1, Password: make([]byte, PasswordLen)}).Append(nil))
	f.Add((&ConnectResponse{Timeout: 1, Old: true}).Append(nil))
	f.Add([]byte{0, 0, 0, 1, 7, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := ParseConnectRequest(b); err == nil {
			if got := c.Append(nil); !bytes.HasPrefix(b, got) && c.Old {
				t.Fatalf("%x became %x", b, got)
			}
		}
		if c, err := ParseConnectResponse(b); err == nil {
			if got := c.Append(nil); !bytes.HasPrefix(b, got) && c.Old {
				t.Fatalf("%x became %x", b, got)
			}
		}
		fr, total := Frames{Max: 1 << 10}, 0
		err := fr.Feed(b, func(p []byte) error { total += len(p) + lengthLen; return nil })
		if err == nil && total+fr.Pending() != len(b) {
			t.Fatalf("%x: %d bytes of packets and %d pending", b, total, fr.Pending())
		}
	})
}
