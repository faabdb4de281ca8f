package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

func TestAPanicOfClientCodeEndsTheRunAndIsReported(t *testing.T) {
	for name, f := range map[string]program{
		"at once":            func(*script, *Client) { panic("oops") },
		"after an answer":    func(s *script, c *Client) { c.Conn().Get("/"); panic("oops") },
		"in a coroutine":     func(s *script, c *Client) { c.Env().Go("x", func() { panic("oops") }); c.rests() },
		"in another's shoes": func(s *script, c *Client) { s.w.clients[1].Conn().Get("/") },
	} {
		w := NewWorld()
		w.Reset(Config{Clients: 2, Order: 1}, nil, func(c *Client) {
			if c.id == 1 {
				f(&script{t: t, w: w}, c)
			}
		})
		if err := w.Run(&Replay{}); err != nil || w.History.Outcome != history.Panicked {
			t.Errorf("%s: %v, outcome %v", name, err, w.History.Outcome)
		}
		if p := w.History.Panic; !strings.Contains(p, "oops") &&
			!strings.Contains(p, "c2 was used from outside its own code") ||
			!strings.Contains(p, "kernel_test.go") {
			t.Errorf("%s: the report lacks the panic or its stack: %s", name, p)
		}
		w.Close()
	}
}

func TestADeadProcessDoesNothingMore(t *testing.T) {
	unwound := 0
	s := start(t, 1, func(s *script, c *Client) {
		k, env := c.Conn(), c.Env()
		defer func() { unwound++ }()
		defer func() { s.w.History.Add(history.Event{Kind: history.Released}) }()
		for _, late := range []func(){
			func() { k.Create("/d/x", nil, 0, open) },
			func() { env.Sleep(context.Background(), time.Second) },
			func() { env.Go("late", func() {}) },
			func() { env.WithTimeout(context.Background(), time.Second) },
			func() { env.Await(context.Background(), nil) },
			func() { env.Choose(2) },
			func() { k.Close() },
			func() { k.State() },
		} {
			defer late()
		}
		defer func() {
			recover()
			k.Get("/d") // meets its end again
			unwound = 99
		}()
		k.Get("/d")
	}, func(s *script, c *Client) {
		env := c.Env()
		env.Go("a", func() { env.Sleep(context.Background(), time.Second) })
		env.Go("b", func() { c.Conn().Get("/d") })
	})
	s.do("run c1", "connect c1 s1", "crash c1")
	if unwound != 1 {
		t.Errorf("unwound %d", unwound)
	}
	w := s.w
	if n := len(w.clients[0].coroutines); n != 0 || len(w.timers) != 0 || w.History.Finished[1] {
		t.Errorf("%d coroutines, %d timers are left; finished %v", n, len(w.timers), w.History.Finished[1])
	}
	if last := w.History.Events[len(w.History.Events)-1]; last.Kind == history.Call || last.Kind == history.Released {
		t.Errorf("the dead process wrote %v to the history", last.Kind)
	}
	s.rest() // the pooled coroutine serves others now
	s.wantMade()
}

func TestACrashedProcessThatRecoversDoesNotCountAsFinished(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		defer func() { recover() }()
		c.Conn().Get("/d")
	})
	s.do("run c1", "crash c1")
	if s.w.History.Finished[1] {
		t.Error("finished")
	}
}

func TestCodeThatRecoversForEverCannotHangTheRun(t *testing.T) {
	w := NewWorld()
	for range 2 {
		w.Reset(Config{Clients: 1, Order: 1}, nil, func(c *Client) {
			for {
				func() {
					defer func() { recover() }()
					c.Env().Await(context.Background(), nil)
				}()
			}
		})
		if err := w.Run(&Replay{}); err != nil || w.History.Outcome != history.Quiet {
			t.Fatalf("%v, outcome %v", err, w.History.Outcome)
		}
	}
}

func TestAwaitKeepsItsContract(t *testing.T) {
	full := func() <-chan zk.Event {
		ch := make(chan zk.Event, 1)
		ch <- zk.Event{Path: "full"}
		return ch
	}
	closed := func() <-chan zk.Event {
		ch := make(chan zk.Event)
		close(ch)
		return ch
	}
	empty := func() <-chan zk.Event { return make(chan zk.Event) }
	null := func() <-chan zk.Event { return nil }
	live := context.Background()
	done, cancel := context.WithCancel(live)
	cancel()
	for _, x := range []struct {
		name  string
		ctx   context.Context
		chans []func() <-chan zk.Event
		i     int
		path  string
		err   error
	}{
		{"the first of several ready", live, []func() <-chan zk.Event{empty, full, closed}, 1, "full", nil},
		{"a closed channel yields the zero event", live, []func() <-chan zk.Event{closed, full}, 0, "", nil},
		{"a nil channel is never ready", live, []func() <-chan zk.Event{null, full}, 1, "full", nil},
		{"a ready channel wins over a done context", done, []func() <-chan zk.Event{null, full}, 1, "full", nil},
		{"a done context", done, []func() <-chan zk.Event{null, empty}, -1, "", context.Canceled},
		{"a done context and no channels", done, nil, -1, "", context.Canceled},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := start(t, 1, func(s *script, c *Client) {
				var chans []<-chan zk.Event
				for _, ch := range x.chans {
					chans = append(chans, ch())
				}
				i, ev, err := c.Env().Await(x.ctx, chans...)
				if i != x.i || ev.Path != x.path || err != x.err {
					t.Errorf("got %d %q %v", i, ev.Path, err)
				}
				s.say("done")
			})
			s.alone("c1")
			s.want("done")
		})
	}
}

func TestWhatArrivesFirstWinsWhoeverChooses(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		_, _, ch, _ := c.Conn().GetW("/d")
		lost := c.Env().SessionEvents()
		c.Env().Go("setter", func() { c.Conn().Set("/d", nil, -1) })
		i, _, _ := c.Env().Await(context.Background(), lost, ch)
		s.say("channel %d", i)
	})
	s.do("run c1", "connect c1 s1", "serve c1", "deliver c1", "run c1", "run c1/setter", "serve c1", "deliver c1")
	for _, f := range s.w.Faults() { // without asking Normal in between, as Random does
		if s.w.Name(f) == "cut c1" {
			s.step(f)
			break
		}
	}
	s.do("run c1")
	s.want("channel 1")
}

func TestTimersFireByTickTheEarliestFirst(t *testing.T) {
	sleep := func(d time.Duration) program {
		return func(s *script, c *Client) {
			began := c.Env().Now()
			err := c.Env().Sleep(context.Background(), d)
			s.say("%s %v after %v", c.Name(), err, c.Env().Now().Sub(began))
		}
	}
	s := start(t, 1, sleep(20*time.Millisecond), sleep(10*time.Millisecond), sleep(10*time.Millisecond),
		sleep(1500*time.Microsecond), sleep(0), sleep(1<<63-1))
	for _, c := range []string{"c1", "c2", "c3", "c4", "c5", "c6"} {
		s.do("run "+c, "run "+c)
		if s.can("run "+c) != (c == "c5") { // which sleeps no time
			t.Fatalf("%s can run: %v", c, c != "c5")
		}
	}
	s.alone("c5")
	for _, tick := range []string{"tick", "tick c3", "tick", "tick"} { // of two for one moment any may be first
		if s.can("tick c2") != (tick == "tick c3") {
			t.Errorf("c2 has a choice before %s", tick)
		}
		s.do(tick)
		for _, c := range []string{"c1", "c2", "c3", "c4"} {
			s.alone(c)
		}
	}
	s.want("c5 <nil> after 0s", "c4 <nil> after 2ms", "c3 <nil> after 10ms", "c2 <nil> after 10ms", "c1 <nil> after 20ms")
}

func TestSleepEndsWithItsContext(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		env := c.Env()
		ctx, cancel := env.WithTimeout(context.Background(), 5*time.Millisecond)
		defer cancel()
		s.say("%v", env.Sleep(ctx, time.Hour))
		s.say("%v %d", env.Sleep(ctx, time.Hour), len(s.w.timers))
		_, _, err := env.Await(ctx, nil)
		s.say("%v", err)
		at, ok := ctx.Deadline()
		s.say("%v %v", at.Sub(Epoch), ok)
	})
	s.do("run c1", "tick")
	s.alone("c1")
	s.want("context deadline exceeded", "context deadline exceeded 0", "context deadline exceeded", "5ms true")
}

func TestAContextKeepsItsFirstError(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		outer, stop := context.WithCancel(context.Background())
		ctx, cancel := c.Env().WithTimeout(outer, time.Second)
		child, end := context.WithCancel(ctx)
		defer end()
		stop()
		first := ctx.Err()
		c.Env().Sleep(context.Background(), time.Minute)
		s.say("%v %v %v %d", first, ctx.Err(), child.Err(), len(s.w.timers))
		cancel()
	})
	s.do("run c1", "tick", "tick", "run c1")
	s.want("context canceled context canceled context canceled 0")
}

// TestAContextEndsByTheDeadlineOfTheOneThatItWasDerivedFrom compares with contexts of the standard library.
func TestAContextEndsByTheDeadlineOfTheOneThatItWasDerivedFrom(t *testing.T) {
	type with func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
	program := func(timeout with, now func() time.Time, sleep func(d time.Duration)) string {
		begin := now()
		outer, stop := timeout(context.Background(), 20*time.Millisecond)
		defer stop()
		between, end := context.WithCancel(outer)
		ended, cancel := timeout(between, time.Hour)
		defer cancel()
		inner, cancel := timeout(outer, time.Hour)
		defer cancel()
		early, cancel := timeout(outer, 10*time.Millisecond)
		defer cancel()
		other, cancel := context.WithCancel(outer)
		defer cancel()
		own, cancel := timeout(other, time.Hour)
		defer cancel()
		apart, cancel := timeout(context.WithoutCancel(outer), time.Hour)
		defer cancel()
		at, cancel := timeout(outer, 0)
		defer cancel()
		before, cancel := timeout(at, -time.Second)
		defer cancel()
		past, cancel := timeout(outer, -time.Second)
		defer cancel()
		text := ""
		say := func() {
			for _, ctx := range []context.Context{outer, ended, inner, early, own, apart, at, before, past} {
				at, _ := ctx.Deadline()
				text += fmt.Sprintln(ctx.Err(), context.Cause(ctx), at.Sub(begin).Round(time.Millisecond))
			}
			text += fmt.Sprintln(context.Cause(between), context.Cause(other))
		}
		say()
		end()
		sleep(15 * time.Millisecond)
		say()
		sleep(15 * time.Millisecond)
		say()
		return text
	}
	var want, got string
	synctest.Test(t, func(t *testing.T) { want = program(context.WithTimeout, time.Now, time.Sleep) })
	s := start(t, 1, func(s *script, c *Client) {
		got = program(c.Env().WithTimeout, c.Env().Now, func(d time.Duration) { c.Env().Sleep(context.Background(), d) })
	})
	s.rest()
	if got != want {
		t.Errorf("%s\nexpected, as of package context,\n%s", got, want)
	}
}

func TestTheLongestTimeoutEndsLast(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		c.Env().Sleep(context.Background(), time.Second)
		ctx, cancel := c.Env().WithTimeout(context.Background(), math.MaxInt64)
		defer cancel()
		if at, _ := ctx.Deadline(); at.Before(c.Env().Now()) {
			t.Errorf("it ends at %v, which has been", at)
		}
	})
	s.rest()
}

func TestCoroutinesOfAClientHaveDifferentNames(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		for _, name := range []string{"a", "a", "a.2", "", "b", "a"} {
			c.Env().Go(name, func() { c.rests(); c.rests() })
		}
	})
	s.do("run c1")
	names := s.w.clients[0].coroutines
	var got []string
	for _, g := range names {
		got = append(got, s.w.clients[0].names[g.name])
	}
	if want := []string{"a", "a.2", "a.2.2", ".2", "b", "a.3"}; !slices.Equal(got, want) {
		t.Errorf("names are %q, want %q", got, want)
	}
}

func TestTheStepLimitEndsARunThatNeverEnds(t *testing.T) {
	w := NewWorld()
	defer w.Close()
	w.Reset(Config{Clients: 1, MaxSteps: 100, Order: 1}, nil, func(c *Client) {
		for {
			c.rests()
		}
	})
	if err := w.Run(&Replay{}); err != nil || w.History.Outcome != history.StepLimit || w.Step() != 100 {
		t.Errorf("%v, outcome %v after %d steps", err, w.History.Outcome, w.Step())
	}
}

func TestClosingAWorldLeavesNoGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	program := func(c *Client) {
		for _, n := range []string{"x", "y"} {
			c.Env().Go(n, func() { c.Env().Await(context.Background(), nil) })
		}
		c.Conn().Get("/d")
	}
	for _, run := range []func(w *World){
		func(w *World) {},                   // never run
		func(w *World) { w.Run(&Replay{}) }, // to its end
		func(w *World) { w.Run(&Replay{Names: []string{"run c1", "nonsense"}}) },
		func(w *World) { // given up half-way, then used again
			t, _, _ := (&Replay{Names: []string{"run c1"}}).Choose(w)
			w.apply(t)
			w.Reset(Config{Clients: 1}, nil, program)
		},
	} {
		w := NewWorld()
		w.Reset(Config{Clients: 2}, nil, program)
		run(w)
		w.Close()
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

func TestWaitingNamesTheWatchesThatCanNeverFire(t *testing.T) {
	w := NewWorld()
	defer w.Close()
	w.Reset(Config{Clients: 1}, nil, func(c *Client) {
		_, _, a, _ := c.Conn().ExistsW("/a")
		_, _, b, _ := c.Conn().ExistsW("/b")
		c.Env().Go("watcher", func() { c.Env().Await(context.Background(), a, b) })
	})
	if err := w.Run(&Replay{}); err != nil {
		t.Fatal(err)
	}
	h := w.History
	if len(h.Waiting) != 1 || h.Waiting[0].Where != "watcher" || !slices.Equal(h.Waiting[0].Paths, []string{"/a", "/b"}) {
		t.Errorf("waiting: %v", h.Waiting)
	}
	if !h.Finished[1] || h.Outcome != history.Quiet {
		t.Errorf("finished %v, outcome %v", h.Finished, h.Outcome)
	}
}

func TestAScheduleThatDoesNotFitSaysWhatWasPossible(t *testing.T) {
	for _, x := range []struct {
		names []string
		want  string
	}{
		{[]string{"run c1", "serve c1"}, `step 2: "serve c1" is not possible here; possible: connect c1 s1, calm`},
		{[]string{"calm", "run c1", "connect c1 s1", "serve c1", "deliver c1", "tick"},
			`step 6: "tick" is not possible here; possible: nothing, the run is over`},
		{[]string{"conect c1 s1"}, `step 1: "conect c1 s1" is not possible here; possible: run c1, connect c1 s1; nearest: ` +
			`connect c1 s1`},
		{[]string{"connect c1 s2"}, `step 1: "connect c1 s2" is not possible here; possible: run c1, connect c1 s1; ` +
			`nearest: connect c1 s1`},
		{[]string{"connect c1 s1", "run c2"}, `step 2: "run c2" is not possible here; possible: run c1`},
		{[]string{""}, `step 1: "" is not possible here; possible: run c1, connect c1 s1`},
	} {
		w := NewWorld()
		w.Reset(Config{Clients: 1}, nil, func(c *Client) { c.Conn().Get("/") })
		err := w.Run(&Replay{Names: x.names})
		var stale *NotEnabledError
		if !errors.As(err, &stale) || w.History.Outcome != history.Stopped {
			t.Errorf("%v, outcome %v", err, w.History.Outcome)
		} else if err.Error() != x.want && err.Error() != strings.TrimSuffix(x.want, ", calm") {
			t.Errorf("got  %v\nwant %s", err, x.want)
		}
		w.Close()
	}
}
