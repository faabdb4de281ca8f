package zktest_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/serve"
	"zksim/scenarios/zktest"
)

type silent struct{}

func (silent) Printf(string, ...any) {}

// connect returns a client that has a session.
func connect(t testing.TB, e *zktest.Ensemble) *zk.Conn {
	t.Helper()
	return connectBy(t, e, net.DialTimeout)
}

func connectBy(t testing.TB, e *zktest.Ensemble, dial zk.Dialer) *zk.Conn {
	t.Helper()
	c, events, err := zk.Connect(e.Addrs(), 20*time.Second, zk.WithLogInfo(false), zk.WithLogger(silent{}),
		zk.WithDialer(dial))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for ev := range events {
		if ev.State == zk.StateHasSession {
			return c
		}
	}
	return nil
}

var open = zk.WorldACL(zk.PermAll)

// lockInVain is a lock as several libraries had it: a create whose reply was lost is tried again, and the first znode,
// of which nobody knows, locks everyone out.
func lockInVain(c *zk.Conn) (path string, err error) {
	for {
		path, err = c.Create("/lock/n-", nil, zk.FlagEphemeralSequential, open)
		if !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrNoServer) {
			return path, err
		}
	}
}

func TestALostReplyShowsThatALockLeavesAnOrphan(t *testing.T) {
	t.Parallel()
	e := zktest.Start(t, zktest.Options{Faults: "lose-reply=1@client=c1,op=create,path=/lock/,nth=1"})
	c := connect(t, e)
	if _, err := c.Create("/lock", nil, 0, open); err != nil {
		t.Fatal(err)
	}
	path, err := lockInVain(c)
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := c.Children("/lock")
	if err != nil || len(list) != 2 || path != "/lock/n-0000000001" {
		t.Errorf("%s, %v, %v", path, list, err)
	}
	if s := fmt.Sprint(e.Struck()); !strings.Contains(s, "lose-reply") {
		t.Error(s)
	}
}

func TestControlsReachClients(t *testing.T) {
	t.Parallel()
	e := zktest.Start(t, zktest.Options{Servers: 3, Lag: time.Millisecond})
	var gone atomic.Bool // the clients, which dial no more
	dial := func(network, addr string, timeout time.Duration) (net.Conn, error) {
		if gone.Load() {
			return nil, net.ErrClosed
		}
		return net.DialTimeout(network, addr, timeout)
	}
	a, b := connectBy(t, e, dial), connectBy(t, e, dial)
	if _, err := a.Create("/e", nil, zk.FlagEphemeral, open); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Sync("/"); err != nil {
		t.Fatal(err)
	}
	_, _, deleted, err := b.ExistsW("/e")
	if err != nil {
		t.Fatal(err)
	}
	e.Expire(1)
	if ev := <-deleted; ev.Type != zk.EventNodeDeleted {
		t.Errorf("%+v", ev)
	}
	e.Elect()
	for {
		if _, err := b.Create("/b", nil, 0, open); err == nil || errors.Is(err, zk.ErrNodeExists) {
			break
		}
	}
	e.Quiet()
	if s := e.State(); len(s.Znodes) != 2 || s.Servers[1].Mode != "leader" {
		t.Errorf("%+v", s)
	}
	e.Strike("disconnect=1@client=c2")
	if s := e.Struck(); len(s) != 1 || s[0].String() != "disconnect c2" {
		t.Errorf("%+v", s)
	}
	if h := e.History(); len(h.Events) == 0 || len(h.Tree) != 2 {
		t.Errorf("%+v", h)
	}
	for _, c := range []*zk.Conn{a, b} {
		for err := error(zk.ErrNoServer); err != nil; { // until it is there, and not about to come
			_, _, err = c.Exists("/")
		}
	}
	gone.Store(true)
	e.Reset()
	if s := e.State(); len(s.Znodes) != 1 || len(s.Sessions) != 0 {
		t.Errorf("%+v", s)
	}
}

func TestServersStopAndGoOn(t *testing.T) {
	t.Parallel()
	e := zktest.Start(t, zktest.Options{})
	if e.Connect() != strings.Join(e.Addrs(), ",") {
		t.Errorf("%s, expected %v", e.Connect(), e.Addrs())
	}
	c := connect(t, e)
	session := c.SessionID()
	create := func(path string) error {
		_, err := c.Create(path, nil, zk.FlagEphemeral, open)
		return err
	}
	e.Stop(1)
	answer := make(chan error)
	go func() { answer <- create("/stopped") }()
	select {
	case err := <-answer:
		t.Errorf("a server that is stopped answers: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	e.Continue(1)
	if err := <-answer; err != nil {
		t.Error(err)
	}
	e.Kill(1)
	if err := create("/killed"); err == nil {
		t.Error("a server that was killed answers")
	}
	e.Continue(1)
	for err := error(zk.ErrNoServer); err != nil; { // until the client has found it
		if err = create("/again"); errors.Is(err, zk.ErrNodeExists) {
			break
		}
	}
	if c.SessionID() != session {
		t.Errorf("the session %#x is another one after a restart, expected %#x", c.SessionID(), session)
	}
	e.ExpireSession(session)
	e.Quiet()
	if s := e.State(); len(s.Znodes) != 1 {
		t.Errorf("%+v, expected no znode of a session that has ended", s)
	}
}

// record is a test that notes what is said to it.
type record struct {
	testing.TB
	text     strings.Builder // of errors
	logs     strings.Builder
	cleanups []func()
	skips    bool
}

func (r *record) Helper()                   {}
func (r *record) Failed() bool              { return r.text.Len() > 0 }
func (r *record) Skipped() bool             { return r.skips }
func (r *record) Logf(f string, a ...any)   { fmt.Fprintf(&r.logs, f+"\n", a...) }
func (r *record) Errorf(f string, a ...any) { fmt.Fprintf(&r.text, f+"\n", a...) }
func (r *record) Cleanup(f func())          { r.cleanups = append(r.cleanups, f) }

func TestATestThatIsSkippedNeedNotMeetItsFaults(t *testing.T) {
	r := &record{TB: t, skips: true}
	zktest.Start(r, zktest.Options{Faults: "lose-reply=1"})
	r.cleanups[0]()
	if r.Failed() {
		t.Errorf("%q", &r.text)
	}
}

func TestARuleThatNeverStruckMakesTheTestFail(t *testing.T) {
	r := &record{TB: t}
	zktest.Start(r, zktest.Options{Faults: "lose-reply=1@op=delete"})
	zktest.Start(r, zktest.Options{Faults: "contract", Servers: 3}).Strike("disconnect=1@client=c9")
	for _, f := range r.cleanups {
		f()
	}
	for _, rule := range []string{"lose-reply=1@op=delete", "disconnect=1@client=c9"} {
		if want := "the rule " + rule + " has never struck"; !strings.Contains(r.text.String(), want) ||
			strings.Count(r.text.String(), "\n") != 2 {
			t.Errorf("%q, expected %q", &r.text, want)
		}
	}
}

func TestARuleThatStruckBeforeAResetNeedNotStrikeAgain(t *testing.T) {
	r := &record{TB: t}
	e := zktest.Start(r, zktest.Options{Faults: "lose-reply=1"})
	c, _, err := zk.Connect(e.Addrs(), 10*time.Second, zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create("/a", nil, 0, zk.WorldACL(zk.PermAll)); err != zk.ErrConnectionClosed {
		t.Error(err)
	}
	c.Close()
	e.Reset()
	for _, f := range r.cleanups {
		f()
	}
	if r.Failed() {
		t.Errorf("%q", &r.text)
	}
}

func TestARuleThatWasAddedMustStrikeBeforeAReset(t *testing.T) {
	r := &record{TB: t}
	e := zktest.Start(r, zktest.Options{Faults: "lose-reply=1"})
	c, _, err := zk.Connect(e.Addrs(), 10*time.Second, zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	e.Strike("lose-reply=1")
	for range 2 {
		if _, _, err := c.Exists("/"); err != zk.ErrConnectionClosed {
			t.Error(err)
		}
	}
	e.Reset() // before which both have struck
	for _, plan := range []string{"lose-reply=1", "disconnect=1@client=c9", "expire=1@client=c9"} {
		e.Strike(plan)
		if strings.HasPrefix(plan, "disconnect") {
			e.Reset()
		}
	}
	for _, f := range r.cleanups {
		f()
	}
	want := ""
	for _, rule := range []string{"expire=1@client=c9", "lose-reply=1", "disconnect=1@client=c9"} {
		want += "zktest: the rule " + rule + " has never struck, so the test did not meet that fault\n"
	}
	if r.text.String() != want {
		t.Errorf("%q, expected %q", &r.text, want)
	}
}

// leavesAnEphemeral has a client go without closing its session, and ends the test.
func leavesAnEphemeral(t *testing.T, o zktest.Options) *record {
	t.Helper()
	r := &record{TB: t}
	e := zktest.Start(r, o)
	var sock net.Conn
	c, _, err := zk.Connect(e.Addrs(), 10*time.Second, zk.WithLogInfo(false), zk.WithDialer(
		func(network, addr string, d time.Duration) (_ net.Conn, err error) {
			if sock != nil {
				return nil, errors.New("the client has gone")
			}
			sock, err = net.DialTimeout(network, addr, d)
			return sock, err
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Create("/reported: mine", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	sock.Close()
	for len(e.Judge().Violations) == 0 { // until the server knows
		time.Sleep(time.Millisecond)
	}
	for _, f := range r.cleanups {
		f()
	}
	return r
}

func TestWhatTheJudgesFindMakesTheTestFailAndIsRecorded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "left.jsonl")
	r := leavesAnEphemeral(t, zktest.Options{Record: file})
	if want := "zktest: left over: /reported: mine of c1, which has gone"; !strings.HasPrefix(r.text.String(), want) ||
		strings.Count(r.text.String(), "\n") != 1 {
		t.Errorf("%q, expected %q", &r.text, want)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if x, err := serve.ReadRecording(in); err != nil || len(x.Violations) != 1 || len(x.Requests) != 1 {
		t.Errorf("%+v, %v", x, err)
	}
	if r := leavesAnEphemeral(t, zktest.Options{Unjudged: true}); r.Failed() {
		t.Errorf("%q, expected no error", &r.text)
	}
	r = leavesAnEphemeral(t, zktest.Options{Unjudged: true, Record: filepath.Join(file, "none")})
	if !strings.HasPrefix(r.text.String(), "zktest: the recording: ") {
		t.Errorf("%q, expected that it cannot be written", &r.text)
	}
}

func TestTheSettingsOfAServerArePassedOn(t *testing.T) {
	e := zktest.Start(t, zktest.Options{ContainerCheck: 10 * time.Millisecond, MaxPacket: 1000,
		MinSessionTimeout: time.Minute, MaxSessionTimeout: time.Minute})
	c, _, err := zk.Connect(e.Addrs(), time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.CreateTTL("/t", nil, zk.FlagTTL, zk.WorldACL(zk.PermAll), time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for there := true; there; { // not for a minute
		if there, _, err = c.Exists("/t"); err != nil {
			t.Fatal(err)
		}
	}
	if s := e.State().Sessions; len(s) != 1 || s[0].Timeout != time.Minute.Milliseconds() {
		t.Errorf("%+v, expected a timeout of a minute", s)
	}
	if _, err := c.Create("/long", make([]byte, 2000), 0, zk.WorldACL(zk.PermAll)); err != zk.ErrConnectionClosed {
		t.Errorf("%v, expected that the connection ends", err)
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		r := &record{TB: b}
		zktest.Start(r, zktest.Options{})
		r.cleanups[0]()
	}
}
