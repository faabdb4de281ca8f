package serve

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
	"zksim/model/jute"
	"zksim/reports"
)

var open = zk.WorldACL(zk.PermAll)

// start serves until the test ends.
func start(t testing.TB, o Options) *Ensemble {
	t.Helper()
	e, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// client is a go-zookeeper that has a session.
func client(t testing.TB, timeout time.Duration, addrs ...string) *zk.Conn {
	t.Helper()
	c, events, err := zk.Connect(addrs, timeout, zk.WithLogInfo(false), zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for ev := range events {
		if ev.State == zk.StateHasSession {
			return c
		}
	}
	t.Fatal("no session")
	return nil
}

// eventually waits for what happens by itself, however slow the machine is.
func eventually(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func must[T any](t testing.TB) func(x T, err error) T {
	return func(x T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

func TestGoZookeeperDoesItsWorkOnOneServerAndOnThree(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			t.Parallel()
			e := start(t, Options{Nodes: nodes})
			members := 3
			if nodes == 1 { // a lone server says nothing
				members = 0
			}
			a, b := client(t, 30*time.Second, e.Addrs()[0]), client(t, 10*time.Second, e.Addrs()[nodes-1])
			config, _, err := a.Get("/zookeeper/config")
			if err != nil || strings.Count(string(config), ":participant;") != members {
				t.Errorf("config %q, %v", config, err)
			}
			must[string](t)(a.Create("/a", []byte("x"), 0, open))
			_, err = b.Sync("/a")
			if err != nil {
				t.Fatal(err)
			}
			_, _, events, err := b.ChildrenW("/a")
			if err != nil {
				t.Fatal(err)
			}
			path := must[string](t)(a.CreateProtectedEphemeralSequential("/a/lock-", nil, open))
			if !strings.HasSuffix(path, "0000000000") {
				t.Error(path)
			}
			if ev := <-events; ev.Type != zk.EventNodeChildrenChanged || ev.Path != "/a" {
				t.Errorf("%+v", ev)
			}
			list, stat, err := b.Children("/a")
			if err != nil || len(list) != 1 || "/a/"+list[0] != path || stat.NumChildren != 1 {
				t.Errorf("%v, %+v, %v", list, stat, err)
			}
			results, err := a.Multi(&zk.CreateRequest{Path: "/m", Acl: open}, &zk.SetDataRequest{Path: "/m",
				Data: []byte("y"), Version: 0}, &zk.CheckVersionRequest{Path: "/m", Version: 1})
			if err != nil || len(results) != 3 {
				t.Errorf("%v, %v", results, err)
			}
			if _, err := a.Set("/none", nil, -1); !errors.Is(err, zk.ErrNoNode) {
				t.Error(err)
			}
			_, _, gone, err := b.ExistsW(path)
			if err != nil {
				t.Fatal(err)
			}
			a.Close()
			if ev := <-gone; ev.Type != zk.EventNodeDeleted {
				t.Errorf("%+v", ev)
			}
		})
	}
}

func TestAnIdentityOpensWhatItsDigestProtects(t *testing.T) {
	e := start(t, Options{})
	a, b := client(t, 30*time.Second, e.Addrs()...), client(t, 30*time.Second, e.Addrs()...)
	if err := a.AddAuth("digest", []byte("user:secret")); err != nil {
		t.Fatal(err)
	}
	must[string](t)(a.Create("/digest", nil, 0, zk.DigestACL(zk.PermAll, "user", "secret")))
	must[string](t)(a.Create("/ip", nil, 0, []zk.ACL{{Perms: zk.PermRead, Scheme: "ip", ID: "127.0.0.1"}}))
	if _, _, err := b.Get("/digest"); !errors.Is(err, zk.ErrNoAuth) {
		t.Error(err)
	}
	if _, _, err := a.Get("/digest"); err != nil {
		t.Error(err)
	}
	if _, _, err := b.Get("/ip"); err != nil {
		t.Error(err)
	}
	if err := b.AddAuth("digest", []byte("user:secret")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Get("/digest"); err != nil {
		t.Error(err)
	}
}

func TestALostReplyLeavesTheZnodeThatItWasAbout(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		plan := mustPlan(t, "lose-reply=1@client=c1,op=create,nth=2")
		e := start(t, Options{Faults: plan, Seed: seed})
		c := client(t, 30*time.Second, e.Addrs()...)
		must[string](t)(c.Create("/a", nil, 0, open))
		if _, err := c.Create("/b", nil, 0, open); !errors.Is(err, zk.ErrConnectionClosed) {
			t.Errorf("seed %d: %v", seed, err)
		}
		for {
			if _, _, err := c.Exists("/b"); err == nil {
				break
			} else if !errors.Is(err, zk.ErrNoServer) && !errors.Is(err, zk.ErrConnectionClosed) {
				t.Fatal(err)
			}
		}
		if ok, _, err := c.Exists("/b"); !ok || err != nil {
			t.Error(ok, err)
		}
		strikes, rules := e.Strikes()
		if len(strikes) != 1 || strikes[0].String() != "lose-reply c1 create /b" || rules[0].Times != 1 {
			t.Errorf("%+v, %+v", strikes, rules)
		}
	}
}

func TestExpiryIsCommanded(t *testing.T) {
	t.Parallel()
	e := start(t, Options{Nodes: 3})
	a := client(t, 20*time.Second, e.Addrs()[1])
	b := client(t, 20*time.Second, e.Addrs()[2])
	must[string](t)(a.Create("/e", nil, zk.FlagEphemeral, open))
	if _, err := b.Sync("/e"); err != nil {
		t.Fatal(err)
	}
	_, _, gone, err := b.GetW("/e")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Expire(1); err != nil {
		t.Fatal(err)
	}
	if ev := <-gone; ev.Type != zk.EventNodeDeleted {
		t.Errorf("%+v", ev)
	}
	for ; a.SessionID() == 1<<12|1; time.Sleep(time.Millisecond) { // it gets another one
	}
	if err := e.Expire(7); err == nil || !strings.Contains(err.Error(), "c7 has no session") {
		t.Error(err)
	}
}

func TestASessionOfWhichNothingIsHeardExpiresByTheClock(t *testing.T) {
	e := start(t, Options{TickTime: 20 * time.Millisecond})
	sock, err := net.Dial("tcp", e.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer sock.Close()
	w := hello(t, sock, 0, nil)
	if w.Timeout != 40 {
		t.Errorf("a timeout of %d ms was granted for one of 1 ms", w.Timeout)
	}
	if _, err := receive(sock); err == nil {
		t.Error("expected the end of the connection")
	}
	if s := e.State().Sessions; len(s) != 0 {
		t.Errorf("%+v", s)
	}
}

func TestAStoppedServerAnswersWhenItGoesOn(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		e := start(t, Options{Nodes: nodes})
		a := client(t, 30*time.Second, e.Addrs()[0])
		if err := e.Stop(1); err != nil {
			t.Fatal(err)
		}
		if err := e.Stop(1); err == nil {
			t.Error("a server was stopped twice")
		}
		answered := make(chan error)
		go func() {
			_, _, err := a.Get("/")
			answered <- err
		}()
		if nodes == 3 {
			b := client(t, 30*time.Second, e.Addrs()[1])
			must[string](t)(b.Create("/b", nil, 0, open))
		}
		select {
		case err := <-answered:
			t.Fatalf("a stopped server answers %v", err)
		default:
		}
		if err := e.Continue(1); err != nil {
			t.Fatal(err)
		}
		if err := <-answered; err != nil && nodes == 1 {
			t.Error(err)
		}
	}
}

func TestAKilledServerResetsConnectionsAndAnotherIsElected(t *testing.T) {
	t.Parallel()
	e := start(t, Options{Nodes: 3})
	a := client(t, 30*time.Second, e.Addrs()...)
	must[string](t)(a.Create("/e", nil, zk.FlagEphemeral, open))
	if err := e.Kill(1); err != nil {
		t.Fatal(err)
	}
	if mode := e.State().Servers[0].Mode; mode != "follower" {
		t.Error(mode)
	}
	b := client(t, 30*time.Second, e.Addrs()[1])
	must[string](t)(b.Create("/b", nil, 0, open))
	if ok, stat, err := b.Exists("/e"); !ok || err != nil || stat.Czxid>>32 != 1 {
		t.Errorf("%v, %+v, %v", ok, stat, err)
	}
	if _, stat, _ := b.Exists("/b"); stat.Czxid>>32 != 2 {
		t.Errorf("%x", stat.Czxid)
	}
	if err := e.Continue(1); err != nil {
		t.Fatal(err)
	}
	c := client(t, 30*time.Second, e.Addrs()[0])
	if _, err := c.Sync("/b"); err != nil {
		t.Fatal(err)
	}
	if ok, _, err := c.Exists("/b"); !ok || err != nil {
		t.Error(ok, err)
	}
}

func TestResetLeavesNothing(t *testing.T) {
	e := start(t, Options{Faults: mustPlan(t, "lose-reply=1@client=c1,op=create,nth=1")})
	for range 2 {
		c := client(t, 30*time.Second, e.Addrs()...)
		if _, err := c.Create("/a", nil, 0, open); err == nil {
			t.Error("the plan did not begin anew")
		}
		if _, err := e.Reset(); err != nil {
			t.Fatal(err)
		}
		c.Close()
		if s := e.State(); len(s.Znodes) != 1 || len(s.Struck) != 0 {
			t.Errorf("%+v", s)
		}
		if _, err := e.Reset(); err != nil { // it may have connected again
			t.Fatal(err)
		}
	}
}

func TestAHandshakeThatAResetHasOvertakenOpensNoSession(t *testing.T) {
	e := start(t, Options{})
	near, far := net.Pipe()
	defer far.Close()
	c := newConn(e, 0, near)
	e.do(nil, func() error { c.end(byRST); return nil }) // as Reset does, and Kill, before the handshake has its turn
	if err := c.handshake((&jute.ConnectRequest{Timeout: 30_000}).Append(nil)); err == nil {
		t.Error("it went on")
	}
	if s := e.State().Sessions; len(s) != 0 {
		t.Errorf("%+v", s)
	}
}

func TestQuietIsWhenNothingIsUnderWay(t *testing.T) {
	e := start(t, Options{})
	c := client(t, 30*time.Second, e.Addrs()...)
	must[string](t)(c.Create("/a", nil, 0, open))
	if err := e.Quiet(t.Context(), 5*time.Millisecond); err != nil {
		t.Error(err)
	}
	h, forgotten := e.History()
	if forgotten != 0 || len(h.Tree) != 2 || !slices.Equal(e.Addrs(), []string{e.Connect()}) {
		t.Errorf("%d, %+v", forgotten, h.Tree)
	}
}

func TestWhatAFaultHasSuspendedIsUnderWay(t *testing.T) {
	for _, plan := range []string{"watch-delay=1@client=c1", "stale-read=1@client=c1"} {
		e := start(t, Options{Nodes: 3})
		one := client(t, 30*time.Second, e.Addrs()[1])
		_, _, made, err := one.ExistsW("/a")
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Strike(plan); err != nil {
			t.Fatal(err)
		}
		must[string](t)(client(t, 30*time.Second, e.Addrs()[0]).Create("/a", nil, 0, open))
		if err := e.Quiet(t.Context(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
		h, _ := e.History()
		heard := slices.ContainsFunc(h.Events, func(x history.Event) bool { return x.Kind == history.Notify })
		if strikes, _ := e.Strikes(); len(strikes) != 1 || !heard {
			t.Errorf("%s: quiet before the event has come, which is held back by %v", plan, strikes)
		}
		<-made
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, o := range map[string]Options{
		"expected 1 or 3":       {Nodes: 2},
		"expected host:port":    {Listen: "2181"},
		"a port from 0":         {Listen: "127.0.0.1:65535", Nodes: 3},
		"expected one address":  {Listen: "127.0.0.1:0,127.0.0.1:0"},
		"whole milliseconds":    {TickTime: time.Microsecond},
		"TickTime 400h":         {TickTime: 400 * time.Hour},
		"TickTime 2000000h":     {TickTime: 2_000_000 * time.Hour, MaxSessionTimeout: time.Hour},
		"MaxSessionTimeout 600": {MaxSessionTimeout: 600 * time.Hour},
		"at most MaxSession":    {MinSessionTimeout: time.Hour},
		"stop your own":         {Faults: mustPlan(t, "pause=1")},
		"expected none negativ": {Events: -1},
	} {
		if e, err := Start(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
			if e != nil {
				e.Close()
			}
		}
	}
}

func TestContainersAndTTLZnodesGoWhenTheyAreDue(t *testing.T) {
	e := start(t, Options{ContainerCheck: 5 * time.Millisecond})
	c := client(t, 30*time.Second, e.Addrs()...)
	must[string](t)(c.CreateTTL("/ttl", nil, zk.FlagTTL, open, 20*time.Millisecond))
	must[string](t)(c.CreateContainer("/container", nil, zk.FlagContainer, open))
	must[string](t)(c.CreateContainer("/never", nil, zk.FlagContainer, open))
	must[string](t)(c.Create("/container/a", nil, 0, open))
	if err := c.Delete("/container/a", -1); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/ttl", "/container"} {
		for there := true; there; {
			var err error
			var gone <-chan zk.Event
			if there, _, gone, err = c.ExistsW(path); err != nil {
				t.Fatal(err)
			} else if there {
				<-gone
			}
		}
	}
	if there, _, err := c.Exists("/never"); !there || err != nil {
		t.Error("a container that has had no child is gone", err)
	}
}

// With one server of three nobody is served and nothing expires; two of them elect a leader, and all goes on.
func TestWithoutAQuorumNobodyIsServedUntilThereIsOneAgain(t *testing.T) {
	for _, order := range [][3]int{{1, 2, 2}, {1, 2, 1}, {3, 1, 1}, {2, 3, 3}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			t.Parallel()
			e := start(t, Options{Nodes: 3, TickTime: 10 * time.Millisecond, MinSessionTimeout: 30 * time.Second,
				MaxSessionTimeout: 30 * time.Second})
			c := client(t, 30*time.Second, e.Addrs()...)
			must[string](t)(c.Create("/e", nil, zk.FlagEphemeral, open))
			for _, k := range order[:2] {
				if err := e.Kill(k); err != nil {
					t.Fatal(err)
				}
			}
			last := 6 - order[0] - order[1]
			if got := word(t, e.Addrs()[last-1], "srvr"); got != notServing {
				t.Errorf("srvr: %q", got)
			}
			if got := word(t, e.Addrs()[last-1], "ruok"); got != "imok" {
				t.Errorf("ruok: %q", got)
			}
			sock := dialTo(t, e.Addrs()[last-1])
			q := jute.ConnectRequest{Password: make([]byte, jute.PasswordLen)}
			send(t, sock, q.Append(nil))
			if _, err := receive(sock); err == nil {
				t.Error("a server without a quorum gives a session")
			}
			if err := e.Elect(); err == nil {
				t.Error("one server elects a leader")
			}
			if err := e.Continue(order[2]); err != nil {
				t.Fatal(err)
			}
			for {
				if ok, _, err := c.Exists("/e"); err == nil {
					if !ok {
						t.Error("the ephemeral is gone")
					}
					break
				}
			}
			if err := e.Continue(order[0] + order[1] - order[2]); err != nil {
				t.Fatal(err)
			}
			e.Quiet(t.Context(), time.Millisecond)
			for _, s := range e.State().Servers {
				if s.Behind != 0 || s.Killed {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}

// word asks a server a four-letter word.
func word(t *testing.T, addr, text string) string {
	t.Helper()
	sock := dialTo(t, addr)
	sock.Write([]byte(text))
	b, err := io.ReadAll(sock)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestARecordingThatCannotBeReadSaysWhy(t *testing.T) {
	_, err := ReadRecording(iotest.ErrReader(errors.New("is a directory")))
	if err == nil || err.Error() != "is a directory" {
		t.Errorf("%v, expected the error of the reader", err)
	}
}

func TestARecordingWithALineThatIsTooLongNamesIt(t *testing.T) {
	text := "{\"kind\":\"recording\",\"format\":\"zksim recording 5\",\"servers\":1}\n" +
		strings.Repeat(" ", reports.MaxHistoryLine+1) + "\n"
	_, err := ReadRecording(strings.NewReader(text))
	if err == nil || !strings.HasPrefix(err.Error(), "line 2: ") || !strings.Contains(err.Error(), "is longer than") {
		t.Errorf("%v, expected what is wrong with line 2", err)
	}
}
