package judge

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/jute"
)

func frame(packet []byte) []byte { return jute.EndFrame(append(jute.StartFrame(nil), packet...), 0) }

// attached is a connection on which a session was opened, or opened again.
func attached(r *Recorder, session int64) *Connection {
	c := asking(r, session, password)
	w := jute.ConnectResponse{Timeout: 10_000, Session: session, Password: password}
	c.Received(frame(w.Append(nil)))
	return c
}

// password is that of all sessions.
var password = make([]byte, jute.PasswordLen)

// asking is a connection whose client has asked for a session and was not answered.
func asking(r *Recorder, session int64, password []byte) *Connection {
	c := r.Connect()
	q := jute.ConnectRequest{Timeout: 10_000, Session: session, Password: password}
	c.Sent(frame(q.Append(nil)))
	return c
}

// refused is a connection whose client was refused a session.
func refused(r *Recorder, session int64, password []byte) *Connection {
	c := asking(r, session, password)
	w := jute.ConnectResponse{Password: make([]byte, jute.PasswordLen)}
	c.Received(frame(w.Append(nil)))
	c.Dropped()
	return c
}

func TestASessionThatWasThereBeforeMayHoldALock(t *testing.T) {
	const sentence = "fencing: c1 writes /a at zxid 0x3, and nobody has a znode of the lock"
	for before, want := range map[int64][2][]string{ // order-free: each by itself
		0: {{sentence}, {}},
		1: {{}, {sentence + ", unless it has one that it was not heard to make"}},
	} {
		r := NewRecorder()
		c := r.Connect()
		q := jute.ConnectRequest{Timeout: 10_000, Session: before}
		c.Sent(frame(q.Append(nil)))
		w := jute.ConnectResponse{Timeout: 10_000, Session: 1, Password: make([]byte, jute.PasswordLen)}
		c.Received(frame(w.Append(nil)))
		(&talk{c: c}).done(setting("x"), model.Response{Stat: zk.Stat{Version: 1, Mzxid: 3}, Zxid: 3})
		j, _, err := r.Judge([]Guard{{Path: "/a", Folder: "/l"}})
		if err != nil || !slices.Equal(j.Violations, want[0]) || !slices.Equal(j.Inconclusive[:len(want[1])], want[1]) {
			t.Errorf("session %d: %+v, %v", before, j, err)
		}
	}
}

func TestAClientThatHasGoneLeavesItsEphemeralAlsoWhereTheServerHangs(t *testing.T) {
	r := NewRecorder()
	a := &talk{c: attached(r, 1)}
	a.done(creating("/e", "", zk.FlagEphemeral), model.Response{Path: "/e", Zxid: 2})
	for _, c := range []struct {
		do   func()
		want []string
	}{
		{func() {}, []string{}},
		{a.c.Muted, []string{"left over: /e of c1, which has gone and did not close its session"}},
		{func() { attached(r, 1) }, []string{}}, // it has moved to another server
	} {
		c.do()
		if j, _, err := r.Judge(nil); err != nil || !slices.Equal(j.Violations, c.want) {
			t.Errorf("%+v, %v, want %q", j, err, c.want)
		}
	}
}

func ping(c *Connection) {
	c.Sent(frame(jute.AppendRequest(nil, jute.XidPing, &model.Request{Op: model.OpPing})))
}

// TestAClientHasGoneWhenNothingOfItIsLeft has c1 make an ephemeral, and then do what it says.
func TestAClientHasGoneWhenNothingOfItIsLeft(t *testing.T) {
	const gone = "left over: /e of c1, which has gone and did not close its session"
	const away = "left over: /e of c1, which has lost its connection and may come back"
	for name, x := range map[string]struct { // order-free: each by itself
		do   func(r *Recorder, c *Connection)
		want string
	}{
		"it asks for its session again, and the server hangs": {func(r *Recorder, c *Connection) {
			c.Left()
			asking(r, 1, password)
		}, away},
		"... also where the server has not noticed its end": {func(r *Recorder, c *Connection) {
			c.Muted()
			asking(r, 1, password)
		}, away},
		"another asks for its session": {func(r *Recorder, c *Connection) {
			c.Left()
			asking(r, 1, []byte("guessed"))
		}, gone},
		"another is refused its session": {func(r *Recorder, c *Connection) {
			refused(r, 1, []byte("guessed"))
			c.Dropped() // servers do that, too
			attached(r, 1).Left()
		}, gone},
		"it has given up a server that does not answer its ping": {func(_ *Recorder, c *Connection) {
			ping(c)
			c.Left()
		}, away},
		"... also where the server has not noticed that": {func(_ *Recorder, c *Connection) {
			ping(c)
			c.Muted()
		}, away},
		"the server has answered its ping": {func(_ *Recorder, c *Connection) {
			ping(c)
			c.Received(frame(jute.AppendReply(nil, jute.XidPing, model.OpPing, &model.Response{})))
			c.Left()
		}, gone},
		"its session has ended": {func(r *Recorder, c *Connection) {
			c.Left()
			refused(r, 1, password)
		}, ""},
		"another had its session for a while": {func(r *Recorder, _ *Connection) { attached(r, 1).Left() }, away},
		"... and is closed there": {func(r *Recorder, _ *Connection) {
			c := &talk{c: attached(r, 1)}
			c.done(model.Request{Op: model.OpCloseSession}, model.Response{Zxid: 3})
			c.c.Dropped()
		}, ""},
		"... and it has gone as well": {func(r *Recorder, c *Connection) {
			attached(r, 1).Left()
			c.Left()
		}, gone},
	} {
		r := NewRecorder()
		a := &talk{c: attached(r, 1)}
		a.done(creating("/e", "", zk.FlagEphemeral), model.Response{Path: "/e", Zxid: 2})
		x.do(r, a.c)
		j, _, err := r.Judge(nil)
		if got := strings.Join(slices.Concat(j.Violations, j.Inconclusive), "; "); err != nil || got != x.want {
			t.Errorf("%s: %q, want %q, %v", name, got, x.want, err)
		}
	}
}

// TestAReadOfASessionWithTwoConnectionsMayBeOld has a session on two servers, of which the first is behind.
func TestAReadOfASessionWithTwoConnectionsMayBeOld(t *testing.T) {
	r := NewRecorder()
	other, old := &talk{c: attached(r, 1)}, &talk{c: attached(r, 2)}
	other.done(creating("/a", "x", 0), model.Response{Path: "/a", Zxid: 3})
	old.done(syncing, model.Response{Path: "/a", Zxid: 3})
	other.done(setting("y"), model.Response{Stat: zk.Stat{Version: 1, Mzxid: 4}, Zxid: 4})
	moved := &talk{c: attached(r, 2)}
	moved.done(syncing, model.Response{Path: "/a", Zxid: 4})
	moved.done(looking, found("y", 1, 4, 4))
	old.done(looking, found("x", 0, 3, 3))
	moved.c.Dropped()
	old.done(looking, found("x", 0, 3, 3))
	if j, _, err := r.Judge(nil); err != nil || len(j.Violations) > 0 {
		t.Errorf("%+v, %v", j, err)
	}
}

func TestASessionThatHasMovedHasNotGone(t *testing.T) {
	const session = 0x1001
	r := NewRecorder()
	first := attached(r, session)
	q := model.Request{Op: model.OpCreate, Path: "/e", Flags: zk.FlagEphemeral, ACL: []zk.ACL{{Scheme: "world",
		ID: "anyone", Perms: zk.PermAll}}}
	first.Sent(frame(jute.AppendRequest(nil, 1, &q)))
	first.Received(frame(jute.AppendReply(nil, 1, q.Op, &model.Response{Path: "/e", Zxid: 2})))
	second := attached(r, session)
	first.Left() // as its server, which was stopped, ends it only now
	j, _, err := r.Judge(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(j.Violations) > 0 || strings.Contains(strings.Join(j.Inconclusive, " "), "left over") {
		t.Errorf("the client is there: %+v", j)
	}
	second.Left()
	j, _, err = r.Judge(nil)
	if err != nil || !slices.Equal(j.Violations,
		[]string{"left over: /e of c1, which has gone and did not close its session"}) {
		t.Errorf("%+v, %v", j, err)
	}
}

func TestAWordIsNothingThatCannotBeFollowed(t *testing.T) {
	r := NewRecorder()
	for _, pieces := range [][]string{{"ruok"}, {"s", "rv", "r"}, {"mntr\n"}} {
		c := r.Connect()
		for _, piece := range pieces {
			c.Sent([]byte(piece))
		}
		c.Received([]byte("This is a long answer, of which the first bytes are no length."))
		c.Dropped()
	}
	j, _, err := r.Judge(nil)
	if err != nil || strings.Contains(strings.Join(j.Inconclusive, " "), "followed") {
		t.Errorf("%+v, %v", j, err)
	}
	for range 3 * maxUnknown {
		r.Connect().Sent([]byte("GET / HTTP/1.0"))
	}
	const want = "a client of a connection without a session said what cannot be followed: "
	j, _, err = r.Judge(nil)
	if n := len(j.Inconclusive); err != nil || n != maxUnknown+2 || !strings.HasPrefix(j.Inconclusive[n-2], want) ||
		j.Inconclusive[n-1] != "so it is of 200 more connections" {
		t.Errorf("%d, %q, %v", n, j.Inconclusive[max(0, n-2):], err)
	}
}

func TestRequestsThatAServerNeverAnswersAreGivenUp(t *testing.T) {
	r := NewRecorder()
	c := attached(r, 0x1001)
	q := model.Request{Op: model.OpSetData, Path: "/a", Data: make([]byte, 1<<20-100)}
	packet := frame(jute.AppendRequest(nil, 1, &q))
	for range 200 {
		c.Sent(packet)
	}
	if len(c.open) > 0 || !c.deaf {
		t.Errorf("%d requests are kept", len(c.open))
	}
	j, _, err := r.Judge(nil)
	if err != nil || !slices.ContainsFunc(j.Inconclusive, func(s string) bool {
		return strings.HasPrefix(s, "a client of c1 said what cannot be followed: ") &&
			strings.HasSuffix(s, " requests without an answer")
	}) {
		t.Errorf("%+v, %v", j.Inconclusive, err)
	}
}

// TestAServerThatIsReachedAgainHasMissedNothing has clients come while it starts again.
func TestAServerThatIsReachedAgainHasMissedNothing(t *testing.T) {
	r := NewRecorder()
	for _, unreached := range []bool{true, false} {
		r.Missed(errors.New("refused"))
		if !unreached {
			attached(r, 0x1001)
		}
		j, _, err := r.Judge(nil)
		if says := slices.ContainsFunc(j.Inconclusive, func(s string) bool {
			return strings.HasPrefix(s, "a client came and no server could be reached: refused")
		}); err != nil || says != unreached {
			t.Errorf("unreached %v: %q, %v", unreached, j.Inconclusive, err)
		}
	}
}

// A read-only server refuses a new session by the header of an answer alone.
func TestARefusedSessionIsNothingThatCannotBeFollowed(t *testing.T) {
	r := NewRecorder()
	c := asking(r, 0, password)
	c.Received(frame(jute.AppendReply(nil, 0, model.OpCreateSession, &model.Response{Err: model.NotReadOnly, Zxid: 7})))
	c.Left()
	a := &talk{c: attached(r, 1)}
	a.done(creating("/a", "x", 0), model.Response{Path: "/a", Zxid: 8})
	if j, _, err := r.Judge(nil); err != nil || len(j.Violations)+len(j.Inconclusive) > 0 {
		t.Errorf("%+v, %v", j, err)
	}
}

// A session that ends costs the same however many ephemerals others have: the bytes of all connections wait meanwhile.
func TestTheEndOfASessionDoesNotLookAtThoseOfOthers(t *testing.T) {
	cost := func(others int) float64 {
		const ends = 10
		r := NewRecorder()
		a := &talk{c: attached(r, 1)}
		for i := range others {
			path := fmt.Sprintf("/e-%010d", i)
			a.done(creating(path, "", zk.FlagEphemeral), model.Response{Path: path, Zxid: int64(i + 1)})
		}
		var list []*talk
		for i := range ends + 1 {
			list = append(list, &talk{c: attached(r, int64(i+2))})
		}
		r.events = slices.Grow(r.events, 10*ends)
		return testing.AllocsPerRun(ends, func() {
			list[0].done(model.Request{Op: model.OpCloseSession}, model.Response{Zxid: int64(others + 1)})
			list = list[1:]
		})
	}
	if few, many := cost(10), cost(5000); few != many {
		t.Errorf("the end of a session makes %v allocations beside 10 ephemerals of others, and %v beside 5000", few, many)
	}
}
