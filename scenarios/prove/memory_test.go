package prove

import (
	"reflect"
	"testing"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios"
)

// TestMonitorsRememberByThemselves shows monitors histories of random runs of all scenarios, with what came
// before an event, and without: they may take nothing from there but words.
func TestMonitorsRememberByThemselves(t *testing.T) {
	r := scenarios.NewRunner()
	defer r.Close()
	for i := range scenarios.All {
		s := &scenarios.All[i]
		for _, c := range s.Checkers {
			if m, ok := c.(checkers.Monitored); ok && !legible(m.Monitor()) {
				t.Errorf("%s: what the monitor of %s remembers cannot be read", s.Name, c.Name())
			}
		}
		for seed := range uint64(40) {
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
		alone.Events[i] = e
		v, w := a.Step(&whole, i), b.Step(&alone, i)
		alone.Events[i] = history.Event{}
		if v.Level != w.Level || a.Hash() != b.Hash() {
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
	Skipped checkers.Checker
}

type inner struct{ A, B int }

// TestRememberReadsEverything changes each part of a value.
func TestRememberReadsEverything(t *testing.T) {
	fresh := func() all {
		return all{List: []inner{{1, 2}, {3, 4}}, Map: map[string]inner{"a": {5, 6}, "b": {}}}
	}
	print := func(x all) checkers.Print { return remember(0, reflect.ValueOf(x)) }
	if !plain(reflect.TypeFor[all]()) || print(fresh()) != print(fresh()) {
		t.Fatal("it cannot be read")
	}
	seen := map[checkers.Print]int{print(fresh()): -1}
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

// TestSomeMonitorsCannotBeRead proves with a monitor that keeps what it remembers in a function.
func TestSomeMonitorsCannotBeRead(t *testing.T) {
	for _, x := range []any{list{}, struct{ p *int }{}, struct{ f func() }{}, struct{ c chan int }{}, struct{ x any }{}} {
		if plain(reflect.TypeOf(x)) {
			t.Errorf("%T can be read", x)
		}
	}
	var certificates [2]Certificate
	for i := range certificates {
		s := small(t, "lock/lock")
		s.Checkers = append(s.Checkers, secretive{})
		sc := Scope{Scenario: s, Servers: 1, Order: 1, Faults: plan(t, "disconnect=1"), Most: -1}
		res, err := Prove(t.Context(), sc, Options{Reductions: Every, Rerun: i == 1, Doubt: 20})
		if err != nil {
			t.Fatal(err)
		}
		certificates[i] = res.Certificate
	}
	if d := certificates[0].Differs(&certificates[1]); d != "" || certificates[0].Outcome != Holds {
		t.Error(d, certificates[0])
	}
}

// secretive remembers whose call was the latest.
type secretive struct{ checkers.Liveness }

func (secretive) Order() checkers.Order {
	return checkers.OrderOf([]checkers.Checker{checkers.Ownership{}})
}

func (secretive) Monitor() checkers.Monitor { return &closure{} }

type closure struct{ latest func() int32 }

func (m *closure) Step(h *history.History, i int) checkers.Verdict {
	if e := h.Events[i]; e.Kind == history.Invoke {
		m.latest = func() int32 { return e.Client }
	}
	return checkers.Verdict{}
}

func (m *closure) Hash() uint64 {
	if m.latest == nil {
		return 0
	}
	return uint64(m.latest())
}

func (m *closure) Reset() { m.latest = nil }
