package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// The programs here are as small as they can be, and each depends on something that a
// reduction or a fingerprint could overlook: a search that does loses outcomes.

var world = zk.WorldACL(zk.PermAll)

// tiny is a scope of a program.
type tiny struct {
	name    string
	faults  string
	servers int
	clients int
	ticks   int
	program func(p *engine.Process)
	least   int // outcomes there are at least
	checker checkers.Checker
}

// outrun finds a history violated in which c2 asks after c1 has written, and is told the past, and then the present:
// only a server that applies a txn while somebody is connected to it makes that possible.
type outrun struct{ checkers.Liveness }

func (outrun) Monitor() checkers.Monitor { return &words{} }

// words are what was told.
type words struct{ list []string }

func (m *words) Step(h *history.History, i int) checkers.Verdict {
	m.list = append(m.list, h.Events[i].Op)
	return checkers.Verdict{}
}

func (m *words) Sees(k history.Kind) bool { return k == history.Told }
func (m *words) Reset()                   { m.list = m.list[:0] }

func (outrun) Check(h *history.History) checkers.Verdict {
	var told []string
	for _, e := range h.Events {
		if e.Kind == history.Told {
			told = append(told, e.Op)
		}
	}
	if slices.Equal(told, []string{"<nil>", "now", `"" <nil>`, `"x" <nil>`}) {
		return checkers.Verdict{Level: checkers.Violated, Checker: "outrun", Message: "the past, and then the present"}
	}
	return checkers.Verdict{}
}

func (x tiny) scope(t testing.TB) Scope {
	s := engine.Scenario{Name: "tiny/" + x.name, Clients: max(2, x.clients), Program: x.program,
		Setup:    []model.Request{{Op: model.OpCreate, Path: "/d", ACL: world}, {Op: model.OpCreate, Path: "/w", ACL: world}},
		Checkers: []checkers.Checker{checkers.Liveness{}}}
	if x.checker != nil {
		s.Checkers = append(s.Checkers, x.checker)
	}
	return Scope{Scenario: &s, Servers: max(1, x.servers), Order: 1, Faults: plan(t, x.faults), Most: -1, Ticks: x.ticks}
}

// say records a word of the program.
func say(o engine.Object, format string, args ...any) {
	o.Record(history.Event{Kind: history.Told, Op: fmt.Sprintf(format, args...)})
}

func register(p *engine.Process) engine.Object {
	return p.Register(nil)
}

// stubborn tries again until the connection answers.
func stubborn(f func() error) {
	for range 20 {
		err := f()
		if !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrNoServer) &&
			!errors.Is(err, zk.ErrSessionExpired) {
			return
		}
	}
}

var tinies = []tiny{
	{name: "race", least: 2, program: func(p *engine.Process) {
		o := register(p)
		_, err := p.Conn.Create("/d/x", []byte{byte(p.ID)}, 0, world)
		say(o, "%v", err)
	}},
	{name: "choose", least: 12, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			say(o, "%d", p.Choose(3)+10*p.Choose(2))
			p.Conn.Set("/d", []byte("x"), -1)
			return
		}
		data, _, _ := p.Conn.Get("/d")
		say(o, "%s", data)
	}},
	{name: "choose-and-cut", faults: "disconnect=1", least: 3, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 && p.Choose(2) > 0 {
			say(o, "%v", p.Conn.Delete("/w", -1))
		}
	}},
	{name: "write-read", least: 3, program: func(p *engine.Process) {
		o := register(p)
		p.Conn.Set("/d", []byte(fmt.Sprint("c", p.ID)), -1)
		data, _, err := p.Conn.Get("/d")
		say(o, "%s %v", data, err)
	}},
	{name: "watch", least: 2, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
			return
		}
		data, _, ch, _ := p.Conn.GetW("/d")
		say(o, "%s", data)
		if len(data) == 0 {
			_, ev, _ := p.Env.Await(context.Background(), ch)
			say(o, "%v", ev.Type)
		}
	}},
	{name: "number-of-children", clients: 3, least: 6, program: func(p *engine.Process) {
		o := register(p)
		if p.ID < 3 {
			name := fmt.Sprint("/d/", p.ID)
			p.Conn.Create(name, nil, 0, world)
			p.Conn.Delete(name, -1)
			return
		}
		_, stat, _ := p.Conn.Exists("/d")
		say(o, "version %d, %d children", stat.Cversion, stat.NumChildren)
	}},
	{name: "length", clients: 3, least: 3, program: func(p *engine.Process) {
		o := register(p)
		switch p.ID {
		case 1:
			p.Conn.Set("/d", []byte("x"), -1)
		case 2:
			_, stat, _ := p.Conn.Exists("/d")
			say(o, "%d bytes", stat.DataLength)
		case 3:
			p.Conn.Set("/d", []byte("xyz"), -1)
		}
	}},
	{name: "polled-session", faults: "disconnect=1", least: 2, program: func(p *engine.Process) {
		o := register(p)
		stubborn(func() error { _, _, err := p.Conn.Get("/d"); return err })
		if p.ID != 1 {
			return
		}
		ch := p.Env.SessionEvents()
		for range 2 {
			p.Step()
			say(o, "%v, %d events", p.Conn.State(), len(ch))
		}
	}},
	{name: "polled-context", faults: "cancel=1", least: 2, program: func(p *engine.Process) {
		o := register(p)
		ctx, end := p.Interruptible()
		defer end()
		for range 3 {
			p.Step()
			say(o, "%v", ctx.Err())
		}
	}},
	{name: "expiry-moves-time", faults: "crash=1", least: 3, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			p.Conn.Create("/d/x", nil, 0, world)
			return
		}
		begin := p.Env.Now()
		say(o, "%v", p.Env.Now().Sub(begin))
		say(o, "%v", p.Env.Now().Sub(begin))
	}},
	{name: "same-deadline", least: 2, program: func(p *engine.Process) {
		o := register(p)
		p.Conn.Exists("/d")
		p.Env.Sleep(context.Background(), time.Second)
		_, err := p.Conn.Create("/d/x", nil, 0, world)
		say(o, "%v", err)
	}},
	{name: "sleeps-no-time", least: 2, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
			return
		}
		p.Env.Sleep(context.Background(), 0)
		data, _, _ := p.Conn.Get("/d")
		say(o, "%s", data)
	}},
	{name: "patience", ticks: 1, least: 2, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
			return
		}
		_, _, ch, _ := p.Conn.GetW("/d")
		ctx, cancel := p.Env.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _, err := p.Env.Await(ctx, ch)
		say(o, "%v", err)
	}},
	// that of c1 is, if the other's has fired by then
	{name: "later-timer", ticks: 1, least: 2, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			_, _, ch, _ := p.Conn.ExistsW("/d/x")
			p.Conn.Create("/d/a", nil, 0, world)
			ctx, cancel := p.Env.WithTimeout(context.Background(), 4*time.Second)
			defer cancel()
			_, _, err := p.Env.Await(ctx, ch)
			say(o, "%v", err)
			return
		}
		if exists, _, ch, _ := p.Conn.ExistsW("/d/a"); !exists {
			p.Env.Await(context.Background(), ch)
		}
		p.Env.Sleep(context.Background(), 5*time.Second)
		p.Conn.Create("/d/x", nil, 0, world)
	}},
	{name: "hurry", faults: "disconnect=1", ticks: 2, least: 4, program: func(p *engine.Process) {
		o := register(p)
		ctx, cancel := p.Env.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := p.Conn.Set("/d", []byte(fmt.Sprint(p.ID)), -1)
		say(o, "%v %v", err, ctx.Err())
		data, _, err := p.Conn.Get("/d")
		say(o, "%s %v %v", data, err, ctx.Err())
	}},
	// when the time was up, of a context that has ended since
	{name: "deadline-gone-by", ticks: 3, least: 7, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			p.Env.Sleep(context.Background(), 500*time.Millisecond)
			p.Env.Sleep(context.Background(), 1500*time.Millisecond)
			return
		}
		p.Step()
		ctx, cancel := p.Env.WithTimeout(context.Background(), time.Second)
		defer cancel()
		p.Step()
		if now := p.Env.Now(); ctx.Err() != nil {
			end, _ := ctx.Deadline()
			say(o, "%v before %v s", now.Sub(end), now.Second())
		}
	}},
	{name: "late-or-cancelled", faults: "cancel=1", ticks: 1, least: 4, program: func(p *engine.Process) {
		o := register(p)
		outer, end := p.Interruptible()
		defer end()
		inner, cancel := p.Env.WithTimeout(outer, time.Second)
		defer cancel()
		p.Conn.Exists("/d")
		say(o, "%v %v", inner.Err(), outer.Err())
	}},
	{name: "ttl", faults: "crash=1@client=c2", least: 2, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			p.Conn.CreateTTL("/d/x", nil, zk.FlagTTL, world, time.Second)
		}
		found, _, _ := p.Conn.Exists("/d/x")
		say(o, "%v", found)
	}},
	{name: "may-it-hear", least: 2, program: func(p *engine.Process) { // only who has authenticated itself by then
		o := register(p)
		if p.ID == 1 {
			_, err := p.Conn.Create("/d/x", nil, 0, zk.DigestACL(zk.PermAll, "user", "password"))
			say(o, "%v", err)
			return
		}
		_, _, ch, _ := p.Conn.ExistsW("/d/x")
		p.Conn.AddAuth("digest", []byte("user:password"))
		ctx, cancel := p.Env.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, ev, err := p.Env.Await(ctx, ch)
		say(o, "%v %v", ev.Type, err)
	}},
	{name: "failover", faults: "failover=1", servers: 3, least: 2, program: func(p *engine.Process) {
		o := register(p)
		_, err := p.Conn.Create(fmt.Sprint("/d/", p.ID), nil, 0, world)
		say(o, "%v", err)
		_, _, err = p.Conn.Get("/d")
		say(o, "%v", err)
	}},
	{name: "behind", servers: 3, least: 4, checker: outrun{}, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			_, err := p.Conn.Set("/d", []byte("x"), -1)
			say(o, "%v", err)
			return
		}
		p.Conn.Get("/w")
		say(o, "now")
		for range 2 {
			data, _, err := p.Conn.Get("/d")
			say(o, "%q %v", data, err)
		}
	}},
	{name: "two-rules", faults: "disconnect=1 disconnect=1@client=c1", least: 8, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			_, err := p.Conn.Set("/d", []byte("x"), -1)
			say(o, "%v", err)
			return
		}
		_, _, ch, err := p.Conn.GetW("/d")
		if err == nil {
			p.Env.Await(context.Background(), ch)
		}
		_, _, err = p.Conn.Get("/d")
		say(o, "%v", err)
	}},
	{name: "rearmed", faults: "disconnect=2", least: 3, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			stubborn(func() error { _, err := p.Conn.Set("/d", []byte("x"), -1); return err })
			return
		}
		var ch <-chan zk.Event
		stubborn(func() (err error) { _, _, ch, err = p.Conn.GetW("/d"); return err })
		if ch != nil {
			_, ev, _ := p.Env.Await(context.Background(), ch)
			say(o, "%v %v", ev.Type, ev.Err)
		}
		_, err := p.Conn.Set("/w", nil, -1)
		say(o, "%v", err)
	}},
	// the first watch can fire the second one
	{name: "dropped", faults: "disconnect=1", least: 4, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
			return
		}
		look := func() (data []byte, ch <-chan zk.Event) {
			stubborn(func() (err error) { data, _, ch, err = p.Conn.GetW("/d"); return err })
			return data, ch
		}
		func() {
			defer recipes.Forget(p.Env)()
			look()
		}()
		data, ch := look()
		_, ev, _ := p.Env.Await(context.Background(), ch)
		say(o, "%s %v", data, ev.Type)
	}},
	{name: "untold", least: 2, program: func(p *engine.Process) { // the channel is kept, though nobody says so
		o := register(p)
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
			return
		}
		var ch <-chan zk.Event
		func() {
			defer recipes.Forget(p.Env)()
			stubborn(func() (err error) { _, _, ch, err = p.Conn.GetW("/d"); return err })
		}()
		_, _, err := p.Conn.Exists("/w")
		say(o, "%v", err)
		_, ev, _ := p.Env.Await(context.Background(), ch)
		say(o, "%v", ev.Type)
	}},
	// what else may end a context with a deadline, and when that is, to the nanosecond
	{name: "kept-context", faults: "cancel=1@client=c2", least: 4, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
			p.Conn.Set("/d", []byte("xx"), -1)
			return
		}
		ctx, end := p.Interruptible()
		defer end()
		piece := recipes.Forget(p.Env)
		data, _, _ := p.Conn.Get("/d")
		if len(data) == 2 {
			ctx = context.Background()
		}
		ctx, _ = p.Env.WithTimeout(ctx, time.Second-time.Duration(len(data)%2))
		piece(&ctx)
		p.Conn.Exists("/w")
		at, _ := ctx.Deadline()
		say(o, "%v %v", ctx.Err(), at)
	}},
	{name: "gives-up-in-a-piece", least: 2, program: func(p *engine.Process) {
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
			return
		}
		piece := recipes.Forget(p.Env)
		if data, _, _ := p.Conn.Get("/d"); len(data) > 0 {
			p.Fail(errors.New("somebody has written"))
		}
		piece()
		p.Conn.Exists("/w")
	}},
	{name: "answers-for-a-znode-in-a-piece", least: 2, checker: checkers.Tree{}, program: func(p *engine.Process) {
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
			return
		}
		p.Conn.Create("/d/x", nil, zk.FlagEphemeral, world)
		piece := recipes.Forget(p.Env)
		if data, _, _ := p.Conn.Get("/d"); len(data) > 0 {
			p.Register(func() []string { return []string{"/d/x"} })
		}
		piece()
		p.Conn.Exists("/w")
	}},
	// main goes on with an answer, and looks at what the other goroutine has written and soon forgets
	{name: "looked-at", least: 2, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
			return
		}
		recipes.Forget(p.Env)()
		var written string
		p.Env.Go("writer", func() {
			data, _, _ := p.Conn.Get("/d")
			written = string(data)
			p.Conn.Exists("/w")
			written = ""
			recipes.Keep(p.Env)
			p.Conn.Exists("/w")
			p.Env.Await(context.Background())
		})
		p.Conn.Exists("/w")
		p.Conn.Exists("/w")
		seen := written
		for range 3 {
			p.Conn.Exists("/w")
		}
		say(o, "%q", seen)
	}},
	{name: "expiry", faults: "disconnect=1 expire=1 learn-late=1", least: 3, program: func(p *engine.Process) {
		o := register(p)
		path := fmt.Sprint("/d/e", p.ID)
		_, err := p.Conn.Create(path, nil, zk.FlagEphemeral, world)
		say(o, "%v", err)
		found, _, err := p.Conn.Exists(fmt.Sprint("/d/e", 3-p.ID))
		say(o, "%v %v", found, err)
	}},
	{name: "pause", faults: "pause=1 crash=1", least: 3, program: func(p *engine.Process) {
		o := register(p)
		p.Conn.Set("/d", []byte(fmt.Sprint("c", p.ID)), -1)
		data, _, err := p.Conn.Get("/d")
		say(o, "%s %v", data, err)
	}},
	{name: "late-writes", faults: "disconnect=1 lose-reply=1", least: 3, program: func(p *engine.Process) {
		o := register(p)
		_, err := p.Conn.Create("/d/x", nil, 0, world)
		say(o, "%v", err)
		_, _, err = p.Conn.Get("/d/x")
		say(o, "%v", err)
	}},
	{name: "slow-answer", faults: "deliver-slow=1 learn-late=1", least: 2, program: func(p *engine.Process) {
		o := register(p)
		if p.ID == 1 {
			p.Conn.Get("/d")
			p.Step()
			_, err := p.Conn.Set("/d", nil, -1)
			say(o, "%v", err)
		}
	}},
}

// TestReductionsLoseNoOutcome compares searches on all tiny programs.
func TestReductionsLoseNoOutcome(t *testing.T) {
	for _, x := range tinies {
		t.Run(x.name, func(t *testing.T) {
			if x.servers > 1 && testing.Short() {
				t.Skip("takes long")
			}
			sc := x.scope(t)
			if n := sound(t, sc, 40_000, combinations()...); n < x.least {
				t.Errorf("%d outcomes, not %d", n, x.least)
			}
		})
	}
}

// TestCodeThatPollsHasFewStates proves a loop that forgets each time what it has seen, though it leaves a watch and
// asks for the session's next change, both of which it drops, and lets others move: none of that leaves a trace
// forever.
func TestCodeThatPollsHasFewStates(t *testing.T) {
	x := tiny{name: "poll", faults: "disconnect=1", program: func(p *engine.Process) {
		if p.ID == 1 {
			stubborn(func() error { _, err := p.Conn.Set("/d", []byte("x"), -1); return err })
			return
		}
		defer recipes.Forget(p.Env)()
		for found := false; !found; {
			recipes.Keep(p.Env)
			p.Env.SessionEvents()
			data, _, _, err := p.Conn.GetW("/d")
			found = err == nil && string(data) == "x"
			p.Step()
		}
	}}
	res, err := Prove(t.Context(), x.scope(t), Options{Reductions: Every, States: 2000})
	if err != nil || res.Outcome != Holds {
		t.Fatal(res.Certificate.String(), err)
	}
	if last := res.Levels[len(res.Levels)-1]; last.States > 1000 || last.Schedules == 0 {
		t.Error(res.Certificate.String())
	}
}
