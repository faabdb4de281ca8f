package serve

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/zkserver/zkservertest"
	"zksim/model"
	"zksim/model/history"
	"zksim/model/jute"
)

// left are requests on a connection whose session has moved to another server.
var left = []model.Request{
	{Op: model.OpExists, Path: "/m", Watch: true},
	{Op: model.OpGetData, Path: "/m"},
	{Op: model.OpGetChildren2, Path: "/"},
	{Op: model.OpGetACL, Path: "/m"},
	{Op: model.OpSync, Path: "/"},
	{Op: model.OpPing},
	{Op: model.OpSetWatches, Watches: &model.WatchLists{Data: []string{"/m"}}},
	{Op: model.OpAddWatch, Path: "/m"},
	{Op: model.OpRemoveWatches, Path: "/m", Mode: 3},
	{Op: model.OpMultiRead, Ops: []model.Request{{Op: model.OpGetData, Path: "/m"}}},
	{Op: model.OpGetEphemerals, Path: "/"},
	{Op: model.OpCountChildren, Path: "/"},
	{Op: model.OpWhoAmI},
	{Op: model.OpAuth, Path: "digest", Data: []byte("a:b")},
	{Op: model.OpSetData, Path: "/m", Version: -1},
	{Op: model.OpCreate, Path: "/never", ACL: open},
	{Op: model.OpCreate2, Path: "/never", ACL: open},
	{Op: model.OpDelete, Path: "/m", Version: -1},
	{Op: model.OpDelete, Path: "/none", Version: -1},
	{Op: model.OpSetACL, Path: "/m", Version: -1, ACL: open},
	{Op: model.OpCheck, Path: "/m", Version: -1},
	{Op: model.OpMulti, Ops: []model.Request{{Op: model.OpSetData, Path: "/m", Version: -1}}},
	{Op: model.OpMulti},
	// These fail before the leader asks where the session is, or only after that.
	{Op: model.OpCreate, Path: "/never", ACL: open, Flags: 7},
	{Op: model.OpCreate2, Path: "/never", ACL: open, Flags: -1},
	{Op: model.OpCreateContainer, Path: "/never", ACL: open, Flags: 7},
	{Op: model.OpCreateTTL, Path: "/never", ACL: open, Flags: zk.FlagTTL},
	{Op: model.OpCreateTTL, Path: "/never", ACL: open, Flags: zk.FlagTTL, TTL: 10},
	{Op: model.OpCreate, Path: "never", ACL: open},
	{Op: model.OpReconfig, Data: []byte("\x00\x00\x00\x01a" + strings.Repeat("\xff", 16))},
	{Op: model.OpDeleteContainer, Path: "/m"},
	{Op: model.OpSetData, Path: "m", Version: -1},
	{Op: model.OpDelete, Path: "/", Version: -1},
	{Op: model.OpMulti, Ops: []model.Request{{Op: model.OpCreate, Path: "/n", ACL: open, Flags: 7}, {Op: model.OpCheck}}},
	{Op: model.OpMulti, Ops: []model.Request{{Op: model.OpCheck, Path: "/m"}, {Op: model.OpCreate, Path: "/n", Flags: 7}}},
	{Op: model.OpMulti, Ops: []model.Request{{Op: model.OpCheck, Path: "/m"}, {Op: model.OpSetACL, Path: "/m"}}},
	{Op: model.OpCloseSession},
}

// moves has a session move from one server to another, asks on the connection that it has left, and says what came of
// it.
func moves(t testing.TB, from, to string, q model.Request) string {
	a, b := dialTo(t, from), dialTo(t, to)
	w := hello(t, a, 0, make([]byte, jute.PasswordLen))
	if r, _ := ask(t, a, model.Request{Op: model.OpSync, Path: "/"}); r.Err != model.OK {
		t.Fatal(r.Err)
	}
	ask(t, a, model.Request{Op: model.OpGetData, Path: "/w", Watch: true})
	if again := hello(t, b, w.Session, w.Password); again.Session != w.Session {
		t.Fatalf("%+v", again)
	}
	before, _ := ask(t, b, model.Request{Op: model.OpSetData, Path: "/w", Version: -1})
	ev, err := receive(a)
	if err != nil {
		return "the old connection hears of no event: " + err.Error()
	}
	if r, err := jute.ParseReply(ev); err != nil || r.Xid != jute.XidEvent {
		t.Errorf("%+v, %v", r, err)
	}
	send(t, a, jute.AppendRequest(nil, 7, &q))
	said, _ := hears(a)
	// The new connection goes on, and tells how many txns there were.
	put(b, &model.Request{Op: model.OpSetData, Path: "/w", Version: -1})
	if what, zxid := hears(b); zxid > 0 {
		said += fmt.Sprint(", ", zxid-before.Zxid-1, " txns, ", what)
	} else {
		said += ", " + what
	}
	put(b, &model.Request{Op: model.OpCloseSession})
	hears(b)
	return said
}

// put sends a request, if there is a connection.
func put(sock net.Conn, q *model.Request) {
	sock.Write(jute.EndFrame(jute.AppendRequest(jute.StartFrame(nil), 8, q), 0))
}

// hears tells what comes next on a connection.
func hears(sock net.Conn) (what string, zxid int64) {
	packet, err := receive(sock)
	if err != nil {
		return "end", 0
	}
	r, err := jute.ParseReply(packet)
	if err != nil {
		return err.Error(), 0
	}
	return fmt.Sprint("xid ", r.Xid, " ", r.Err), r.Zxid
}

func dialTo(t testing.TB, addr string) net.Conn {
	t.Helper()
	sock, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sock.Close() })
	sock.SetDeadline(time.Now().Add(time.Minute))
	return sock
}

// movedEverywhere returns what all of these requests came to, in both directions.
func movedEverywhere(t testing.TB, leader, follower, other string) (list []string) {
	c := client(t, 20*time.Second, leader)
	for _, path := range []string{"/m", "/w"} {
		must[string](t)(c.Create(path, nil, 0, zk.WorldACL(zk.PermAll)))
	}
	for _, way := range [][3]string{{"from the leader", leader, follower}, {"from a follower", follower, leader},
		{"between followers", follower, other}} {
		for _, q := range left {
			list = append(list, fmt.Sprintf("%s: %s: %s", way[0], q.Op, moves(t, way[1], way[2], q)))
		}
	}
	return list
}

// What was seen with a real ensemble is in testdata/moved.txt, and ours does the same.
func TestASessionThatMovesLeavesItsConnectionAsWithARealEnsemble(t *testing.T) {
	text, err := os.ReadFile("testdata/moved.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	e := start(t, Options{Nodes: 3})
	if got := movedEverywhere(t, e.Addrs()[0], e.Addrs()[1], e.Addrs()[2]); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), text)
	}
	for s := e.State(); len(s.Sessions) != 1 || s.Servers[0].Connections+s.Servers[1].Connections+
		s.Servers[2].Connections != 1; s = e.State() { // the sockets of the others are still being closed
		time.Sleep(time.Millisecond)
	}
	for range 3 {
		got, ended := movedOnReal(t)
		switch {
		case ended != "":
			t.Log(ended)
		case slices.Equal(got, want):
			return
		default:
			t.Logf("a real ensemble: got\n%s\nexpected\n%s", strings.Join(got, "\n"), text)
		}
	}
	t.Error("three real ensembles have answered something else, or ended connections of sessions that have not moved")
}

// movedOnReal is movedEverywhere of a real ensemble, or says how it was ended. On a busy machine the servers may elect
// another leader meanwhile, and end connections of sessions that have not moved, before an answer or behind it.
func movedOnReal(t *testing.T) (list []string, ended string) {
	real := zkservertest.ForTest(t, 3)
	lead, err := real.Leader(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	addrs, part := real.Addrs(), &endedPart{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		list = movedEverywhere(part, addrs[lead], addrs[(lead+1)%3], addrs[(lead+2)%3])
	}()
	<-done
	return list, part.why
}

// endedPart is a part of a test that ends with what is fatal, and may be tried again.
type endedPart struct {
	testing.TB
	why string
}

func (p *endedPart) Fatal(args ...any) {
	p.why = fmt.Sprint(args...)
	runtime.Goexit()
}

func TestASessionThatMovesBackEndsTheConnectionThatItLeftThere(t *testing.T) {
	e := start(t, Options{Nodes: 3})
	first, second, third := dialTo(t, e.Addrs()[1]), dialTo(t, e.Addrs()[2]), dialTo(t, e.Addrs()[1])
	w := hello(t, first, 0, make([]byte, jute.PasswordLen))
	for _, sock := range []net.Conn{second, third} {
		if again := hello(t, sock, w.Session, w.Password); again.Session != w.Session {
			t.Fatalf("%+v", again)
		}
	}
	if what, _ := hears(first); what != "end" {
		t.Errorf("the first connection hears of %s", what)
	}
	for name, sock := range map[string]net.Conn{"second": second, "third": third} {
		if a, _ := ask(t, sock, model.Request{Op: model.OpExists, Path: "/"}); a.Err != model.OK {
			t.Errorf("%s: %v", name, a.Err)
		}
	}
	if err := e.Expire(1); err != nil {
		t.Fatal(err)
	}
	for name, sock := range map[string]net.Conn{"second": second, "third": third} {
		if what, _ := hears(sock); what != "end" {
			t.Errorf("%s hears of %s", name, what)
		}
	}
}

// A client that comes back after its session has ended is told so, and the history says that it was.
func TestTheHistorySaysWhoWasToldOfAnExpiredSession(t *testing.T) {
	e := start(t, Options{Nodes: 3})
	sock := dialTo(t, e.Addrs()[1])
	w := hello(t, sock, 0, make([]byte, jute.PasswordLen))
	if err := e.Expire(1); err != nil {
		t.Fatal(err)
	}
	for _, password := range [][]byte{w.Password, make([]byte, jute.PasswordLen)} {
		if again := hello(t, dialTo(t, e.Addrs()[2]), w.Session, password); again.Session != 0 || again.Timeout != 0 {
			t.Errorf("%+v", again)
		}
	}
	told := 0
	h, _ := e.History()
	for i := range h.Events {
		if x := &h.Events[i]; x.Kind == history.Session && x.Op == zk.StateExpired.String() {
			if told++; x.Client != 1 || x.Session != w.Session {
				t.Errorf("%+v", x)
			}
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}
