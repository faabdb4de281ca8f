package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// TestAPlanThatCanNeverStrikeIsNoProof has a session that is to end although its client never loses its connection.
func TestAPlanThatCanNeverStrikeIsNoProof(t *testing.T) {
	sc := about(t, "lock/lock", "expire=1", -1)
	r := certify(t, sc, Options{Reductions: Every})
	want := "no fault of the plan can ever strike: expire needs a client without a connection"
	if r.Outcome != Inconclusive || !strings.HasPrefix(r.Why, want) {
		t.Errorf("%v: %s", r.Outcome, r.Why)
	}
}

// TestAWordThatNoCheckerKnowsIsAnError has an operation by another name than the checkers expect.
func TestAWordThatNoCheckerKnowsIsAnError(t *testing.T) {
	s := &engine.Scenario{Name: "tiny/word", Clients: 2, Checkers: []checkers.Checker{checkers.Belief{}},
		Program: func(p *engine.Process) { register(p).Invoke("tryacquire") }}
	_, err := Prove(t.Context(), Scope{Scenario: s, Servers: 1, Order: 1, Most: -1}, Options{Reductions: Every})
	if err == nil || !strings.Contains(err.Error(), `no checker knows the operation "tryacquire"`) {
		t.Error(err)
	}
}

// keeping are pieces of code that say all that they keep, in values that a careless reader takes for the same. Each
// is given whether c1 has written, and returns what tells of it after the piece.
var keeping = map[string]func(forget func(kept ...any), wrote bool) func() string{
	"a struct that embeds a context": func(forget func(...any), wrote bool) func() string {
		j := &struct {
			context.Context
			n int
		}{Context: context.Background(), n: number(wrote)}
		forget(j)
		return func() string { return strings.Repeat("x", j.n) }
	},
	"what is in a channel": func(forget func(...any), wrote bool) func() string {
		ch := make(chan int, 1)
		ch <- number(wrote)
		forget(&ch)
		return func() string { return strings.Repeat("x", <-ch) }
	},
	"which of two channels": func(forget func(...any), wrote bool) func() string {
		a, b := make(chan zk.Event, 1), make(chan zk.Event, 1)
		ch := a
		if wrote {
			ch = b
		}
		forget(&a, &b, &ch)
		return func() string { a <- zk.Event{}; return strings.Repeat("x", len(ch)) }
	},
	"a pointer into a slice": func(forget func(...any), wrote bool) func() string {
		list := make([]struct{ n int }, 2)
		cur := &list[number(wrote)]
		forget(&list, &cur)
		return func() string { cur.n = 1; return strings.Repeat("x", list[0].n) }
	},
	"a pointer into its own struct": func(forget func(...any), wrote bool) func() string {
		var l struct {
			mine, theirs int
			cur          *int
		}
		if l.cur = &l.mine; wrote {
			l.cur = &l.theirs
		}
		forget(&l)
		return func() string { *l.cur = 1; return strings.Repeat("x", l.mine) }
	},
	"which of two maps": func(forget func(...any), wrote bool) func() string {
		a, b := map[string]int{}, map[string]int{}
		if wrote {
			b = a
		}
		forget(&a, &b)
		return func() string { a["k"] = 1; return strings.Repeat("x", len(b)) }
	},
	"an error and its text": func(forget func(...any), wrote bool) func() string {
		err := zk.ErrNoNode
		if wrote {
			err = fmt.Errorf("%v", zk.ErrNoNode)
		}
		forget(&err)
		return func() string { return fmt.Sprint(err == zk.ErrNoNode) }
	},
	"the type of a value": func(forget func(...any), wrote bool) func() string {
		var x any = struct{}{}
		if wrote {
			x = [0]int{}
		}
		forget(x)
		return func() string { return fmt.Sprintf("%T", x) }
	},
	"how many there are": func(forget func(...any), wrote bool) func() string {
		list := []any{nil, nil}[:number(wrote)]
		forget(list...)
		return func() string { return fmt.Sprint(len(list)) }
	},
	"a cause": func(forget func(...any), wrote bool) func() string {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(fmt.Errorf(map[bool]string{false: "%w", true: "%v"}[wrote], zk.ErrNoNode))
		forget(&ctx)
		return func() string { return fmt.Sprint(errors.Is(context.Cause(ctx), zk.ErrNoNode)) }
	},
	"a map by structs": func(forget func(...any), wrote bool) func() string {
		m := map[struct{ a, b int }]bool{{number(wrote), 1}: true, {2, 2}: true}
		forget(&m)
		return func() string { return map[bool]string{true: "x"}[m[struct{ a, b int }{1, 1}]] }
	},
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestWhatIsKeptIsReadInFull compares searches of programs that keep something of what they have read.
func TestWhatIsKeptIsReadInFull(t *testing.T) {
	for name, keep := range keeping {
		x := tiny{name: "keeps", program: func(p *engine.Process) {
			o := register(p)
			if p.ID == 1 {
				p.Conn.Set("/d", []byte("x"), -1)
				return
			}
			forget := recipes.Forget(p.Env)
			data, _, _ := p.Conn.Get("/d")
			tell := keep(forget, len(data) > 0)
			p.Conn.Exists("/w")
			say(o, "%q", tell())
		}}
		sc := x.scope(t)
		if n := sound(t, sc, 40_000, combinations()...); n != 2 {
			t.Errorf("%s: %d outcomes, not 2", name, n)
		}
	}
}

// one and other return values of different types that have one name.
func one() any {
	type local struct{}
	return local{}
}

func other() any {
	type local struct{}
	return local{}
}

// TestWhatCannotBeKeptIsRefused keeps a map that can hold anything, and types of one name.
func TestWhatCannotBeKeptIsRefused(t *testing.T) {
	var m sync.Map
	m.Store("x", 1)
	for want, kept := range map[string][]any{ // order-free: each by itself
		"which can point to anything": {&m},
		"two types are called zksim/scenarios/prove.local, as in two functions of a package": {one(), other()},
	} {
		x := tiny{name: "keeps", program: func(p *engine.Process) { recipes.Forget(p.Env)(kept...) }}
		_, err := Prove(t.Context(), x.scope(t), Options{Reductions: Every})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}

// TestTheOrderInWhichGoroutinesWriteCounts has three goroutines that append to one text, while other code of the
// client has forgotten something.
func TestTheOrderInWhichGoroutinesWriteCounts(t *testing.T) {
	x := tiny{name: "writers", clients: 3, program: func(p *engine.Process) {
		o := register(p)
		if p.ID > 1 {
			p.Conn.Delete([]string{"/d", "/w"}[p.ID-2], -1)
			return
		}
		recipes.Forget(p.Env)()
		text := ""
		for i, path := range []string{"/d", "/w"} {
			p.Env.Go(path[1:], func() {
				if _, _, ch, err := p.Conn.GetW(path); err == nil {
					p.Env.Await(context.Background(), ch)
				}
				text += string(rune('a' + i))
				p.Env.Await(context.Background(), make(chan zk.Event))
			})
		}
		p.Env.Sleep(context.Background(), 1e9)
		say(o, "%s", text)
	}}
	if n := sound(t, x.scope(t), 40_000, combinations()...); n < 2 {
		t.Errorf("%d outcomes, not 2 or more", n)
	}
}

// swapped finds that the object that tells something first does so again.
type swapped struct{ checkers.Liveness }

func (swapped) Name() string              { return "swapped" }
func (swapped) Monitor() checkers.Monitor { return &twice{} }
func (c swapped) Check(h *history.History) checkers.Verdict {
	m := &twice{}
	for i, e := range h.Events {
		if v := m.Step(h, i); e.Kind == history.Told && v.Level != checkers.OK {
			return v
		}
	}
	return checkers.Verdict{}
}

// twice remembers the objects that have told something.
type twice struct{ told []int32 }

func (m *twice) Sees(k history.Kind) bool { return k == history.Told }
func (m *twice) Reset()                   { m.told = nil }
func (m *twice) Step(h *history.History, i int) checkers.Verdict {
	e := &h.Events[i]
	if e.Kind != history.Told {
		return checkers.Verdict{}
	}
	if slices.Contains(m.told, e.Object) {
		return checkers.Verdict{Level: checkers.Violated, Checker: "swapped", Message: "an object tells twice", Event: i}
	}
	m.told = append(m.told, e.Object)
	return checkers.Verdict{}
}

// TestObjectsAreTheirClientsWhoeverIsHeardFirst has two objects, one of which tells something first.
func TestObjectsAreTheirClientsWhoeverIsHeardFirst(t *testing.T) {
	x := tiny{name: "objects", checker: swapped{}, program: func(p *engine.Process) {
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
			return
		}
		a, b := register(p), register(p)
		forget := recipes.Forget(p.Env)
		if data, _, _ := p.Conn.Get("/d"); len(data) > 0 {
			say(b, "first")
		} else {
			say(a, "first")
		}
		forget()
		p.Conn.Exists("/w")
		say(b, "second")
	}}
	r, err := Prove(t.Context(), x.scope(t), Options{Reductions: Every})
	if err != nil || r.Outcome != Violated {
		t.Errorf("%v, %v", &r.Certificate, err)
	}
}

// TestObjectsOfAClientAreTwoOnTwoConnections has each of two objects tell something once.
func TestObjectsOfAClientAreTwoOnTwoConnections(t *testing.T) {
	x := tiny{name: "connections", checker: swapped{}, program: func(p *engine.Process) {
		q, _ := p.Dial()
		say(register(p), "first")
		say(register(q), "second")
	}}
	sc := x.scope(t)
	sc.Scenario.Dials = 1
	r, err := Prove(t.Context(), sc, Options{Reductions: Every})
	if err != nil || r.Outcome != Holds {
		t.Errorf("%v, %v", &r.Certificate, err)
	}
}

// blind is a checker whose Check does not find what its monitor finds.
type blind struct{ swapped }

func (blind) Check(*history.History) checkers.Verdict { return checkers.Verdict{} }

// TestAMonitorThatFindsMoreThanItsCheckRefutesNothing has one object tell something twice.
func TestAMonitorThatFindsMoreThanItsCheckRefutesNothing(t *testing.T) {
	program := func(p *engine.Process) {
		o := register(p)
		say(o, "first")
		say(o, "second")
	}
	for _, c := range []checkers.Checker{swapped{}, blind{}} {
		x := tiny{name: "tells", checker: c, program: program}
		r, err := Prove(t.Context(), x.scope(t), Options{Reductions: Every})
		if _, is := c.(blind); err != nil || r.Outcome != map[bool]Outcome{true: Inconclusive, false: Violated}[is] ||
			is && !strings.Contains(r.Why, "an object tells twice, says its monitor, and its Check finds nothing") {
			t.Errorf("%T: %v, %v", c, &r.Certificate, err)
		}
	}
}

// TestOfAnObjectThatIsKeptItsPlaceAmongItsClientsCounts keeps one of two objects. Their numbers among all depend on
// which client has begun first.
func TestOfAnObjectThatIsKeptItsPlaceAmongItsClientsCounts(t *testing.T) {
	x := tiny{name: "keeps", program: func(p *engine.Process) {
		o, first := register(p), register(p)
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
			return
		}
		kept := first
		forget := recipes.Forget(p.Env)
		if data, _, _ := p.Conn.Get("/d"); len(data) > 0 {
			kept = o
		}
		forget(&kept)
		p.Conn.Exists("/w")
		say(o, "%v", kept == first)
	}}
	if n := sound(t, x.scope(t), 40_000, combinations()...); n != 2 {
		t.Errorf("%d outcomes, not 2", n)
	}
}

// TestAGoroutineKnowsWhatOuterCodeHasKept starts a goroutine in a piece of code within another one, whose caller
// forgets what both have seen; the goroutine acts on it later.
func TestAGoroutineKnowsWhatOuterCodeHasKept(t *testing.T) {
	x := tiny{name: "nested", program: func(p *engine.Process) {
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
			return
		}
		o := register(p)
		caller := recipes.Forget(p.Env)
		outer := recipes.Forget(p.Env)
		data, _, _ := p.Conn.Get("/d")
		inner := recipes.Forget(p.Env)
		p.Env.Go("later", func() {
			p.Conn.Exists("/w")
			say(o, "%q", data)
		})
		inner()
		outer(&data)
		caller()
		p.Conn.Exists("/w")
	}}
	if n := sound(t, x.scope(t), 40_000, combinations()...); n != 2 {
		t.Errorf("%d outcomes, not 2", n)
	}
}

// late makes a second connection, which takes its time.
func late(p *engine.Process) {
	q, _ := p.Dial()
	p.Step()
	p.Always("it is there at once", q.Conn.State() == zk.StateHasSession)
}

// struckToo makes a second connection, which faults strike as they do the first.
func struckToo(p *engine.Process) {
	if p.ID == 2 {
		p.Conn.Exists("/d")
		return
	}
	q, _ := p.Dial()
	_, _, err := q.Conn.Exists("/d")
	p.Always("it is never lost", err != zk.ErrConnectionClosed)
}

// TestSecondConnectionsAreStruckAndTakeTheirTime has what can go wrong there be found, within the scope.
func TestSecondConnectionsAreStruckAndTakeTheirTime(t *testing.T) {
	for _, x := range []struct {
		program func(p *engine.Process)
		clients int
		plan    string
		most    int
	}{{late, 1, "", -1}, {struckToo, 2, "disconnect=1@client=c1", 1}} {
		s := &engine.Scenario{Name: "tiny/dials", Clients: x.clients, Dials: 1, Program: x.program,
			Setup: []model.Request{engine.Mkdir("/d")}, Checkers: []checkers.Checker{checkers.Always{}}}
		sc := Scope{Scenario: s, Servers: 1, Order: 1, Most: x.most, Ticks: 1,
			Faults: faults.MustParse(cmp.Or(x.plan, "none"))}
		r, err := Prove(t.Context(), sc, Options{Reductions: Every, Samples: -1})
		if err != nil || r.Outcome != Violated {
			t.Errorf("%q: %v, %+v", x.plan, err, r.Certificate)
		}
	}
}

// drawing has two goroutines of c1 wait for the ends of their znodes, which come in either order and are forgotten, and
// then draw a name each.
func drawing(p *engine.Process) {
	if p.ID > 1 {
		p.Conn.Delete([]string{"/d/a", "/d/b"}[p.ID-2], -1)
		return
	}
	recipes.Forget(p.Env)()
	drawn := []chan zk.Event{make(chan zk.Event), make(chan zk.Event)}
	for i, path := range []string{"/d/a", "/d/b"} {
		p.Env.Go("drawer", func() {
			defer recipes.Forget(p.Env)()
			for {
				_, _, gone, err := p.Conn.GetW(path)
				if err != nil {
					break
				}
				p.Env.Await(context.Background(), gone)
				recipes.Keep(p.Env)
			}
			recipes.Keep(p.Env)
			name := p.Env.UUID()
			close(drawn[i])
			p.Env.Await(context.Background(), drawn[1-i])
			p.Conn.Exists(path)
			say(register(p), "%d %s", i, name)
		})
	}
}

// TestWhoDrawsWhichNameCounts has the first name drawn by either.
func TestWhoDrawsWhichNameCounts(t *testing.T) {
	x := tiny{name: "draws", clients: 3, program: drawing}
	sc := x.scope(t)
	sc.Scenario.Setup = append(sc.Scenario.Setup, engine.Mkdir("/d/a"), engine.Mkdir("/d/b"))
	if n := sound(t, sc, 400_000, combinations()...); n != 2 {
		t.Errorf("%d outcomes, not 2", n)
	}
}
