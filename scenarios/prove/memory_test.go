package prove

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/internal/hash"
	"zksim/model/history"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// TestMonitorsRememberByThemselves shows monitors histories of random runs of all scenarios, with what came
// before an event, and without: they may take nothing from there but words.
func TestMonitorsRememberByThemselves(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	for i := range catalog.All {
		s := &catalog.All[i]
		for _, c := range s.Checkers {
			if m, ok := c.(checkers.Monitored); ok && illegible(m.Monitor()) != "" {
				t.Errorf("%s: the monitor of %s: %s", s.Name, c.Name(), illegible(m.Monitor()))
			}
		}
		for seed := range uint64(budget(10, 20, 40)) {
			res := r.Seed(s, seed)
			for _, c := range s.Checkers {
				if m, ok := c.(checkers.Monitored); ok {
					apart(t, s.Name, m, res.History.Events)
				}
			}
		}
	}
}

// apart compares a monitor that sees the whole of a history with one that sees one event at a time.
func apart(t *testing.T, scenario string, c checkers.Monitored, events []history.Event) {
	t.Helper()
	whole := history.History{Events: events, Txns: true}
	alone := history.History{Events: make([]history.Event, len(events)), Txns: true}
	a, b := c.Monitor(), c.Monitor()
	for i, e := range events {
		if !checkers.Sees(a, e.Kind) {
			continue
		}
		alone.Events[i] = e
		v, w := a.Step(&whole, i), b.Step(&alone, i)
		alone.Events[i] = history.Event{}
		if v.Level != w.Level || remember(0, a) != remember(0, b) {
			t.Fatalf("%s: after event %d the monitor of %s says %v, and without those before it %v", scenario, i, c.Name(), v, w)
		}
		if v.Level != checkers.OK {
			return
		}
	}
}

// all holds everything that can be read.
type all struct {
	Flag    bool
	Small   int8
	Large   uint64
	Text    string
	List    []inner
	Array   [2]int
	Map     map[string]inner
	Skipped checkers.Constant[checkers.Checker]
}

type inner struct{ A, B int }

// TestRememberReadsEverything changes each part of a value.
func TestRememberReadsEverything(t *testing.T) {
	fresh := func() all {
		return all{List: []inner{{1, 2}, {3, 4}}, Map: map[string]inner{"a": {5, 6}, "b": {}}}
	}
	print := func(x all) hash.Hash { return readerOf(reflect.TypeOf(x))(0, reflect.ValueOf(x)) }
	if x := unread(reflect.TypeFor[all](), "all"); x != "" || print(fresh()) != print(fresh()) {
		t.Fatal("it cannot be read:", x)
	}
	seen := map[hash.Hash]int{print(fresh()): -1}
	for i, change := range []func(*all){
		func(x *all) { x.Flag = true },
		func(x *all) { x.Small = -1 },
		func(x *all) { x.Large = 1 },
		func(x *all) { x.Text = "a" },
		func(x *all) { x.List[1].B++ },
		func(x *all) { x.List = x.List[:1] },
		func(x *all) { x.List[0], x.List[1] = x.List[1], x.List[0] },
		func(x *all) { x.Array[1]++ },
		func(x *all) { x.Map["a"] = inner{5, 7} },
		func(x *all) { x.Map["a"], x.Map["b"] = x.Map["b"], x.Map["a"] },
		func(x *all) { delete(x.Map, "b") },
		func(x *all) { x.List = x.List[:0] },
		func(x *all) { clear(x.Map) },
	} {
		x := fresh()
		change(&x)
		if j, ok := seen[print(x)]; ok {
			t.Errorf("changes %d and %d give the same", i, j)
		}
		seen[print(x)] = i
	}
}

// list leads back to itself.
type list []list

// TestWhatCannotBeReadIsNamed has values that could hold anything.
func TestWhatCannotBeReadIsNamed(t *testing.T) {
	for want, x := range map[string]any{
		"x[], a prove.list, which contains itself": list{},
		"x.p is a *int":                     struct{ p *int }{},
		"x.f is a func()":                   struct{ f func() }{},
		"x.c is a chan int":                 struct{ c chan int }{},
		"x.x is a interface {}":             struct{ x any }{},
		"x.list[].f is a func()":            struct{ list []struct{ f func() } }{},
		"x.m[key].p is a *int":              struct{ m map[struct{ p *int }]int }{},
		"x.inside.latest is a func() int32": struct{ inside closure }{},
		"x.c is a checkers.Checker":         struct{ c checkers.Checker }{},
	} {
		if got := unread(reflect.TypeOf(x), "x"); got != want {
			t.Errorf("%T: %q, not %q", x, got, want)
		}
	}
}

// TestAMonitorThatCannotBeReadIsRefused proves with a monitor that keeps what it remembers in a function, and with one
// in which that one is embedded.
func TestAMonitorThatCannotBeReadIsRefused(t *testing.T) {
	for m, field := range map[checkers.Monitor]string{&closure{}: "prove.closure.latest is a func() int32",
		&embedding{}: "prove.embedding.closure.latest"} {
		s := small(t, "lock/lock")
		s.Checkers = append(slices.Clip(s.Checkers), secretive{monitor: m})
		_, err := Prove(t.Context(), Scope{Scenario: s, Servers: 1, Order: 1, Most: -1}, Options{Reductions: Every})
		if err == nil || !strings.Contains(err.Error(), "the monitor of checker liveness cannot be read: "+field) {
			t.Errorf("%T: %v", m, err)
		}
	}
}

// TestAnEmbeddedMonitorIsRemembered has a monitor that embeds another one, which remembers all.
func TestAnEmbeddedMonitorIsRemembered(t *testing.T) {
	a, b := &counting{}, &counting{}
	b.Calls = 1
	if illegible(a) != "" || remember(0, a) == remember(0, b) {
		t.Error("what the embedded monitor remembers makes no difference", illegible(a))
	}
}

// TestAFieldThatEmbedsACheckerIsRemembered has what a monitor remembers in a struct that is a checker, too, since it
// embeds one.
func TestAFieldThatEmbedsACheckerIsRemembered(t *testing.T) {
	a, b := &ledger{}, &ledger{}
	b.book.Won = 1
	if illegible(a) != "" || remember(0, a) == remember(0, b) {
		t.Error("what is in the field makes no difference", illegible(a))
	}
	b.book.Won, b.book.Limit = 0, 1
	if remember(0, a) == remember(0, b) {
		t.Error("what is in the checker that it embeds makes no difference")
	}
	b.book.Limit, b.book.Fixed = 0, fixed{checkers.ConstantOf(func() {}), 1}
	if remember(0, a) == remember(0, b) {
		t.Error("what is in a struct that embeds a constant makes no difference")
	}
}

type ledger struct {
	recipeCalls calls
	book        book
}

func (*ledger) Step(*history.History, int) checkers.Verdict { return checkers.Verdict{} }
func (*ledger) Reset()                                      {}

type book struct {
	limited
	Won   int64
	Fixed fixed
}

// limited is a checker with a setting.
type limited struct {
	checkers.Liveness
	Limit int
}

type fixed struct {
	checkers.Constant[func()]
	Count int
}

// counting embeds a monitor that can be read.
type counting struct{ calls }

// calls counts events.
type calls struct {
	checkers.Liveness
	Calls int
}

func (c *calls) Step(*history.History, int) checkers.Verdict { c.Calls++; return checkers.Verdict{} }
func (c *calls) Reset()                                      { c.Calls = 0 }

type secretive struct {
	checkers.Liveness
	monitor checkers.Monitor
}

func (s secretive) Monitor() checkers.Monitor { return s.monitor }

// closure is a monitor that remembers in a function the client whose call was the latest.
type closure struct {
	checkers.Liveness
	latest func() int32
}

func (m *closure) Step(h *history.History, i int) checkers.Verdict {
	e := h.Events[i]
	m.latest = func() int32 { return e.Client }
	return checkers.Verdict{}
}

func (m *closure) Reset() { m.latest = nil }

type embedding struct{ closure }
