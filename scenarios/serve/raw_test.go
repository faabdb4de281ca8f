package serve

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model"
	"zksim/model/jute"
)

func mustPlan(t testing.TB, s string) faults.Plan {
	t.Helper()
	p, err := faults.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// receive reads one frame.
func receive(r io.Reader) (packet []byte, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	packet = make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err = io.ReadFull(r, packet)
	return packet, err
}

// hearsEvent expects a watch event to be the next that arrives.
func hearsEvent(t testing.TB, sock net.Conn) {
	t.Helper()
	if packet, err := receive(sock); err != nil {
		t.Fatal(err)
	} else if a, err := jute.ParseReply(packet); err != nil || a.Xid != jute.XidEvent {
		t.Fatalf("%+v, %v", a, err)
	}
}

func send(t testing.TB, sock net.Conn, packets ...[]byte) {
	t.Helper()
	var all []byte // at once, since a server may end the connection for the first one
	for _, packet := range packets {
		all = append(all, jute.EndFrame(append(jute.StartFrame(nil), packet...), 0)...)
	}
	if _, err := sock.Write(all); err != nil {
		t.Fatal(err)
	}
}

// hello does the handshake: for a new session, or one that there was.
func hello(t testing.TB, sock net.Conn, session int64, password []byte) jute.ConnectResponse {
	t.Helper()
	q := jute.ConnectRequest{Timeout: 1, Session: session, Password: password}
	if session != 0 || password != nil {
		q.Timeout = 30_000
	}
	send(t, sock, q.Append(nil))
	packet, err := receive(sock)
	if err != nil {
		t.Fatal(err)
	}
	w, err := jute.ParseConnectResponse(packet)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func dial(t testing.TB, e *Ensemble) net.Conn {
	t.Helper()
	return dialTo(t, e.Addrs()[0])
}

// ask sends a request and returns the answer, with the events before it.
func ask(t testing.TB, sock net.Conn, q model.Request) (jute.Reply, []model.Event) {
	t.Helper()
	send(t, sock, jute.AppendRequest(nil, 7, &q))
	return answer(t, sock)
}

func answer(t testing.TB, sock net.Conn) (jute.Reply, []model.Event) {
	t.Helper()
	var events []model.Event
	for {
		packet, err := receive(sock)
		if err != nil {
			t.Fatal(err)
		}
		a, err := jute.ParseReply(packet)
		if err != nil {
			t.Fatal(err)
		}
		if a.Xid != jute.XidEvent {
			return a, events
		}
		ev, _ := a.Event()
		events = append(events, ev)
	}
}

func TestASessionIsTakenUpAgainWithItsPassword(t *testing.T) {
	e := start(t, Options{})
	first := dial(t, e)
	w := hello(t, first, 0, make([]byte, 16))
	ask(t, first, model.Request{Op: model.OpCreate, Path: "/e", ACL: open, Flags: zk.FlagEphemeral})
	second := dial(t, e)
	if again := hello(t, second, w.Session, w.Password); again.Session != w.Session || again.Timeout != 30_000 {
		t.Errorf("%+v", again)
	}
	if _, err := receive(first); err == nil {
		t.Error("expected the end of the connection whose session is elsewhere")
	}
	// A wrong password is refused, and cuts the connection all the same.
	third := dial(t, e)
	if no := hello(t, third, w.Session, make([]byte, 16)); no.Session != 0 || no.Timeout != 0 {
		t.Errorf("%+v", no)
	}
	for _, sock := range []net.Conn{second, third} {
		if _, err := receive(sock); err == nil {
			t.Error("expected the end of the connection")
		}
	}
	fourth := dial(t, e)
	hello(t, fourth, w.Session, w.Password)
	if a, _ := ask(t, fourth, model.Request{Op: model.OpExists, Path: "/e"}); a.Err != model.OK {
		t.Error(a.Err)
	}
	// A client that has seen more than the server is not answered.
	fifth := dial(t, e)
	q := jute.ConnectRequest{LastZxid: 1 << 40, Password: make([]byte, 16)}
	send(t, fifth, q.Append(nil))
	if _, err := receive(fifth); err == nil {
		t.Error("expected the end of the connection")
	}
}

func TestThoseWithTheOldHandshakeAreAnsweredWithIt(t *testing.T) {
	e := start(t, Options{})
	for _, old := range []bool{true, false} {
		sock := dial(t, e)
		q := jute.ConnectRequest{Password: make([]byte, 16), Old: old}
		send(t, sock, q.Append(nil))
		packet, err := receive(sock)
		if w, err2 := jute.ParseConnectResponse(packet); err != nil || err2 != nil || w.Old != old {
			t.Errorf("%+v, %v, %v", w, err, err2)
		}
	}
}

// What a real server was seen to do with packets that no client sends.
func TestWhatNoClientSendsCostsNoMoreThanItsConnection(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	e := start(t, Options{})
	other := client(t, 30*time.Second, e.Addrs()...)
	frame := func(b ...byte) []byte { return jute.EndFrame(append(jute.StartFrame(nil), b...), 0) }
	request := func(xid int32, q model.Request) []byte {
		return jute.EndFrame(jute.AppendRequest(jute.StartFrame(nil), xid, &q), 0)
	}
	ends := map[string][]byte{
		"1 GB":               {0x40, 0, 0, 0},
		"a negative length":  {0xff, 0xff, 0xff, 0xff},
		"half a header":      frame(0, 0, 0, 1, 0, 0),
		"an unknown op":      frame(0, 0, 0, 1, 0, 0, 0, 77),
		"the server's own":   frame(0, 0, 0, 1, 0xff, 0xff, 0xff, 0xf6),
		"an error":           frame(0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff),
		"an unknown scheme":  request(-4, model.Request{Op: model.OpAuth, Path: "x"}),
		"too long a packet":  frame(make([]byte, model.MaxPacketLen+1)...),
		"the session's last": request(1, model.Request{Op: model.OpCloseSession}),
	}
	for name, b := range ends {
		sock := dial(t, e)
		hello(t, sock, 0, make([]byte, 16))
		sock.Write(b)
		if _, err := io.Copy(io.Discard, sock); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: %v", name, err)
		}
	}
	sock := dial(t, e)
	hello(t, sock, 0, make([]byte, 16))
	for _, op := range []byte{byte(model.OpCreate), byte(model.OpGetData), byte(model.OpMulti)} {
		sock.Write(frame(0, 0, 0, 9, 0, 0, 0, op, 0x40))
		if a, _ := answer(t, sock); a.Err != model.MarshallingError || a.Xid != 9 {
			t.Errorf("op %d: %+v", op, a)
		}
	}
	if _, _, err := other.Get("/"); err != nil {
		t.Error(err)
	}
}

func TestManyConnectionsThatSayNothingOrHalfOfSomething(t *testing.T) {
	before := runtime.NumGoroutine()
	e, err := Start(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		sock, err := net.Dial("tcp", e.Addrs()[0])
		if err != nil {
			t.Fatal(err)
		}
		switch i % 3 {
		case 1:
			sock.Write([]byte{0, 0, 0, 44, 0})
		case 2:
			sock.Close()
		}
		defer sock.Close()
	}
	c, _, err := zk.Connect(e.Addrs(), 10*time.Second, zk.WithLogInfo(false), zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create("/a", nil, 0, open); err != nil {
		t.Error(err)
	}
	c.Close()
	addr := e.Addrs()[0]
	e.Close()
	if err := e.Elect(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if l, err := net.Listen("tcp", addr); err != nil {
		t.Errorf("the port is still taken: %v", err)
	} else {
		l.Close()
	}
	eventually(t, "the goroutines have ended", func() bool { // those of the client take a while
		return runtime.NumGoroutine() <= before+2
	})
}

// A client that asks and does not read is not listened to, and others do not notice.
func TestAClientThatDoesNotReadCostsAConnection(t *testing.T) {
	e := start(t, Options{})
	other := client(t, 30*time.Second, e.Addrs()...)
	must[string](t)(other.Create("/big", make([]byte, 500_000), 0, open))
	sock := dial(t, e)
	hello(t, sock, 0, make([]byte, 16))
	get := jute.EndFrame(jute.AppendRequest(jute.StartFrame(nil), 1, &model.Request{Op: model.OpGetData, Path: "/big"}), 0)
	sock.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
	for {
		if _, err := sock.Write(bytes.Repeat(get, 1000)); err != nil {
			break
		}
	}
	e.mu.Lock()
	for c := range e.conns {
		if n := c.waiting(); n > maxWaiting+1_100_000 {
			t.Errorf("%d bytes wait", n)
		}
	}
	e.mu.Unlock()
	if _, _, err := other.Get("/"); err != nil {
		t.Error(err)
	}
}

func TestAnAuthPacketThatIsGarbledNullOrNoTextIsTakenAsByZooKeeper(t *testing.T) {
	t.Parallel()
	e := start(t, Options{})
	auth := func(data []byte) []byte {
		return jute.AppendRequest(nil, -4, &model.Request{Op: model.OpAuth, Path: "digest", Data: data})
	}
	for name, x := range map[string]struct {
		packet []byte
		answer model.Code
		ends   bool
	}{
		"cut off":  {auth([]byte("a:b"))[:20], 0, true},
		"null":     {auth(nil), model.AuthFailed, true},
		"not text": {auth([]byte("a\xff:b")), model.OK, false},
	} {
		sock := dial(t, e)
		hello(t, sock, 0, make([]byte, jute.PasswordLen))
		send(t, sock, x.packet)
		if name != "cut off" {
			if r, _ := answer(t, sock); r.Err != x.answer {
				t.Errorf("%s: %v, expected %v", name, r.Err, x.answer)
			}
		}
		if x.ends {
			if _, err := receive(sock); err == nil {
				t.Errorf("%s: expected the end", name)
			}
			continue
		}
		r, _ := ask(t, sock, model.Request{Op: model.OpWhoAmI})
		res, err := r.Response(model.OpWhoAmI)
		if want := model.DigestID("a\uFFFD:b"); err != nil || !strings.Contains(fmt.Sprint(res), "a\uFFFD") {
			t.Errorf("%s: %+v, %v, expected %v", name, res, err, want)
		}
	}
}

func TestTheLastOperationIsCalledAsZooKeeperCallsIt(t *testing.T) {
	t.Parallel()
	e := start(t, Options{})
	sock := dial(t, e)
	hello(t, sock, 0, make([]byte, jute.PasswordLen))
	for _, x := range []struct {
		q    model.Request
		want string
	}{
		{model.Request{Op: model.OpCreate2, Path: "/a", ACL: open}, "CREA"},
		{model.Request{Op: model.OpGetData, Path: "/none"}, "GETD"},
		{model.Request{Op: model.OpCreate, Path: "/a", ACL: open}, "NA"},
		{model.Request{Op: model.OpAddWatch, Path: "/"}, "ADDW"},
		{model.Request{Op: model.OpCountChildren, Path: "/"}, "GETACN"},
	} {
		ask(t, sock, x.q)
		if got := word(t, e.Addrs()[0], "cons"); !strings.Contains(got, ",lop="+x.want+",") {
			t.Errorf("%v: %q, expected %s", x.q.Op, got, x.want)
		}
	}
}

func TestFourLetterWords(t *testing.T) {
	e := start(t, Options{})
	c := client(t, 30*time.Second, e.Addrs()...)
	must[string](t)(c.Create("/e", nil, zk.FlagEphemeral, open))
	_, _, _, err := c.GetW("/e")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := c.ChildrenW("/"); err != nil { // which wchs, wchc and wchp do not count
		t.Fatal(err)
	}
	wants := map[string][]string{
		"ruok": {"imok"}, "isro": {"rw"}, "srvr": {"Mode: standalone\n", "Node count: 6\n", "Zxid: 0x2\n"},
		"stat": {"Clients:\n /127.0.0.1:", "Mode: standalone"},
		"mntr": {"zk_server_state\tstandalone\n", "zk_watch_count\t2\n"},
		"cons": {"sid=0x1001,lop=GETC", "lcxid=0x3,lzxid=0x2,"},
		"dump": {"Session Sets (1)/(1):\n1 expire at ", ":\n\t0x1001\nephemeral nodes dump:\n",
			"Sessions with Ephemerals (1):\n0x1001:\n\t/e\nConnections dump:\nConnections Sets (",
			" sessionId: 0x1001\n", " sessionId: 0x0\n"},
		"wchs": {"1 connections watching 1 paths\nTotal watches:1\n"}, "wchc": {"0x1001\n\t/e\n"},
		"wchp": {"/e\n\t0x1001\n"}, "conf": {"tickTime=2000\n", "serverId=0\n"}, "envi": {"Environment:"},
		"crst": {"Connection stats reset."}, "srst": {"Server stats reset."},
	}
	inOrder := slices.Sorted(maps.Keys(words)) // those that forget come last
	slices.SortStableFunc(inOrder, func(a, b string) int { return strings.Count(a, "rst") - strings.Count(b, "rst") })
	for _, word := range inOrder {
		sock := dial(t, e)
		sock.Write([]byte(word))
		got, err := io.ReadAll(sock)
		if len(wants[word]) == 0 {
			t.Errorf("%s is not tested", word)
		}
		for _, want := range wants[word] {
			if err != nil || !strings.Contains(string(got), want) {
				t.Errorf("%s: %q, %v, expected %q", word, got, err, want)
			}
		}
	}
	if !zk.FLWRuok(e.Addrs(), time.Minute)[0] {
		t.Error("not ok")
	}
}

// A rule says how the connection ends: in order, by a reset, or in the middle of a packet; and whether the answer comes
// with the end.
func TestARuleSaysHowAConnectionEnds(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"lose-reply=1@op=whoAmI":           ", EOF",
		"lose-reply=1@op=whoAmI,end=fin":   ", EOF",
		"lose-reply=1@op=whoAmI,end=rst":   ", connection reset by peer",
		"lose-reply=1@op=whoAmI,end=torn":  "\x00\x00\x00\x10\x00\x00, EOF",
		"deliver-close=1@op=getEphemerals": "OK, EOF",
	} {
		plan, err := faults.ParseServed(rule)
		if err != nil {
			t.Fatal(err)
		}
		sock := dial(t, start(t, Options{Faults: plan}))
		hello(t, sock, 0, make([]byte, jute.PasswordLen))
		got := ""
		send(t, sock, jute.AppendRequest(nil, 0, &model.Request{Op: model.OpWhoAmI, Path: "/"}),
			jute.AppendRequest(nil, 1, &model.Request{Op: model.OpGetEphemerals, Path: "/"}))
		rest, err := io.ReadAll(sock)
		var f jute.Frames
		f.Feed(rest, func(p []byte) error {
			if a, err := jute.ParseReply(p); err == nil && a.Xid == 1 {
				got, rest = a.Err.String(), nil
			}
			return nil
		})
		got += string(rest)
		switch {
		case err == nil:
			got += ", EOF"
		case errors.Is(err, syscall.ECONNRESET):
			got += ", connection reset by peer"
		}
		if got != want {
			t.Errorf("%s: %q, expected %q", rule, got, want)
		}
	}
}
