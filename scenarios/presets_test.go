package scenarios_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/recipes"
	"zksim/scenarios"
	"zksim/scenarios/workload"
)

func TestPresetsHoldForOurRecipes(t *testing.T) {
	for _, s := range []scenarios.Scenario{
		scenarios.Lock("mine/lock", func(p *scenarios.Process) *recipes.Lock {
			return recipes.NewLock(p.Conn, p.Env, p.Path("/mine"), recipes.LockOptions{})
		}),
		scenarios.RWLock("mine/rwlock", func(p *scenarios.Process) *recipes.RWLock {
			return recipes.NewRWLock(p.Conn, p.Env, p.Path("/mine"), recipes.LockOptions{})
		}),
		scenarios.Semaphore("mine/semaphore", 2, func(p *scenarios.Process) *recipes.Semaphore {
			return recipes.NewSemaphore(p.Conn, p.Env, p.Path("/mine"), 2, recipes.LockOptions{})
		}),
		scenarios.Election("mine/election", func(p *scenarios.Process) *recipes.Election {
			return recipes.NewElection(p.Conn, p.Env, p.Path("/mine"), recipes.ElectionOptions{})
		}),
		scenarios.Barrier("mine/barrier", func(p *scenarios.Process) *recipes.Barrier {
			return recipes.NewBarrier(p.Conn, p.Env, p.Path("/mine"), recipes.BarrierOptions{})
		}),
		scenarios.DoubleBarrier("mine/double-barrier", func(p *scenarios.Process, n int) *recipes.DoubleBarrier {
			return recipes.NewDoubleBarrier(p.Conn, p.Env, p.Path("/mine"), n, recipes.DoubleBarrierOptions{})
		}),
		scenarios.Queue("mine/queue", func(p *scenarios.Process) *recipes.Queue {
			return recipes.NewQueue(p.Conn, p.Env, p.Path("/mine"), recipes.QueueOptions{})
		}),
		scenarios.PriorityQueue("mine/priority-queue", func(p *scenarios.Process) priorityQueue {
			return priorityQueue{recipes.NewPriorityQueue(p.Conn, p.Env, p.Path("/mine"), recipes.QueueOptions{})}
		}),
		scenarios.Counter("mine/counter", func(p *scenarios.Process) *recipes.Counter {
			return recipes.NewCounter(p.Conn, p.Env, p.Path("/mine"), recipes.CounterOptions{})
		}),
		scenarios.Members("mine/members", func(p *scenarios.Process, path string) *member {
			return &member{group: recipes.NewGroup(p.Conn, p.Env, path, recipes.GroupOptions{})}
		}),
		scenarios.Watcher("mine/watcher", func(p *scenarios.Process, path string) watcher {
			return watcher{recipes.NewDataWatch(p.Conn, p.Env, path, recipes.WatchOptions{})}
		}),
		scenarios.Cache("mine/cache", func(p *scenarios.Process, path string) cache {
			return cache{recipes.NewChildrenWatch(p.Conn, p.Env, path, recipes.WatchOptions{})}
		}),
		scenarios.Config("mine/config", func(p *scenarios.Process, path string) config {
			return config{recipes.NewConfig(p.Conn, p.Env, path+"/values", recipes.ConfigOptions{})}
		}),
	} {
		t.Run(s.Name, func(t *testing.T) { scenarios.Check(t, s) })
	}
}

// The recipes of ours that presets take with other signatures.
type (
	member struct {
		group  *recipes.Group
		member *recipes.Membership
	}
	watcher       struct{ *recipes.DataWatch }
	cache         struct{ *recipes.ChildrenWatch }
	config        struct{ *recipes.Config }
	priorityQueue struct{ *recipes.PriorityQueue }
)

func (q priorityQueue) Put(ctx context.Context, data []byte, priority int) error {
	return q.PriorityQueue.Put(ctx, data, uint16(priority))
}

func (m *member) Join(ctx context.Context, name string, data []byte) (err error) {
	m.member, err = m.group.Join(ctx, name, data)
	return err
}

func (m *member) Leave(ctx context.Context) error { return m.member.Leave(ctx) }

func (m *member) Watch(ctx context.Context, told func(name string, data []byte, stat *zk.Stat)) error {
	return m.group.Watch(ctx, func(_ []recipes.Child, changes []recipes.Change) bool {
		for _, c := range changes {
			if c.Kind == recipes.Removed {
				c.Stat = nil
			}
			told(c.Name, c.Data, c.Stat)
		}
		return true
	})
}

func (w watcher) Run(ctx context.Context, told func(data []byte, stat *zk.Stat)) error {
	return w.DataWatch.Run(ctx, func(data []byte, stat *zk.Stat) bool {
		told(data, stat)
		return true
	})
}

func (c cache) Run(ctx context.Context, told func(names []string, stat *zk.Stat)) error {
	return c.ChildrenWatch.Run(ctx, func(names []string, stat *zk.Stat) bool {
		told(names, stat)
		return true
	})
}

func (c config) Get(ctx context.Context) (map[string][]byte, int64, error) {
	set, err := c.Config.Get(ctx)
	return set.Values, set.Zxid, err
}

func (c config) Update(ctx context.Context, values map[string][]byte) error {
	base, err := c.Config.Get(ctx)
	if err != nil {
		return err
	}
	return c.Config.Update(ctx, base, values)
}

// The same with no more than a preset needs.
type (
	bareLock     struct{ l *recipes.Lock }
	bareRWLock   struct{ l *recipes.RWLock }
	bareLeaser   struct{ s *recipes.Semaphore }
	bareElection struct{ e *recipes.Election }
	bareMember   struct{ m member }
	barePlaces   struct {
		*recipes.DoubleBarrier
		Round struct{} // hides the method
	}
)

func (b bareLock) Lock(ctx context.Context) error         { return b.l.Lock(ctx) }
func (b bareLock) Unlock(ctx context.Context) error       { return b.l.Unlock(ctx) }
func (b bareRWLock) Lock(ctx context.Context) error       { return b.l.Lock(ctx) }
func (b bareRWLock) Unlock(ctx context.Context) error     { return b.l.Unlock(ctx) }
func (b bareRWLock) RLock(ctx context.Context) error      { return b.l.RLock(ctx) }
func (b bareRWLock) RUnlock(ctx context.Context) error    { return b.l.RUnlock(ctx) }
func (b bareLeaser) Acquire(ctx context.Context) error    { return b.s.Acquire(ctx) }
func (b bareLeaser) Release(ctx context.Context) error    { return b.s.Release(ctx) }
func (b bareElection) Campaign(ctx context.Context) error { return b.e.Campaign(ctx) }
func (b bareElection) Resign(ctx context.Context) error   { return b.e.Resign(ctx) }
func (b *bareMember) Leave(ctx context.Context) error     { return b.m.Leave(ctx) }
func (b *bareMember) Join(ctx context.Context, name string, data []byte) error {
	return b.m.Join(ctx, name, data)
}

func TestPresetsJudgeWhatARecipeTells(t *testing.T) {
	lock := scenarios.Lock("bare/lock", func(p *scenarios.Process) bareLock {
		return bareLock{recipes.NewLock(p.Conn, p.Env, p.Path("/bare"), recipes.LockOptions{})}
	})
	for _, x := range []struct {
		scenarios.Scenario
		checkers string
	}{
		{lock, "claim belief liveness linearizability quiescence tree steps"},
		{scenarios.RWLock("bare/rwlock", func(p *scenarios.Process) bareRWLock {
			return bareRWLock{recipes.NewRWLock(p.Conn, p.Env, p.Path("/bare"), recipes.LockOptions{})}
		}), "claim belief liveness quiescence tree steps"},
		{scenarios.Semaphore("bare/semaphore", 2, func(p *scenarios.Process) bareLeaser {
			return bareLeaser{recipes.NewSemaphore(p.Conn, p.Env, p.Path("/bare"), 2, recipes.LockOptions{})}
		}), "claim belief liveness quiescence tree steps"},
		{scenarios.Election("bare/election", func(p *scenarios.Process) bareElection {
			return bareElection{recipes.NewElection(p.Conn, p.Env, p.Path("/bare"), recipes.ElectionOptions{})}
		}), "claim belief liveness quiescence tree steps"},
		{scenarios.Members("bare/members", func(p *scenarios.Process, path string) *bareMember {
			return &bareMember{member{group: recipes.NewGroup(p.Conn, p.Env, path, recipes.GroupOptions{})}}
		}), "departure tree liveness quiescence steps refusal presence"},
		{scenarios.DoubleBarrier("bare/double-barrier", func(p *scenarios.Process, n int) barePlaces {
			b := recipes.NewDoubleBarrier(p.Conn, p.Env, p.Path("/bare"), n, recipes.DoubleBarrierOptions{})
			return barePlaces{DoubleBarrier: b}
		}), "entry claim gather liveness quiescence tree steps"},
	} {
		t.Run(x.Name, func(t *testing.T) {
			if got := strings.Join(checkers.NamesOf(x.Checkers), " "); got != x.checkers {
				t.Errorf("it is judged by %s, want %s", got, x.checkers)
			}
			scenarios.Check(t, x.Scenario)
		})
	}
}

// TestALockOfTwoMethodsIsCaught: what goes wrong shows although the lock tells nothing.
func TestALockOfTwoMethodsIsCaught(t *testing.T) {
	for _, x := range []struct {
		flaw   mutants.Flaw
		plan   string
		caught []string
	}{
		{mutants.PlainCreate, "lose-reply=2", []string{"quiescence", "tree"}},
		{mutants.NameSort, "none", []string{"belief", "linearizability"}},
		{mutants.NoOwnCheck, "disconnect=2 expire=2 late-request=2 learn-late=2", []string{"belief", "linearizability"}},
		{mutants.Wedged, "disconnect=2 expire=1", []string{"liveness"}},
		{mutants.CancelLeak, "cancel=2 lose-reply=2", []string{"tree", "quiescence"}},
	} {
		s := scenarios.Lock("bare/mutant", func(p *scenarios.Process) brokenLock {
			return brokenLock{mutants.NewLock(p.Conn, p.Env, p.Path("/bare"), x.flaw)}
		})
		s.Setup = append(s.Setup, scenarios.Mkdir("/bare"))
		s.Faults, s.Caught = faults.MustParse(x.plan), x.caught
		t.Run(fmt.Sprint(x.flaw), func(t *testing.T) { scenarios.Check(t, s) })
	}
}

type brokenLock struct{ l *mutants.Lock }

func (b brokenLock) Lock(ctx context.Context) error   { return b.l.Lock(ctx) }
func (b brokenLock) Unlock(ctx context.Context) error { return b.l.Unlock(ctx) }

// TestAQueueWhoseConsumersMissAnItemIsCaught: consumers of the preset wait for items, and nothing heals what they miss.
func TestAQueueWhoseConsumersMissAnItemIsCaught(t *testing.T) {
	for flaw, caught := range map[mutants.Flaw]string{mutants.BlindWait: "quiescence", mutants.StaleTake: "fifo"} {
		s := scenarios.Queue("mine/mutant", func(p *scenarios.Process) brokenQueue {
			return brokenQueue{mutants.NewQueue(p.Conn, p.Env, p.Path("/mine"), flaw)}
		})
		for _, dir := range []string{"/mine", "/mine/items", "/mine/claims"} {
			s.Setup = append(s.Setup, scenarios.Mkdir(dir))
		}
		s.Caught = []string{caught}
		t.Run(fmt.Sprint(flaw), func(t *testing.T) { scenarios.Check(t, s) })
	}
}

type brokenQueue struct{ *mutants.Queue }

func (q brokenQueue) Put(ctx context.Context, data []byte) error { return q.Queue.Put(ctx, data, 0) }

// TestABarrierThatIsHeldForLongIsNotPassed: keepers of the preset hold it for so long that it shows who looks at a
// server that lags.
func TestABarrierThatIsHeldForLongIsNotPassed(t *testing.T) {
	s := scenarios.Barrier("mine/mutant", func(p *scenarios.Process) *mutants.Barrier {
		return mutants.NewBarrier(p.Conn, p.Env, p.Path("/mine"), mutants.StaleWait)
	})
	s.Setup, s.Caught = append(s.Setup, scenarios.Mkdir("/mine")), []string{"barrier"}
	scenarios.Check(t, s)
}

// TestAConfigurationOfThePastIsCaught: in the preset there is so much to read that one is read from a server that lags.
func TestAConfigurationOfThePastIsCaught(t *testing.T) {
	s := scenarios.Config("mine/mutant", func(p *scenarios.Process, path string) twoValues {
		return twoValues{mutants.NewConfig(p.Conn, p.Env, path, mutants.StaleConfig)}
	})
	s.Setup, s.Caught = nil, []string{"recency"}
	for _, x := range [][2]string{{"", "ready"}, {"/a", "0/2"}, {"/b", "0/2"}} {
		z := scenarios.Mkdir("/config" + x[0])
		z.Data = []byte(x[1])
		s.Setup = append(s.Setup, z)
	}
	scenarios.Check(t, s)
}

// twoValues is a configuration whose values are always of the same names.
type twoValues struct{ *mutants.Config }

func (c twoValues) Update(ctx context.Context, values map[string][]byte) error {
	number, _, _ := strings.Cut(string(values["a"]), "/")
	return c.Config.Update(ctx, map[string][]byte{"a": []byte(number + "/2"), "b": []byte(number + "/2")})
}

// TestAQueueMayHaveItsWatchesJudged: the preset leaves none of its own.
func TestAQueueMayHaveItsWatchesJudged(t *testing.T) {
	s := scenarios.Queue("mine/queue", newPatientQueue)
	s.Checkers = append(s.Checkers, checkers.Watches{})
	scenarios.Check(t, s)
}

// wakes is the test of semaphores in docs/adopt.md.
func wakes[S workload.Leaser](newSemaphore func(p *scenarios.Process) S) scenarios.Scenario {
	return scenarios.Scenario{
		Name: "my/wakes", Clients: 4,
		Program: func(p *scenarios.Process) {
			s := newSemaphore(p)
			o := p.Register(nil)
			if err := o.Must("acquire", s.Acquire); err != nil {
				p.Fail(err)
				return
			}
			o.Acquired("", 0)
			p.AtRest()
			o.Released()
			if err := o.Must("release", s.Release); err != nil {
				p.Fail(err)
			}
		},
		Checkers: []checkers.Checker{checkers.Waits{Leases: 2}, checkers.Liveness{}, checkers.Quiescence{}, checkers.Steps{}},
	}
}

// TestNobodySleepsWhileALeaseIsFree runs the test of semaphores in docs/adopt.md. It sees what the preset does not: a
// client that sleeps on while a lease is free, and is woken by the next release.
func TestNobodySleepsWhileALeaseIsFree(t *testing.T) {
	t.Run("held", func(t *testing.T) {
		scenarios.Check(t, wakes(func(p *scenarios.Process) *recipes.Semaphore {
			return recipes.NewSemaphore(p.Conn, p.Env, p.Path("/my-semaphore"), 2, recipes.LockOptions{})
		}))
	})
	t.Run("caught", func(t *testing.T) {
		s := wakes(func(p *scenarios.Process) *mutants.Semaphore {
			return mutants.NewSemaphore(p.Conn, p.Env, p.Path("/my-semaphore"), 2, mutants.NearestLease)
		})
		for _, dir := range []string{"", "/leases", "/gate"} {
			s.Setup = append(s.Setup, scenarios.Mkdir("/my-semaphore"+dir))
		}
		s.Caught = []string{"waits"}
		scenarios.Check(t, s)
	})
	t.Run("documented", func(t *testing.T) {
		documented(t, "presets_test.go", "\t\t\to := p.Register(nil)\n\t\t\tif err := o.Must(", "checkers.Steps{}},\n\t}")
	})
}

// documented expects the part of a file from first to last in docs/adopt.md.
func documented(t *testing.T, file, first, last string) {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/adopt.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(source), first)
	program, _, found := strings.Cut(program, last)
	if !found || !strings.Contains(string(page), first+program+last) {
		t.Error("docs/adopt.md has another program")
	}
}
