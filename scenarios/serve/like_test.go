package serve

import (
	"bytes"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/jute"
)

// owned returns whether /own exists, and its owner, as a connection is told.
func owned(t *testing.T, sock net.Conn) (bool, int64) {
	t.Helper()
	r, _ := ask(t, sock, model.Request{Op: model.OpExists, Path: "/own"})
	res, err := r.Response(model.OpExists)
	if err != nil {
		t.Fatal(err)
	}
	return res.Err == model.OK, res.Stat.EphemeralOwner
}

// TestAServerLikeKeeperDoesNotAskWhichSessionAClientHad connects a client again, whose znode stays until its first
// session ends.
func TestAServerLikeKeeperDoesNotAskWhichSessionAClientHad(t *testing.T) {
	t.Parallel()
	e := start(t, Options{Like: model.Keeper})
	first := dial(t, e)
	w := hello(t, first, 0, make([]byte, 16))
	ask(t, first, model.Request{Op: model.OpCreate, Path: "/own", ACL: open, Flags: zk.FlagEphemeral})
	for n := range int64(3) {
		next := dial(t, e)
		again := hello(t, next, w.Session+n, e.password(w.Session+n))
		if again.Session != w.Session+n+1 {
			t.Fatalf("the session is 0x%x, and was 0x%x", again.Session, w.Session+n)
		}
		if _, err := receive(first); err == nil {
			t.Error("expected the end of the connection before")
		}
		first = next
	}
	if there, owner := owned(t, first); !there || owner != w.Session {
		t.Errorf("/own: %v, of 0x%x", there, owner)
	}
	if s := e.State().Sessions; len(s) != 4 || s[0].Client != "c1" || s[3].Client != "c1" || s[0].Server != "" ||
		s[3].Server != "s1" {
		t.Errorf("%+v", s)
	}
	if err := e.ExpireSession(w.Session); err != nil {
		t.Fatal(err)
	}
	if there, _ := owned(t, first); there {
		t.Error("/own is still there")
	}
	if s := e.State().Sessions; len(s) != 3 {
		t.Errorf("%+v", s)
	}
	if err := e.Expire(1); err != nil { // the one that it has now
		t.Fatal(err)
	}
	if _, err := receive(first); err == nil || len(e.State().Sessions) != 2 {
		t.Errorf("%v, %+v", err, e.State().Sessions)
	}
	first = dial(t, e)
	if other := hello(t, first, w.Session+3, e.password(w.Session+3)); other.Session>>12 != 2 {
		t.Errorf("a session that is over: %+v", other)
	}
	for _, s := range e.State().Sessions {
		if s.Client == "c1" {
			e.Expire(1)
		}
	}
	if j := e.Judge(); len(j.Violations) > 0 {
		t.Errorf("%q", j.Violations)
	}
}

// TestTheFormerSessionsAtAKeeperEndByTheClock loses a connection, and waits for the end of its session.
func TestTheFormerSessionsAtAKeeperEndByTheClock(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{1, 3} {
		e := start(t, Options{Nodes: nodes, Like: model.Keeper, TickTime: 100 * time.Millisecond, Record: true,
			Faults: mustPlan(t, "lose-reply=1@op=create,nth=1")})
		conn := client(t, 10*time.Second, e.Addrs()...)
		if _, err := conn.Create("/own", nil, zk.FlagEphemeral, open); err != zk.ErrConnectionClosed {
			t.Fatal(err)
		}
		eventually(t, "the former session is over", func() bool {
			there, _, err := conn.Exists("/own")
			return err == nil && !there
		})
		if s := e.State().Sessions; len(s) != 1 || s[0].Client != "c1" {
			t.Errorf("%+v", s)
		}
		e.Close()
		var text bytes.Buffer
		if err := e.WriteRecording(&text); err != nil {
			t.Fatal(err)
		}
		if r, err := ReadRecording(&text); err != nil || r.Like != model.Keeper {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// TestAClientThatConnectsVeryOftenGetsNoSessionOfAnother has c2 use the ids of all its sessions, while c3 has a znode.
func TestAClientThatConnectsVeryOftenGetsNoSessionOfAnother(t *testing.T) {
	t.Parallel()
	e := start(t, Options{Like: model.Keeper})
	hello(t, dial(t, e), 0, make([]byte, 16))
	often, other := dial(t, e), dial(t, e)
	w := hello(t, often, 0, make([]byte, 16))
	own := hello(t, other, 0, make([]byte, 16)).Session
	ask(t, other, model.Request{Op: model.OpCreate, Path: "/own", ACL: open, Flags: zk.FlagEphemeral})
	for n := range 1 << 12 {
		often.Close()
		often = dial(t, e)
		if w = hello(t, often, w.Session, e.password(w.Session)); w.Session>>12 == own>>12 {
			t.Fatalf("connection %d of c2 has the session 0x%x, and c3 has 0x%x", n+2, w.Session, own)
		}
	}
	if there, owner := owned(t, other); !there || owner != own || w.Session>>12 != 4 {
		t.Errorf("/own: %v, of 0x%x; the last session is 0x%x", there, owner, w.Session)
	}
	if j := e.Judge(); len(j.Violations) > 0 {
		t.Errorf("%q", j.Violations)
	}
}

// TestAServerLikeKeeperDoesNotAskWhatAClientHasSeen connects clients that have seen higher zxids than there are, of
// this ensemble before a reset, and of another one at the same address.
func TestAServerLikeKeeperDoesNotAskWhatAClientHasSeen(t *testing.T) {
	t.Parallel()
	e := start(t, Options{Like: model.Keeper})
	first := hello(t, dial(t, e), 0, make([]byte, jute.PasswordLen))
	if _, err := e.Reset(); err != nil {
		t.Fatal(err)
	}
	for i, q := range []jute.ConnectRequest{{Session: first.Session, Password: first.Password},
		{Session: 1 << 60, Password: make([]byte, jute.PasswordLen)}, {Password: make([]byte, jute.PasswordLen)}} {
		q.Timeout, q.LastZxid = 30_000, 99
		sock := dial(t, e)
		send(t, sock, q.Append(nil))
		packet, err := receive(sock)
		if err != nil {
			t.Errorf("client %d: %v", i+1, err)
			continue
		}
		if w, err := jute.ParseConnectResponse(packet); err != nil || w.Session>>12 != int64(i+1) {
			t.Errorf("client %d: %+v, %v", i+1, w, err)
		}
	}
}

// Since 3.9 an event says which txn has fired it, except one that makes up for what a client has missed.
func TestAnEventSaysWhichTxnHasFiredItSinceThreeNine(t *testing.T) {
	t.Parallel()
	for _, like := range []model.Like{model.ZooKeeper, model.ZooKeeper39} {
		sock := dial(t, start(t, Options{Like: like}))
		hello(t, sock, 0, nil)
		ask(t, sock, model.Request{Op: model.OpGetData, Path: "/", Watch: true})
		set, fired := ask(t, sock, model.Request{Op: model.OpSetData, Path: "/", Version: -1})
		_, caught := ask(t, sock, model.Request{Op: model.OpSetWatches, Watches: &model.WatchLists{Data: []string{"/"}}})
		if len(fired) != 1 || len(caught) != 1 {
			t.Fatalf("like %s: %v, %v", like, fired, caught)
		}
		want := int64(0) // none
		if like == model.ZooKeeper39 {
			want = set.Zxid
		}
		if fired[0].Zxid != want || caught[0].Zxid != 0 {
			t.Errorf("like %s: txns 0x%x and 0x%x, expected 0x%x and none", like, fired[0].Zxid, caught[0].Zxid, want)
		}
	}
}
