package jute_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/zkserver"
	"zksim/model"
	"zksim/model/jute"
)

// dialogue is a connection to a server, packet by packet.
type dialogue struct {
	t *testing.T
	net.Conn
}

func (d *dialogue) send(packet []byte) {
	d.t.Helper()
	if _, err := d.Write(jute.EndFrame(append(jute.StartFrame(nil), packet...), 0)); err != nil {
		d.t.Fatal(err)
	}
}

func (d *dialogue) receive() []byte {
	d.t.Helper()
	packet, err := receive(d.Conn)
	if err != nil {
		d.t.Fatal(err)
	}
	return packet
}

// receive reads one frame.
func receive(r io.Reader) (packet []byte, err error) {
	var f jute.Frames
	for b := make([]byte, 1); packet == nil; {
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		f.Feed(b, func(p []byte) error { packet = bytes.Clone(p); return nil })
	}
	return packet, nil
}

// requests has one of every operation that a real server answers, errors among them.
func requests() []model.Request {
	open := zk.WorldACL(zk.PermAll)
	create := func(op model.Op, path string, flags int32, ttl int64) model.Request {
		return model.Request{Op: op, Path: path, Data: []byte("x"), ACL: open, Flags: flags, TTL: ttl}
	}
	return []model.Request{
		create(model.OpCreate, "/a", 0, 0), create(model.OpCreate2, "/a/e-", 3, 0),
		create(model.OpCreateContainer, "/c", 4, 0), create(model.OpCreateTTL, "/t", 5, 1000),
		{Op: model.OpCreate, Path: "/n", ACL: open}, {Op: model.OpGetData, Path: "/n"},
		{Op: model.OpExists, Path: "/a"}, {Op: model.OpExists, Path: "/none"}, {Op: model.OpGetData, Path: "/a"},
		{Op: model.OpSetData, Path: "/a", Data: []byte{}, Version: -1}, {Op: model.OpGetACL, Path: "/a"},
		{Op: model.OpSetACL, Path: "/a", ACL: open, Version: -1}, {Op: model.OpGetChildren, Path: "/"},
		{Op: model.OpGetChildren2, Path: "/a", Watch: true}, {Op: model.OpSync, Path: "/a"}, {Op: model.OpPing},
		{Op: model.OpCheckWatches, Path: "/a", Mode: 3}, {Op: model.OpRemoveWatches, Path: "/a", Mode: 1},
		{Op: model.OpAddWatch, Path: "/b", Mode: 1}, {Op: model.OpWhoAmI},
		{Op: model.OpAuth, Path: "digest", Data: []byte("u:p")}, {Op: model.OpGetEphemerals, Path: "/"},
		{Op: model.OpCountChildren, Path: "/"},
		{Op: model.OpMulti, Ops: []model.Request{create(model.OpCreate, "/m", 0, 0), create(model.OpCreate2, "/m2", 0, 0),
			create(model.OpCreateContainer, "/m3", 4, 0), {Op: model.OpSetData, Path: "/m", Version: 0},
			{Op: model.OpCheck, Path: "/m", Version: 1}, {Op: model.OpDelete, Path: "/m", Version: 1}}},
		{Op: model.OpMulti, Ops: []model.Request{{Op: model.OpDelete, Path: "/m2", Version: -1},
			{Op: model.OpDelete, Path: "/none", Version: -1}, {Op: model.OpCheck, Path: "/a"}}},
		{Op: model.OpMultiRead, Ops: []model.Request{{Op: model.OpGetData, Path: "/a"},
			{Op: model.OpGetChildren, Path: "/a"}, {Op: model.OpGetData, Path: "/none"}}},
		{Op: model.OpSetWatches, Watches: &model.WatchLists{RelativeZxid: 1 << 40, Data: []string{"/a"},
			Exist: []string{"/none"}, Child: []string{}}},
		{Op: model.OpSetWatches2, Watches: &model.WatchLists{RelativeZxid: 1 << 40, Data: []string{}, Exist: []string{},
			Child: []string{"/a"}, Persistent: []string{"/p"}, Recursive: []string{"/r"}}},
		{Op: model.OpReconfig, Data: []byte("\x00\x00\x00\x01a" + strings.Repeat("\xff", 16))},
		{Op: model.OpDeleteContainer, Path: "/c"}, {Op: model.OpDelete, Path: "/a", Version: -1},
		{Op: model.OpSetACL, Path: "/\U0001f600", ACL: open}, {Op: model.OpSync, Path: "/\U0001f600"},
		{Op: model.OpCloseSession},
	}
}

// A server's answers, read and written again, are the same bytes.
func TestARealServerAnswersInTheBytesOfThisPackage(t *testing.T) {
	e, err := zkserver.Start(t.Context(), zkserver.Options{ContainerCheck: time.Hour})
	if errors.Is(err, zkserver.ErrUnavailable) && os.Getenv("ZKSIM_REQUIRE_ZOOKEEPER") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop()
	for _, old := range []bool{false, true} {
		sock, err := net.Dial("tcp", e.Addrs()[0])
		if err != nil {
			t.Fatal(err)
		}
		defer sock.Close()
		sock.SetDeadline(time.Now().Add(time.Minute))
		d := &dialogue{t, sock}
		hello := jute.ConnectRequest{Timeout: 10_000, Password: make([]byte, jute.PasswordLen), Old: old}
		d.send(hello.Append(nil))
		packet := d.receive()
		welcome, err := jute.ParseConnectResponse(packet)
		if err != nil || welcome.Session == 0 || welcome.Old != old || !bytes.Equal(welcome.Append(nil), packet) {
			t.Fatalf("%x was read as %+v, %v", packet, welcome, err)
		}
		if old {
			return
		}
		for i, q := range requests() {
			xid := int32(i)
			if q.Op == model.OpPing { // the server answers no other xid
				xid = jute.XidPing
			}
			d.send(jute.AppendRequest(nil, xid, &q))
			repeats(t, d, xid, q.Op)
		}
	}
}

// repeats reads the answer to a request, and writes it again.
func repeats(t *testing.T, d *dialogue, xid int32, op model.Op) {
	t.Helper()
	for {
		packet := d.receive()
		a, err := jute.ParseReply(packet)
		if err != nil {
			t.Fatal(err)
		}
		if a.Xid == jute.XidEvent {
			ev, err := a.Event()
			if again := jute.AppendEvent(nil, ev, a.Zxid); err != nil || !bytes.Equal(again, packet) {
				t.Errorf("event %x was read as %+v, %v, and written as %x", packet, ev, err, again)
			}
			continue
		}
		res, err := a.Response(op)
		if again := jute.AppendReply(nil, xid, op, &res); err != nil || !bytes.Equal(again, packet) {
			t.Errorf("%s: %x was read as %+v, %v, and written as %x", op, packet, res, err, again)
		}
		return
	}
}

// fakeServer answers go-zookeeper with what answer says, and holds its packets against this package.
func fakeServer(t *testing.T, sock net.Conn, answer func(q *model.Request) model.Response) {
	if _, err := receive(sock); err != nil {
		return
	}
	welcome := jute.ConnectResponse{Timeout: 10_000, Session: 1, Password: make([]byte, jute.PasswordLen), Old: true}
	sock.Write(jute.EndFrame(welcome.Append(jute.StartFrame(nil)), 0))
	for {
		packet, err := receive(sock)
		if err != nil {
			return
		}
		xid, q, err := jute.ParseRequest(packet)
		if again := jute.AppendRequest(nil, xid, &q); err != nil || !bytes.Equal(again, packet) {
			t.Errorf("%x was read as %+v, %v, and written as %x", packet, q, err, again)
		}
		res := answer(&q)
		sock.Write(jute.EndFrame(jute.AppendReply(jute.StartFrame(nil), xid, q.Op, &res), 0))
		if q.Op == model.OpCloseSession {
			sock.Close()
			return
		}
	}
}

func TestGoZookeeperSpeaksAndUnderstandsTheBytesOfThisPackage(t *testing.T) {
	stat := zk.Stat{Czxid: 1, Mzxid: 2, Ctime: 3, Mtime: 4, Version: 5, Cversion: 6, Aversion: 7, EphemeralOwner: 8,
		DataLength: 9, NumChildren: 10, Pzxid: 11}
	open := zk.WorldACL(zk.PermAll)
	var asked []model.Op
	dial := func(string, string, time.Duration) (net.Conn, error) {
		near, far := net.Pipe()
		go fakeServer(t, far, func(q *model.Request) model.Response {
			asked = append(asked, q.Op)
			return model.Response{Zxid: 7, Path: "/a0", Data: []byte("data"), Stat: stat, Children: []string{"x", "y"},
				ACL: open, Results: []model.Response{{Op: model.OpCreate, Path: "/m"}, {Op: model.OpSetData, Stat: stat},
					{Op: model.OpDelete}, {Op: model.OpCheck}}}
		})
		return near, nil
	}
	c, _, err := zk.Connect([]string{"127.0.0.1:1"}, 10*time.Second, zk.WithDialer(dial), zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	must := func(what string, ok bool, err error) {
		t.Helper()
		if !ok || err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	path, err := c.Create("/a", []byte("x"), zk.FlagEphemeralSequential, open)
	must("create", path == "/a0", err)
	path, err = c.CreateContainer("/a", nil, zk.FlagContainer, open)
	must("container", path == "/a0", err)
	path, err = c.CreateTTL("/a", nil, zk.FlagTTL, open, time.Second)
	must("ttl", path == "/a0", err)
	data, got, err := c.Get("/a")
	must("get", string(data) == "data" && *got == stat, err)
	_, got, err = c.Exists("/a")
	must("exists", *got == stat, err)
	_, _, _, err = c.ChildrenW("/a")
	must("childrenW", true, err)
	list, got, err := c.Children("/a")
	must("children", len(list) == 2 && *got == stat, err)
	got, err = c.Set("/a", []byte{}, 3)
	must("set", *got == stat, err)
	acl, got, err := c.GetACL("/a")
	must("getACL", len(acl) == 1 && acl[0] == open[0] && *got == stat, err)
	_, err = c.SetACL("/a", open, 3)
	must("setACL", true, err)
	must("delete", true, c.Delete("/a", 1))
	_, err = c.Sync("/a")
	must("sync", true, err)
	must("auth", true, c.AddAuth("digest", []byte("u:p")))
	results, err := c.Multi(&zk.CreateRequest{Path: "/m", Acl: open}, &zk.SetDataRequest{Path: "/m"},
		&zk.DeleteRequest{Path: "/m"}, &zk.CheckVersionRequest{Path: "/m"})
	must("multi", len(results) == 4 && results[0].String == "/m" && *results[1].Stat == stat, err)
	_, err = c.IncrementalReconfig([]string{"server.4=a"}, nil, -1)
	must("reconfig", true, err)
	_, _, watch, err := c.GetW("/a")
	must("getW", watch != nil, err)
	c.Close()
	if len(asked) < 16 {
		t.Errorf("only %v was asked", asked)
	}
}
