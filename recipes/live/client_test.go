package live_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/zkserver"
	"zksim/internal/zkserver/zkservertest"
	"zksim/recipes"
	"zksim/recipes/live"
)

var open = zk.WorldACL(zk.PermAll)

// patience bounds every wait for something that must happen.
const patience = time.Minute

func dial(t *testing.T, addr string, o live.Options) *live.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := live.Dial(ctx, []string{addr}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// receive returns the event of ch through Await, as recipes do.
func receive(t *testing.T, env recipes.Env, ch <-chan zk.Event) zk.Event {
	t.Helper()
	ctx, cancel := env.WithTimeout(t.Context(), patience)
	defer cancel()
	_, ev, err := env.Await(ctx, ch)
	must(t, err)
	return ev
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func TestAClientIsAConnection(t *testing.T) {
	server := zkservertest.ForTest(t, 1)
	c := dial(t, server.ConnectString(), live.Options{})
	if c.State() != zk.StateHasSession || c.SessionID() == 0 {
		t.Errorf("state %v, session %x", c.State(), c.SessionID())
	}
	_, err := c.Multi(
		&zk.CreateRequest{Path: "/a", Data: []byte("1"), Acl: open},
		&zk.CreateRequest{Path: "/a/n-", Acl: open, Flags: zk.FlagEphemeral | zk.FlagSequence})
	must(t, err)
	data, stat, watch, err := c.GetW("/a")
	if err != nil || string(data) != "1" || stat.NumChildren != 1 {
		t.Fatalf("got %q, %+v, %v", data, stat, err)
	}
	_, err = c.Set("/a", []byte("2"), stat.Version)
	must(t, err)
	if ev := receive(t, c.Env(), watch); ev.Type != zk.EventNodeDataChanged || ev.Path != "/a" {
		t.Errorf("got %+v", ev)
	}
}

// zk.Connect's own channel keeps 6 of these events.
func TestOnWatchHearsEveryNodeEventOnce(t *testing.T) {
	server := zkservertest.ForTest(t, 1)
	var heard, other atomic.Int32
	c := dial(t, server.ConnectString(), live.Options{OnWatch: func(ev zk.Event) {
		if ev.Type == zk.EventNodeDeleted && strings.HasPrefix(ev.Path, "/n") {
			heard.Add(1)
		} else {
			other.Add(1)
		}
	}})
	const nodes = 50
	var remove []any
	var watches []<-chan zk.Event
	for i := range nodes {
		path := fmt.Sprint("/n", i)
		_, err := c.Create(path, nil, 0, open)
		must(t, err)
		for range 2 {
			_, _, watch, err := c.ExistsW(path)
			must(t, err)
			watches = append(watches, watch)
		}
		remove = append(remove, &zk.DeleteRequest{Path: path, Version: -1})
	}
	_, _, last, err := c.ExistsW("/")
	must(t, err)
	_, err = c.Multi(remove...)
	must(t, err)
	for _, watch := range watches {
		receive(t, c.Env(), watch)
	}
	c.Close() // gives last an EventNotWatching, which the server never sent
	if ev := receive(t, c.Env(), last); ev.Type != zk.EventNotWatching {
		t.Errorf("got %+v", ev)
	}
	if heard.Load() != nodes || other.Load() != 0 {
		t.Errorf("heard %d deletions and %d others, want %d and 0", heard.Load(), other.Load(), nodes)
	}
}

func TestSessionEventsTellOfADisconnectAndAReconnect(t *testing.T) {
	server := zkservertest.ForTest(t, 1)
	link := newProxy(t, server.ConnectString())
	c := dial(t, link.addr(), live.Options{})
	env, session := c.Env(), c.SessionID()

	first, second := env.SessionEvents(), env.SessionEvents()
	if len(first) != 0 {
		t.Fatalf("told of the past: %+v", <-first)
	}
	link.cut()
	for _, ch := range []<-chan zk.Event{first, second} {
		if ev := receive(t, env, ch); ev.Type != zk.EventSession || ev.State != zk.StateDisconnected || ev.Err != nil {
			t.Errorf("got %+v, want StateDisconnected", ev)
		}
		if ev := receive(t, env, ch); ev != (zk.Event{}) {
			t.Errorf("got %+v from a channel that should be closed", ev)
		}
	}
	// Attempts that the cut link refuses may come first.
	link.mend()
	awaitState(t, c, zk.StateHasSession)
	if c.SessionID() != session {
		t.Error("another session")
	}
	_, _, err := c.Exists("/")
	must(t, err)
}

// awaitState follows session events until the client is in state. The events
// on the way are 1 s apart, so that none is missed.
func awaitState(t *testing.T, c *live.Client, state zk.State) {
	t.Helper()
	for range 100 {
		change := c.Env().SessionEvents()
		if c.State() == state {
			return
		}
		switch ev := receive(t, c.Env(), change); {
		case ev.State == state:
			return
		case ev.Err != nil || ev.State != zk.StateDisconnected:
			t.Fatalf("got %+v while waiting for %v", ev, state)
		}
	}
	t.Fatalf("no end of StateDisconnected while waiting for %v", state)
}

func TestSessionEventsTellOfAnExpiry(t *testing.T) {
	server := zkservertest.Start(t, zkserver.Options{TickTime: 100 * time.Millisecond})
	link := newProxy(t, server.ConnectString())
	onWatch := make(chan zk.Event, 10)
	c := dial(t, link.addr(), live.Options{
		SessionTimeout: 2 * time.Second,
		OnWatch:        func(ev zk.Event) { onWatch <- ev },
	})
	witness := dial(t, server.ConnectString(), live.Options{})
	env, session := c.Env(), c.SessionID()
	_, err := c.Create("/own", nil, zk.FlagEphemeral, open)
	must(t, err)
	_, _, watch, err := c.ExistsW("/own")
	must(t, err)

	link.cut()
	eventually(t, "the session's node is gone", func() bool {
		there, _, err := witness.Exists("/own")
		must(t, err)
		return !there
	})
	link.mend()
	awaitState(t, c, zk.StateExpired)
	if ev := receive(t, env, watch); ev.Type != zk.EventNotWatching || ev.Err != zk.ErrSessionExpired {
		t.Errorf("watch: %+v", ev)
	}
	awaitState(t, c, zk.StateHasSession)
	if c.SessionID() == session {
		t.Error("the same session")
	}
	if len(onWatch) != 0 {
		t.Errorf("OnWatch heard %+v", <-onWatch)
	}
}

func TestTheCallerCanMakeTheConnectionsAndHearTheSession(t *testing.T) {
	server := zkservertest.ForTest(t, 1)
	socks := make(chan net.Conn, 10)
	states := make(chan zk.State, 10)
	c := dial(t, "127.0.0.1:1", live.Options{ // which refuses
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			sock, err := (&net.Dialer{}).DialContext(ctx, network, server.ConnectString())
			socks <- sock
			return sock, err
		},
		OnSession: func(ev zk.Event) { states <- ev.State },
	})
	for i, want := range []zk.State{zk.StateHasSession, zk.StateDisconnected, zk.StateHasSession} {
		select {
		case got := <-states:
			if got != want {
				t.Fatalf("got %v, want %v", got, want)
			}
		case <-time.After(patience):
			t.Fatalf("no %v", want)
		}
		if i == 0 {
			(<-socks).Close()
		}
	}
	c.Close()
	if len(states) > 0 {
		t.Errorf("told of %v after Close", <-states)
	}
}

func TestCloseEndsADialOfTheCaller(t *testing.T) {
	waiting := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-waiting
		cancel()
	}()
	ended := make(chan struct{})
	_, err := live.Dial(ctx, []string{"127.0.0.1:1"},
		live.Options{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			close(waiting)
			<-ctx.Done()
			close(ended)
			return nil, ctx.Err()
		}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the dial goes on")
	}
}

func TestCloseEndsEverything(t *testing.T) {
	server := zkservertest.ForTest(t, 1)
	c := dial(t, server.ConnectString(), live.Options{})
	witness := dial(t, server.ConnectString(), live.Options{})
	env := c.Env()
	_, err := c.Create("/own", nil, zk.FlagEphemeral, open)
	must(t, err)
	_, _, watch, err := c.ExistsW("/elsewhere")
	must(t, err)
	before := env.SessionEvents()

	var closers sync.WaitGroup
	for range 4 {
		closers.Go(c.Close)
	}
	closers.Wait()
	c.Close()

	for _, ch := range []<-chan zk.Event{before, env.SessionEvents()} {
		if len(ch) != 1 {
			t.Fatalf("len %d", len(ch))
		}
		if ev := <-ch; ev.Type != zk.EventSession || ev.Err != zk.ErrClosing {
			t.Errorf("got %+v", ev)
		}
	}
	if len(watch) != 1 {
		t.Fatal("a watch was told nothing")
	}
	if ev := <-watch; ev.Type != zk.EventNotWatching || ev.Err != zk.ErrClosing {
		t.Errorf("watch: %+v", ev)
	}
	if _, _, err := c.Exists("/"); err != zk.ErrConnectionClosed {
		t.Errorf("Exists: %v", err)
	}
	if there, _, err := witness.Exists("/own"); there || err != nil {
		t.Errorf("the session's node: %v, %v", there, err)
	}
}

func TestClosingOnlyTheEmbeddedConnectionIsNoticed(t *testing.T) {
	server := zkservertest.ForTest(t, 1)
	c := dial(t, server.ConnectString(), live.Options{})
	env := c.Env()
	c.Conn.Close()
	for range 3 { // StateDisconnected may come first
		if ev := receive(t, env, env.SessionEvents()); ev.Err == zk.ErrClosing {
			return
		}
	}
	t.Error("no ErrClosing")
}

func TestCloseIsQuickWithoutAConnection(t *testing.T) {
	server := zkservertest.ForTest(t, 1)
	goroutines := runtime.NumGoroutine()
	link := newProxy(t, server.ConnectString())
	c := dial(t, link.addr(), live.Options{})
	env := c.Env()
	lost := env.SessionEvents()
	link.cut()
	receive(t, env, lost)
	begin := time.Now()
	c.Close()
	if d := time.Since(begin); d > live.DefaultSessionTimeout*3/4 {
		t.Errorf("Close took %v", d)
	}
	link.listener.Close()
	eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= goroutines })
}

func TestCloseInOnWatchDoesNotHang(t *testing.T) {
	server := zkservertest.ForTest(t, 1)
	closed := make(chan struct{})
	var c *live.Client
	c = dial(t, server.ConnectString(), live.Options{OnWatch: func(zk.Event) {
		c.Close()
		close(closed)
	}})
	_, _, _, err := c.ExistsW("/a")
	must(t, err)
	go c.Create("/a", nil, 0, open)
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("it hangs")
	}
}

func TestDialGivesUpWithItsContextAndSaysWhy(t *testing.T) {
	refusing := "127.0.0.1:1"
	unknown := "zk..invalid:2181"                   // not a name that a resolver would ask others for
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel takes connections, nobody answers
	must(t, err)
	defer silent.Close()
	goroutines := runtime.NumGoroutine()
	for _, c := range []struct {
		name    string
		servers []string
		why     string
	}{
		{"refused", []string{refusing}, "dial tcp 127.0.0.1:1: connect: connection refused"},
		{"silent", []string{silent.Addr().String()}, silent.Addr().String() + " took the connection but gave no session"},
		{"several", []string{refusing, "127.0.0.1:2"}, "connect: connection refused"},
		{"unknown", []string{unknown}, "lookup zk..invalid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begin := time.Now()
			_, err := live.Dial(ctx, c.servers, live.Options{})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("got %v, want DeadlineExceeded", err)
			}
			for _, want := range append(c.servers, "live: no session with ", c.why) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
			if d := time.Since(begin); d > patience/2 {
				t.Errorf("took %v", d)
			}
		})
	}
	eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= goroutines })
}

func TestAServerWhoseNameIsUnknownIsOneThatDoesNotAnswer(t *testing.T) {
	server := zkservertest.ForTest(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := live.Dial(ctx, []string{"zk..invalid", server.ConnectString()}, live.Options{})
	must(t, err)
	c.Close()
}

func TestTheLoggerHearsTheClient(t *testing.T) {
	server := zkservertest.ForTest(t, 1)
	var log logger
	dial(t, server.ConnectString(), live.Options{Logger: &log}).Close()
	log.mu.Lock()
	defer log.mu.Unlock()
	if !strings.Contains(log.text, "connected to "+server.ConnectString()) {
		t.Errorf("log: %q", log.text)
	}
}

type logger struct {
	mu   sync.Mutex
	text string
}

func (l *logger) Printf(format string, a ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text += fmt.Sprintf(format, a...) + "\n"
}
