package live

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// offline is the Env of a Client without a connection.
func offline() env { return env{&Client{}} }

func event(path string) zk.Event { return zk.Event{Type: zk.EventNodeDeleted, Path: path} }

// ready returns a channel that holds an event.
func ready(path string) <-chan zk.Event {
	ch := make(chan zk.Event, 1)
	ch <- event(path)
	return ch
}

func closed() <-chan zk.Event {
	ch := make(chan zk.Event)
	close(ch)
	return ch
}

func idle() <-chan zk.Event { return make(chan zk.Event) }

func done() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestAwaitTakesTheFirstReadyOfItsArguments(t *testing.T) {
	type chans = []<-chan zk.Event
	for _, c := range []struct {
		name  string
		chans chans
		want  int
		path  string
	}{
		{"one", chans{ready("a")}, 0, "a"},
		{"the first of two", chans{ready("a"), ready("b")}, 0, "a"},
		{"the second of two", chans{idle(), ready("b")}, 1, "b"},
		{"the third of three", chans{idle(), idle(), ready("c")}, 2, "c"},
		{"the second of four", chans{idle(), ready("b"), ready("c"), ready("d")}, 1, "b"},
		{"closed gives the zero event", chans{idle(), closed()}, 1, ""},
		{"closed before ready", chans{closed(), ready("b")}, 0, ""},
		{"ready before closed", chans{ready("a"), closed()}, 0, "a"},
		{"nil is never ready", chans{nil, ready("b")}, 1, "b"},
		{"nil is never ready, many", chans{nil, nil, nil, ready("d")}, 3, "d"},
	} {
		for name, ctx := range map[string]context.Context{"live": t.Context(), "done": done()} {
			t.Run(c.name+", context "+name, func(t *testing.T) {
				chans := make(chans, len(c.chans))
				for i, ch := range c.chans { // the same for both contexts
					chans[i] = ch
					if len(ch) == 1 {
						chans[i] = ready(fmt.Sprint(string(rune('a' + i))))
					}
				}
				var want zk.Event
				if c.path != "" {
					want = event(c.path)
				}
				i, ev, err := offline().Await(ctx, chans...)
				if i != c.want || ev != want || err != nil {
					t.Errorf("got %d, %+v, %v; want %d, %+v", i, ev, err, c.want, want)
				}
			})
		}
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	for n := range 5 {
		for _, kind := range []string{"idle", "nil"} {
			chans := make([]<-chan zk.Event, n)
			for i := range chans {
				if kind == "idle" {
					chans[i] = idle()
				}
			}
			soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			for _, ctx := range []context.Context{done(), soon} {
				i, ev, err := offline().Await(ctx, chans...)
				if i != -1 || ev != (zk.Event{}) || err == nil || err != ctx.Err() {
					t.Errorf("%d %s channels: got %d, %+v, %v", n, kind, i, ev, err)
				}
			}
		}
	}
}

func TestAwaitWakesUpForAnyOfItsChannels(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for late := range n {
			both := make([]chan zk.Event, n)
			chans := make([]<-chan zk.Event, n)
			for i := range chans {
				both[i] = make(chan zk.Event, 1)
				chans[i] = both[i]
			}
			for _, wake := range []struct {
				f    func()
				want zk.Event
			}{
				{func() { both[late] <- event("x") }, event("x")},
				{func() { close(both[late]) }, zk.Event{}},
			} {
				time.AfterFunc(5*time.Millisecond, wake.f)
				i, ev, err := offline().Await(t.Context(), chans...)
				if i != late || ev != wake.want || err != nil {
					t.Errorf("channel %d of %d: got %d, %+v, %v; want %+v", late, n, i, ev, err, wake.want)
				}
			}
		}
	}
}

// An event and the end of the context that come at the same time are the case
// that a plain select decides by lot.
func TestAwaitNeverPrefersItsContextToAnEvent(t *testing.T) {
	for round := range 100 {
		n := 1 + round%4
		both := make(chan zk.Event, 1)
		chans := make([]<-chan zk.Event, n)
		chans[round%n] = both
		ctx := lateContext{done(), func() { both <- event("x") }}
		if i, ev, err := offline().Await(ctx, chans...); err != nil || i != round%n || ev != event("x") {
			t.Fatalf("round %d: got %d, %+v, %v", round, i, ev, err)
		}
	}
}

// lateContext does something just before anyone can wait for it.
type lateContext struct {
	context.Context
	before func()
}

func (c lateContext) Done() <-chan struct{} {
	c.before()
	return c.Context.Done()
}

func TestSleepEndsWithTheTimeOrTheContext(t *testing.T) {
	e := offline()
	begin := e.Now()
	if err := e.Sleep(t.Context(), 10*time.Millisecond); err != nil || e.Now().Sub(begin) < 10*time.Millisecond {
		t.Errorf("%v after %v", err, e.Now().Sub(begin))
	}
	for _, d := range []time.Duration{0, -time.Second} {
		if err := e.Sleep(t.Context(), d); err != nil {
			t.Errorf("Sleep(%v): %v", d, err)
		}
	}
	ctx, cancel := e.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := e.Sleep(ctx, time.Hour); err != context.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
	if err := e.Sleep(done(), 0); err != context.Canceled {
		t.Errorf("context done before: %v", err)
	}
}

func TestUUIDsAre32HexDigitsAndDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := offline().UUID()
		if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(id) || seen[id] {
			t.Fatalf("%q", id)
		}
		seen[id] = true
	}
}

func TestWaitIsForAllThatGoStarted(t *testing.T) {
	c := &Client{}
	e := c.Env()
	if err := c.Wait(t.Context()); err != nil {
		t.Errorf("nothing started: %v", err)
	}
	release := make(chan struct{})
	e.Go("parent", func() {
		<-release
		e.Go("child", func() { <-release })
	})
	e.Go("worker", func() { <-release })
	e.Go("worker", func() { <-release; runtime.Goexit() })

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	const want = "live: still running: parent, worker (2): context deadline exceeded"
	if err := c.Wait(ctx); err == nil || err.Error() != want || !errors.Is(err, ctx.Err()) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	close(release)
	for range 2 {
		if err := c.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestGoAndWaitMayRace(t *testing.T) {
	c := &Client{}
	var started sync.WaitGroup
	for range 8 {
		started.Go(func() {
			for range 200 {
				c.Env().Go("f", func() {})
				if err := c.Wait(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	started.Wait()
}

func TestFeedGivesEveryoneTheNextStateOnce(t *testing.T) {
	e := offline()
	a, b := e.SessionEvents(), e.SessionEvents()
	for _, s := range []zk.State{zk.StateConnecting, zk.StateConnected, zk.StateUnknown} {
		e.c.feed.publish(zk.Event{Type: zk.EventSession, State: s})
	}
	if len(a) != 0 {
		t.Fatalf("told of %v", <-a)
	}
	for _, s := range []zk.State{zk.StateDisconnected, zk.StateExpired, zk.StateHasSession, zk.StateAuthFailed} {
		e.c.feed.publish(zk.Event{Type: zk.EventSession, State: s})
		for _, ch := range []<-chan zk.Event{a, b} {
			if len(ch) != 1 {
				t.Fatalf("%v: len %d", s, len(ch))
			}
			if ev := <-ch; ev.Type != zk.EventSession || ev.State != s || ev.Err != nil {
				t.Errorf("%v: got %+v", s, ev)
			}
			if _, open := <-ch; open {
				t.Errorf("%v: not closed", s)
			}
		}
		a, b = e.SessionEvents(), e.SessionEvents()
	}
}

func TestFeedEndsWithErrClosing(t *testing.T) {
	e := offline()
	before := e.SessionEvents()
	e.c.feed.close()
	e.c.feed.close()
	e.c.feed.publish(zk.Event{Type: zk.EventSession, State: zk.StateExpired})
	for i, ch := range []<-chan zk.Event{before, e.SessionEvents()} {
		wantClosing(t, fmt.Sprint("channel ", i), ch)
	}
}

// wantClosing checks that ch holds the event of a closed connection by now.
func wantClosing(t *testing.T, what string, ch <-chan zk.Event) {
	t.Helper()
	if len(ch) != 1 {
		t.Errorf("%s: len %d, want 1", what, len(ch))
		return
	}
	if ev := <-ch; ev.Type != zk.EventSession || ev.Err != zk.ErrClosing {
		t.Errorf("%s: got %+v, want ErrClosing", what, ev)
	}
	if _, open := <-ch; open {
		t.Errorf("%s: not closed", what)
	}
}

func TestFeedLosesNobodyInRaces(t *testing.T) {
	e := offline()
	var askers sync.WaitGroup
	for range 8 {
		askers.Go(func() {
			for {
				ch := e.SessionEvents()
				ev := <-ch // forever, if it were lost
				if _, open := <-ch; open {
					t.Error("not closed")
				}
				if ev.Err == zk.ErrClosing {
					return
				}
			}
		})
	}
	for range 2000 {
		e.c.feed.publish(zk.Event{Type: zk.EventSession, State: zk.StateHasSession})
	}
	e.c.feed.close()
	askers.Wait()
}

func TestOptionsAreCheckedBeforeDialing(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		servers []string
		timeout time.Duration
		want    string
	}{
		{[]string{"127.0.0.1:1"}, time.Microsecond, "live: session timeout 1µs: want 1 ms to 2147483647 ms"},
		{[]string{"127.0.0.1:1"}, -time.Second, "live: session timeout -1s: want"},
		{[]string{"127.0.0.1:1"}, 1000 * time.Hour, "live: session timeout 1000h0m0s: want"},
		{nil, 0, "live: connect to : zk: server list must not be empty"},
		{[]string{"::1"}, 0, "live: connect to ::1: address ::1: too many colons in address"},
		{[]string{""}, 0, "live: connect to : address :2181: no host in address"},
		{[]string{"zk:"}, 0, "live: connect to zk:: address zk:: no port in address"},
		{[]string{"zk:65536"}, 0, "live: connect to zk:65536: address 65536: invalid port"},
		{[]string{"zk:2181/chroot"}, 0, "live: connect to zk:2181/chroot: lookup tcp/2181/chroot: unknown port"},
	} {
		_, err := Dial(done, c.servers, Options{SessionTimeout: c.timeout})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestWithinLeavesWhatItDoesNotWaitForToItself(t *testing.T) {
	e := offline()
	ctx, cancel := context.WithCancel(t.Context())
	if !e.Within(context.Background(), func() {}) || !e.Within(ctx, func() {}) {
		t.Error("a request that ends is given up")
	}
	begun, release := make(chan struct{}), make(chan struct{})
	go func() {
		<-begun
		cancel()
	}()
	if e.Within(ctx, func() { close(begun); <-release }) {
		t.Error("a request that does not end has ended")
	}
	if e.Within(ctx, func() { t.Error("begun with a done context") }) {
		t.Error("ended with a done context")
	}
	undone, started := make(chan struct{}), make(chan struct{})
	e.Undo("undo", func() { close(undone) })
	e.Go("other", func() { close(started) })
	<-started // Go waits for nothing
	select {
	case <-undone:
		t.Error("undone before the request has ended")
	default:
	}
	close(release)
	<-undone
	if n := len(e.c.left.list()); n > 0 {
		t.Errorf("%d requests are left", n)
	}
}
