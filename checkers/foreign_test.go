package checkers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// inForeign are histories with words of no checker, as those of Scenario.Words, and what is said of them.
var inForeign = []struct {
	checker Monitored
	text    string
	level   Level
}{
	{Linearizability{}, `
		invoke c1 o1 lock
		return c1 o1 lock
		acquired c1 o1
		invoke c1 o1 work
		return c1 o1 work
		released c1 o1
		invoke c1 o1 unlock
		return c1 o1 unlock
		invoke c2 o2 lock
		return c2 o2 lock
		acquired c2 o2`, OK},
	{Linearizability{}, `
		invoke c1 o1 work
		return c1 o1 work
		invoke c2 o2 trylock
		return c2 o2 ok trylock: zk: node already exists`, Violated},
	{Counter{}, `
		invoke c1 o1 add v1
		return c1 o1 add v1
		invoke c1 o1 work
		return c1 o1 work`, OK},
	{Counter{}, `
		invoke c1 o1 add v1
		return c1 o1 add: lost
		invoke c1 o1 work
		return c1 o1 work v7
		invoke c2 o2 get
		return c2 o2 get v0`, OK},
	{Names{}, `
		invoke c1 o1 work v7
		crashed c1
		invoke c1 o2 unregister /a
		return c1 o2 unregister /a`, Violated},
	{Suspicion{}, `
		invoke c1 o1 watch-data /a
		told c1 o1 doubt ok
		reply c1 getW
		told c1 o1 doubt
		told c1 o1 work`, OK},
}

func TestWhatHasWordsOfItsOwnIsNotJudged(t *testing.T) {
	for _, x := range inForeign {
		h := script(t, x.text)
		if v := x.checker.Check(h); v.Level != x.level {
			t.Errorf("%s says %v, expected %v, of%s", x.checker.Name(), v, x.level, x.text)
		}
		if v := follow(h, x.checker.Monitor()); v.Level != x.level {
			t.Errorf("the monitor of %s says %v, expected %v, of%s", x.checker.Name(), v, x.level, x.text)
		}
	}
}

func TestADoubtTellsNoState(t *testing.T) {
	h := script(t, `
		calm
		invoke c1 o1 watch-data /a
		told c1 o1 doubt ok
		told c1 o1 doubt
		invoke c1 o1 rest
		invoke c1 o1 stop`)
	if v := (Convergence{}).Check(h); v.Level != Violated {
		t.Errorf("a watcher tells nothing but doubts: %v", v)
	}
}

func TestTheWorkThatAZnodeIsForIsNoAccessToIt(t *testing.T) {
	h := script(t, `
		invoke c1 o1 work /a
		return c1 o1 work /a`)
	if v := (Znodes{}).Check(h); v.Level != OK {
		t.Error(v)
	}
}

func TestAMonitorSaysThatItCannotFollowALockOfOtherWords(t *testing.T) {
	h := script(t, `
		invoke c1 o1 grab
		return c1 o1 grab
		acquired c1 o1`)
	if v := follow(h, Linearizability{}.Monitor()); v.Level != Unknown {
		t.Error(v)
	}
}

// countsAll reports whether whatever a client does means something to a checker.
func countsAll(c Checker) bool {
	switch c := c.(type) {
	case Watches: // any call of a recipe may leave watches
		return c.Each > 0
	case Passage: // the requests of a wait cannot be told from those of another operation
		return true
	case Herd: // an operation that fails may have waited for the lock
		return c.InVain
	case Claim, Ownership: // an operation ends the time of the one before
		return true
	}
	return false
}

// TestWordsOfItsOwnChangeNoVerdict puts an operation that nobody is to judge into random histories of every sort.
func TestWordsOfItsOwnChangeNoVerdict(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	everySort(r, func(c Checker, history func() *history.History) {
		if countsAll(c) {
			return
		}
		t.Run(fmt.Sprintf("%s %+v", c.Name(), c), func(t *testing.T) {
			for range 100 {
				h := history()
				with := beside(r, h)
				a, b := c.Check(h), c.Check(with)
				if a.Level != b.Level {
					t.Fatalf("%v, and with other work %v:\n%s", a, b, listed(with))
				}
				if m, ok := c.(Monitored); ok && follow(h, m.Monitor()).Level != follow(with, m.Monitor()).Level {
					t.Fatalf("the monitor says with other work %v:\n%s", follow(with, m.Monitor()), listed(with))
				}
			}
		})
	})
}

// beside returns a history with an operation of another object, "work", anywhere.
func beside(r *rand.Rand, h *history.History) *history.History {
	x := *h
	e := history.Event{Kind: history.Invoke, Op: "work", Client: 1 + r.Int32N(3), Object: 9}
	if n := len(h.Events); n > 0 && r.IntN(2) == 0 {
		other := h.Events[r.IntN(n)]
		e.Path, e.Value, e.Data = other.Path, other.Value, other.Data
	}
	end := e
	end.Kind = history.Return
	end.Err = []error{nil, zk.ErrNodeExists, zk.ErrConnectionClosed}[r.IntN(3)]
	end.OK = end.Err == zk.ErrNodeExists
	i := r.IntN(len(h.Events) + 1)
	k := i + r.IntN(len(h.Events)+1-i)
	x.Events = slices.Insert(slices.Clone(h.Events), k, end)
	x.Events = slices.Insert(x.Events, i, e)
	return &x
}
