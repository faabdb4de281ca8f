package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
)

// script drives a world by the names of transitions, the way a schedule does,
// and collects what the clients' programs say.
type script struct {
	t     testing.TB
	w     *World
	lines []string
}

// program is one client's code in a script.
type program func(s *script, c *Client)

// start makes a world with one client per program.
func start(t testing.TB, servers int, programs ...program) *script {
	t.Helper()
	return startLike(t, model.ZooKeeper, servers, programs...)
}

// startLike is start with such servers.
func startLike(t testing.TB, like model.Like, servers int, programs ...program) *script {
	t.Helper()
	s := &script{t: t, w: NewWorld()}
	t.Cleanup(func() {
		s.w.conclude(history.Stopped)
		s.w.Close()
	})
	s.w.Reset(Config{Clients: len(programs), Servers: servers, Order: 5, Like: like}, &hand{}, func(c *Client) {
		programs[c.id-1](s, c)
	})
	s.w.Prepare(model.Request{Op: model.OpCreate, Path: "/d", ACL: open})
	return s
}

// say notes what a program has seen.
func (s *script) say(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// do makes the named transitions happen; a name may be several, separated by
// commas.
func (s *script) do(names ...string) {
	s.t.Helper()
	for _, line := range names {
		for _, name := range strings.Split(line, ", ") {
			if !s.try(name) {
				s.t.Fatalf("%q is not possible; possible: %s", name, strings.Join(s.possible(), ", "))
			}
		}
	}
}

// try makes one transition happen if it is possible.
func (s *script) try(name string) bool {
	for _, list := range [][]Transition{s.w.Normal(), s.w.Faults()} {
		for _, t := range list {
			if s.w.Name(t) == name {
				s.step(t)
				return true
			}
		}
	}
	return false
}

func (s *script) step(t Transition) {
	w := s.w
	w.perform(t)
	if w.panicked != "" {
		s.t.Fatalf("a program panicked: %s", w.panicked)
	}
}

func (s *script) possible() []string {
	var names []string
	for _, list := range [][]Transition{s.w.Normal(), s.w.Faults()} {
		for _, t := range list {
			names = append(names, s.w.Name(t))
		}
	}
	return names
}

// can reports whether a transition is possible.
func (s *script) can(name string) bool { return slices.Contains(s.possible(), name) }

// alone lets a client and its servers work until it has nothing to do.
func (s *script) alone(client string) {
	s.t.Helper()
	for range 1000 {
		if !s.first("run "+client, "deliver "+client, "serve "+client, "connect "+client+" s1", "round "+client,
			"connect "+client+" s2") {
			return
		}
	}
	s.t.Fatalf("%s does not come to rest", client)
}

func (s *script) first(names ...string) bool {
	for _, n := range names {
		if s.try(n) {
			return true
		}
	}
	return false
}

// rest completes the run as a replay does.
func (s *script) rest() {
	s.t.Helper()
	r := &Replay{}
	for range 5000 {
		t, more, _ := r.Choose(s.w)
		if !more {
			return
		}
		s.step(t)
	}
	s.t.Fatal("the run does not end")
}

// want checks all that was said since the last want.
func (s *script) want(lines ...string) {
	s.t.Helper()
	if !slices.Equal(s.lines, lines) {
		s.t.Fatalf("the programs said\n\t%s\nwant\n\t%s", strings.Join(s.lines, "\n\t"), strings.Join(lines, "\n\t"))
	}
	s.lines = nil
}

// wantMade checks which znodes were created since the set-up, deleted or not.
func (s *script) wantMade(want ...string) {
	s.t.Helper()
	var got []string
	for _, e := range s.w.History.Events {
		if e.Kind == history.Created && e.Path != "/d" {
			got = append(got, e.Path)
		}
	}
	if !slices.Equal(got, want) {
		s.t.Fatalf("created were %q, want %q", got, want)
	}
}

// rests is a scheduling point: the program goes on with "run".
func (c *Client) rests() { c.yield() }

// next waits for the next event of a watch and describes it.
func (c *Client) next(ch <-chan zk.Event) string {
	_, ev, _ := c.Env().Await(context.Background(), ch)
	return eventText(ev)
}

// now describes the event that a watch channel holds, without waiting.
func now(ch <-chan zk.Event) string {
	select {
	case ev, ok := <-ch:
		if !ok {
			return "closed"
		}
		return eventText(ev)
	default:
		return "silent"
	}
}

func eventText(ev zk.Event) string {
	s := strings.TrimSpace(history.EventName(ev.Type) + " " + ev.Path)
	if ev.Err != nil {
		s += ": " + ev.Err.Error()
	}
	return s
}

// hand is an injector without conditions: what a test asks for happens.
type hand struct{}

var handVerbs = []string{"cut", "drop", "end", "pause", "delay", "crash", "freeze", "cancel"}

func (h *hand) Verb(k Kind) string { return handVerbs[k-FirstFault] }

func (h *hand) Fingerprint() uint64 { return 0 }

func (h *hand) Issued(*Client, *model.Request) {}

func (h *hand) Moved(_ *Client, _, _ *model.Request) {}

func (h *hand) Aimed(*Client, *model.Request) uint64 { return 0 }

func (h *hand) Enabled(w *World, list []Transition) []Transition {
	for _, c := range w.clients {
		for i, ok := range []bool{c.connected, c.connected, c.HasSession(), c.Alive() && !c.paused, !c.slow, c.Alive(),
			c.connected && c.server > 0, c.Interruptible()} {
			if ok {
				list = append(list, Transition{FirstFault + Kind(i), uint32(c.id), 0})
			}
		}
	}
	return list
}

func (h *hand) Apply(w *World, t Transition) {
	c := w.clients[t.Client-1]
	switch handVerbs[t.Kind-FirstFault] {
	case "cut":
		c.Cut()
	case "drop":
		c.Drop()
	case "end":
		c.Expire()
	case "pause":
		c.Pause()
	case "delay":
		c.Delay()
	case "crash":
		c.Crash()
	case "freeze":
		w.Freeze(c.server)
	case "cancel":
		c.Interrupt()
	}
}
