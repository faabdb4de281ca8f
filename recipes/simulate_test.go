package recipes_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/sim"
)

// locker is what both locks can do.
type locker interface {
	Lock(ctx context.Context) error
	TryLock(ctx context.Context) error
	Unlock(ctx context.Context) error
	Lost() <-chan zk.Event
	Token() int64
	Znodes() []string
}

type maker func(recipes.Conn, recipes.Env, string, recipes.LockOptions) locker

// bothLocks runs a test with each lock.
func bothLocks(t *testing.T, f func(t *testing.T, lock maker)) {
	t.Run("lock", func(t *testing.T) {
		f(t, func(c recipes.Conn, e recipes.Env, dir string, o recipes.LockOptions) locker {
			return recipes.NewLock(c, e, dir, o)
		})
	})
	t.Run("single node", func(t *testing.T) {
		f(t, func(c recipes.Conn, e recipes.Env, dir string, o recipes.LockOptions) locker {
			return recipes.NewSingleNodeLock(c, e, dir, o)
		})
	})
}

// stage is a simulated world whose order of events is random and whose faults
// are those that the programs ask for. Programs share Go variables freely, as
// only one runs at a time.
type stage struct {
	t      *testing.T
	world  *sim.World
	random *rand.Rand
	wanted []string // transitions to be made next
	idle   bool     // time passes only when nothing else can happen
	tardy  bool     // requests that may be executed late are so when that is wanted

	avoid func(name string) bool // transitions that happen only where nothing else can; may be nil
}

// actor is one client on a stage.
type actor struct {
	*stage
	sim.Conn
	env sim.Env
}

var ctx = context.Background()

// play runs a program for each client on one server, with several orders of
// events, and returns the last history. Prepare may be nil.
func play(t *testing.T, prepare func(w *sim.World), programs ...func(a actor)) *history.History {
	t.Helper()
	return playOn(t, 1, nil, prepare, programs...)
}

// playOn is play on so many servers.
func playOn(
	t *testing.T, servers int, avoid func(name string) bool, prepare func(w *sim.World), programs ...func(a actor),
) *history.History {
	t.Helper()
	w := sim.NewWorld()
	defer w.Close()
	for seed := range uint64(20) {
		s := &stage{t: t, world: w, random: rand.New(rand.NewPCG(seed, 1)), avoid: avoid}
		var in faults.Injector
		plan, err := faults.Parse("disconnect=99 expire=99 learn-late=99 crash=9 lose-reply=9 lose-request=9 " +
			"lost-early=99")
		if err != nil {
			t.Fatal(err)
		}
		in.Reset(plan)
		cfg := sim.Config{Clients: len(programs), Servers: servers, Order: seed, SafetySteps: 1e6, MaxSteps: 1e6}
		w.Reset(cfg, &in, func(c *sim.Client) { programs[c.ID()-1](actor{s, c.Conn(), c.Env()}) })
		if prepare != nil {
			prepare(w)
		}
		if err := w.Run(s); err != nil {
			t.Fatal(err)
		}
		h := w.History
		if h.Outcome != history.Quiet || h.Panic != "" || len(h.Waiting) > 0 {
			t.Fatalf("seed %d: outcome %d, still waiting: %+v\n%s", seed, h.Outcome, h.Waiting, h.Panic)
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, strings.Join(w.Schedule(), ", "))
		}
	}
	return w.History
}

// Choose implements sim.Chooser.
func (s *stage) Choose(w *sim.World) (sim.Transition, bool, error) {
	if len(s.wanted) > 0 {
		for _, t := range slices.Concat(slices.Clone(w.Normal()), slices.Clone(w.Faults())) {
			if w.Name(t) == s.wanted[0] {
				s.wanted = s.wanted[1:]
				return t, true, nil
			}
		}
	}
	list := w.Normal()
	if len(list) == 0 {
		return sim.Transition{}, false, nil
	}
	work := slices.ContainsFunc(list, func(t sim.Transition) bool { return t.Kind != sim.Tick })
	t := list[s.random.IntN(len(list))]
	for tries := 0; t.Kind == sim.Tick && work && (s.idle || tries < 3); tries++ { // time is slower than work
		t = list[s.random.IntN(len(list))]
	}
	avoided := func(name string) bool {
		return s.tardy && strings.HasPrefix(name, "late") || s.avoid != nil && s.avoid(name)
	}
	for tries := 0; tries < 100 && avoided(w.Name(t)); tries++ {
		t = list[s.random.IntN(len(list))]
	}
	return t, true, nil
}

// happen makes a transition happen as soon as it is possible, and waits for it.
func (a actor) happen(name string) {
	a.wanted = append(a.wanted, name)
	a.until(func() bool { return !slices.Contains(a.wanted, name) })
}

// until lets the others move until f is true.
func (a actor) until(f func() bool) {
	for range 100_000 {
		if f() {
			return
		}
		a.env.Now()
	}
	panic("this will never be")
}

// is reports an error other than want.
func (a actor) is(what string, err, want error) {
	a.t.Helper()
	if err != want {
		a.t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// lock makes a lock on /lock and locks it.
func (a actor) lock(lock maker) locker {
	a.t.Helper()
	l := lock(a.Conn, a.env, "/lock", recipes.LockOptions{})
	a.is("Lock", l.Lock(ctx), nil)
	return l
}

// create makes a znode before the programs begin.
func create(path string, acl []zk.ACL) func(w *sim.World) {
	return func(w *sim.World) { w.Prepare(model.Request{Op: model.OpCreate, Path: path, ACL: acl}) }
}

// left returns the znodes at the end, apart from persistent ones.
func left(h *history.History) (ephemerals []string) {
	for _, n := range h.Tree {
		if n.Owner != 0 {
			ephemerals = append(ephemerals, n.Path)
		}
	}
	return ephemerals
}

func nothingLeft(t *testing.T, h *history.History) {
	t.Helper()
	if znodes := left(h); len(znodes) > 0 {
		t.Errorf("left behind: %v", znodes)
	}
}

// watching is a Conn that counts, by path, the watches left on children.
type watching struct {
	recipes.Conn
	left map[string]int
}

func (c watching) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	c.left[path]++
	return c.Conn.ChildrenW(path)
}
