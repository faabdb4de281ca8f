package recipes_test

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

type doing = func(ctx context.Context) error

// promptCalls are the calls of all recipes that have a context.
var promptCalls = slicesOf(
	promptLocks, promptShared, promptElections,
	promptBarriers, promptQueues, promptCommits, promptPools, promptValues, promptWatches)

func slicesOf(lists ...[]promptCall) (all []promptCall) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// on makes the begin of a call on an object that is new; the call may be nil.
func on[T any](object func(a actor) T, before func(a actor, x T), call func(a actor, x T) doing,
) func(a actor) (doing, func() []string) {
	return func(a actor) (doing, func() []string) {
		x := object(a)
		if before != nil {
			before(a, x)
		}
		znodes := noZnodes
		if y, ok := any(x).(interface{ Znodes() []string }); ok {
			znodes = y.Znodes
		}
		return call(a, x), znodes
	}
}

// ignoring drops the result of a call.
func ignoring[R any](call func(ctx context.Context) (R, error)) doing {
	return func(ctx context.Context) error {
		_, err := call(ctx)
		return err
	}
}

func lockCalls(name string, lock func(a actor) locker) []promptCall {
	held := func(a actor, l locker) { a.is("Lock", l.Lock(ctx), nil) }
	return []promptCall{
		{name: name + " Lock", begin: on(lock, nil, func(a actor, l locker) doing { return l.Lock })},
		{name: name + " Lock awaited", other: locked(lock),
			begin: on(lock, nil, func(a actor, l locker) doing { return l.Lock })},
		{name: name + " TryLock", begin: on(lock, nil, func(a actor, l locker) doing { return l.TryLock })},
		{name: name + " Unlock", begin: on(lock, held, func(a actor, l locker) doing { return l.Unlock })},
	}
}

var promptLocks = slicesOf(lockCalls("Lock", plainLock), lockCalls("SingleNodeLock", singleLock),
	lockCalls("RWLock", func(a actor) locker { return rwLock(a) }),
	lockCalls("RevocableLock", func(a actor) locker { return revocableLock(a) }),
	[]promptCall{
		{name: "Lock Contenders", other: locked(plainLock), begin: on(plainLock, nil, func(a actor, l locker) doing {
			return ignoring(l.(*recipes.Lock).Contenders)
		})},
	})

var promptShared = []promptCall{
	{name: "RWLock RLock", begin: on(rwLock, nil, func(a actor, l *recipes.RWLock) doing { return l.RLock })},
	{name: "RWLock RLock awaited", other: locked(func(a actor) locker { return rwLock(a) }),
		begin: on(rwLock, nil, func(a actor, l *recipes.RWLock) doing { return l.RLock })},
	{name: "RWLock TryRLock", begin: on(rwLock, nil, func(a actor, l *recipes.RWLock) doing { return l.TryRLock })},
	{name: "RWLock RUnlock", begin: on(rwLock, func(a actor, l *recipes.RWLock) { a.is("RLock", l.RLock(ctx), nil) },
		func(a actor, l *recipes.RWLock) doing { return l.RUnlock })},
	{name: "RWLock Downgrade", begin: on(rwLock, func(a actor, l *recipes.RWLock) { a.is("Lock", l.Lock(ctx), nil) },
		func(a actor, l *recipes.RWLock) doing { return l.Downgrade })},
	{name: "RevocableLock Revoke", other: locked(func(a actor) locker { return revocableLock(a) }),
		begin: on(revocableLock, nil, func(a actor, l *recipes.RevocableLock) doing {
			return func(ctx context.Context) error { return l.Revoke(ctx, "/lock/none") }
		})},
	{name: "RevocableLock Break", begin: on(revocableLock, nil, func(a actor, l *recipes.RevocableLock) doing {
		return func(ctx context.Context) error { return l.Break(ctx, "/lock/none") }
	})},
	{name: "RevocableLock Queue", other: locked(func(a actor) locker { return revocableLock(a) }),
		begin: on(revocableLock, nil, func(a actor, l *recipes.RevocableLock) doing { return ignoring(l.Queue) })},
	{name: "Semaphore Acquire",
		begin: on(oneLease, nil, func(a actor, s *recipes.Semaphore) doing { return s.Acquire })},
	{name: "Semaphore Acquire awaited", other: leased,
		begin: on(oneLease, nil, func(a actor, s *recipes.Semaphore) doing { return s.Acquire })},
	{name: "Semaphore TryAcquire",
		begin: on(oneLease, nil, func(a actor, s *recipes.Semaphore) doing { return s.TryAcquire })},
	{name: "Semaphore Release",
		begin: on(oneLease, func(a actor, s *recipes.Semaphore) { a.is("Acquire", s.Acquire(ctx), nil) },
			func(a actor, s *recipes.Semaphore) doing { return s.Release })},
}

func oneLease(a actor) *recipes.Semaphore {
	return recipes.NewSemaphore(a.Conn, a.env, "/semaphore", 1, recipes.LockOptions{})
}

func leased(a actor) func() {
	s := oneLease(a)
	a.is("Acquire", s.Acquire(ctx), nil)
	return func() { a.is("Release", s.Release(ctx), nil) }
}

func plainElection(a actor) *recipes.Election {
	return recipes.NewElection(a.Conn, a.env, "/vote", recipes.ElectionOptions{})
}

func leads(a actor, e *recipes.Election) { a.is("Campaign", e.Campaign(ctx), nil) }

func ledByOther(a actor) func() {
	e := plainElection(a)
	leads(a, e)
	return func() { a.is("Resign", e.Resign(ctx), nil) }
}

var promptElections = []promptCall{
	{name: "Election Campaign",
		begin: on(plainElection, nil, func(a actor, e *recipes.Election) doing { return e.Campaign })},
	{name: "Election Campaign awaited", other: ledByOther,
		begin: on(plainElection, nil, func(a actor, e *recipes.Election) doing { return e.Campaign })},
	{name: "Election Resign",
		begin: on(plainElection, leads, func(a actor, e *recipes.Election) doing { return e.Resign })},
	{name: "Election Acknowledge",
		begin: on(plainElection, leads, func(a actor, e *recipes.Election) doing { return e.Acknowledge })},
	{name: "Election Candidates", other: ledByOther,
		begin: on(plainElection, nil, func(a actor, e *recipes.Election) doing { return ignoring(e.Candidates) })},
	{name: "Election Leader", other: ledByOther, begin: on(plainElection, nil, func(a actor, e *recipes.Election) doing {
		return func(ctx context.Context) error {
			if _, err := e.Leader(ctx); err != recipes.ErrNoLeader {
				return err
			}
			return nil
		}
	})},
	{name: "Election AwaitLeader", other: ledByOther,
		begin: on(plainElection, nil, func(a actor, e *recipes.Election) doing { return ignoring(e.AwaitLeader) })},
}

func plainBarrier(a actor) *recipes.Barrier {
	return recipes.NewBarrier(a.Conn, a.env, "/apps/barrier", recipes.BarrierOptions{})
}

func raised(a actor, b *recipes.Barrier) { a.is("Hold", b.Hold(ctx), nil) }

// doubleCalls are the calls of a double barrier of two.
func doubleCalls(name string, leaving recipes.Leaving) []promptCall {
	double := func(a actor) *recipes.DoubleBarrier {
		return recipes.NewDoubleBarrier(a.Conn, a.env, "/double", 2, recipes.DoubleBarrierOptions{Leaving: leaving})
	}
	waits := func(a actor) func() {
		var entered error
		inside := double(a)
		gaveUp, stop := context.WithCancel(ctx)
		ended := make(chan zk.Event, 1)
		a.env.Go("enter", func() {
			entered = inside.Enter(gaveUp)
			ended <- zk.Event{}
		})
		return func() {
			stop()
			a.env.Await(ctx, ended)
			if entered == nil {
				done, cancel := context.WithCancel(ctx)
				cancel()
				inside.Leave(done)
			}
		}
	}
	enter := func(a actor, d *recipes.DoubleBarrier) { a.is("Enter", d.Enter(ctx), nil) }
	return []promptCall{
		{name: name + " Enter", patient: true,
			begin: on(double, nil, func(a actor, d *recipes.DoubleBarrier) doing { return d.Enter })},
		{name: name + " Enter of two", patient: true, other: waits,
			begin: on(double, nil, func(a actor, d *recipes.DoubleBarrier) doing { return d.Enter })},
		{name: name + " Leave", other: waits,
			begin: on(double, enter, func(a actor, d *recipes.DoubleBarrier) doing { return d.Leave })},
	}
}

var promptBarriers = slicesOf([]promptCall{
	{name: "Barrier Hold", begin: on(plainBarrier, nil, func(a actor, b *recipes.Barrier) doing { return b.Hold })},
	{name: "Barrier Release",
		begin: on(plainBarrier, raised, func(a actor, b *recipes.Barrier) doing { return b.Release })},
	{name: "Barrier Wait", begin: on(plainBarrier, raised, func(a actor, b *recipes.Barrier) doing { return b.Wait })},
}, doubleCalls("DoubleBarrier lowest", recipes.LeaveLowest),
	doubleCalls("DoubleBarrier naive", recipes.LeaveNaive),
	doubleCalls("DoubleBarrier sequential", recipes.LeaveSequential))

// queueCalls are the calls of a queue.
func queueCalls(name string, opt recipes.QueueOptions) []promptCall {
	q := func(a actor) *recipes.Queue { return a.queue(opt) }
	filled := func(a actor, q *recipes.Queue) { a.puts(q, "a", "b") }
	item := func(call func(x *recipes.QueueItem) doing) func(a actor) (doing, func() []string) {
		return func(a actor) (doing, func() []string) {
			q := q(a)
			filled(a, q)
			x := a.claim(q, "a")
			return call(x), x.Znodes
		}
	}
	return []promptCall{
		{name: name + " Put", begin: on(q, nil, func(a actor, q *recipes.Queue) doing {
			return func(ctx context.Context) error { return q.Put(ctx, nil) }
		})},
		{name: name + " Take", begin: on(q, filled, func(a actor, q *recipes.Queue) doing { return ignoring(q.Take) })},
		{name: name + " Take awaited",
			begin: on(q, nil, func(a actor, q *recipes.Queue) doing { return ignoring(q.Take) })},
		{name: name + " TryTake",
			begin: on(q, filled, func(a actor, q *recipes.Queue) doing { return ignoring(q.TryTake) })},
		{name: name + " Len", begin: on(q, filled, func(a actor, q *recipes.Queue) doing { return ignoring(q.Len) })},
		{name: name + " Ack", begin: item(func(x *recipes.QueueItem) doing { return x.Ack })},
		{name: name + " Return", begin: item(func(x *recipes.QueueItem) doing { return x.Return })},
		{name: name + " Claim awaited",
			begin: on(q, nil, func(a actor, q *recipes.Queue) doing { return ignoring(q.Claim) })},
		{name: name + " Claim", begin: func(a actor) (doing, func() []string) {
			q, znodes := q(a), noZnodes
			filled(a, q)
			return func(ctx context.Context) error {
				x, err := q.Claim(ctx)
				if err == nil {
					znodes = x.Znodes
				}
				return err
			}, func() []string { return znodes() }
		}},
	}
}

var promptQueues = slicesOf(
	queueCalls("Queue", recipes.QueueOptions{}),
	queueCalls("Queue with turns", recipes.QueueOptions{Turns: true}), []promptCall{
		{name: "PriorityQueue Put", begin: on(func(a actor) *recipes.PriorityQueue {
			return recipes.NewPriorityQueue(a.Conn, a.env, "/p", recipes.QueueOptions{})
		}, nil, func(a actor, q *recipes.PriorityQueue) doing {
			return func(ctx context.Context) error { return q.Put(ctx, nil, 1) }
		})},
	})

// party returns what makes a participant of a transaction that the coordinator has begun.
func party(site string, form recipes.Form) func(a actor) *recipes.Transaction {
	return func(a actor) *recipes.Transaction {
		return recipes.NewTransaction(a.Conn, a.env, "/apps/tx", recipes.TransactionOptions{Site: site, Form: form})
	}
}

func begun(form recipes.Form) func(a actor, t *recipes.Transaction) {
	return func(a actor, t *recipes.Transaction) {
		c := party("", form)(a)
		a.is("Begin", c.Begin(ctx, nil, "one", "two"), nil)
	}
}

// decided makes a transaction that is aborted, which t knows.
func decided(a actor, t *recipes.Transaction) {
	begun(recipes.AllSites)(a, t)
	a.is("Vote", t.Vote(ctx, false), nil)
	if _, err := t.Outcome(ctx); err != nil {
		a.t.Error(err)
	}
}

var promptCommits = []promptCall{
	{name: "Transaction Begin", begin: on(party("", recipes.AllSites), nil, func(a actor, t *recipes.Transaction) doing {
		return func(ctx context.Context) error { return t.Begin(ctx, nil, "one", "two") }
	})},
	{name: "Transaction Join",
		begin: on(party("one", recipes.AllSites), begun(recipes.AllSites), func(a actor, t *recipes.Transaction) doing {
			return ignoring(t.Join)
		})},
	{name: "Transaction Join of an ephemeral site",
		begin: on(party("one", recipes.EphemeralSites), begun(recipes.EphemeralSites),
			func(a actor, t *recipes.Transaction) doing {
				return ignoring(t.Join)
			})},
	{name: "Transaction Join awaited",
		begin: on(party("one", recipes.AllSites), nil, func(a actor, t *recipes.Transaction) doing {
			return ignoring(t.Join)
		})},
	{name: "Transaction Vote",
		begin: on(party("one", recipes.AllSites), begun(recipes.AllSites), func(a actor, t *recipes.Transaction) doing {
			return func(ctx context.Context) error { return t.Vote(ctx, true) }
		})},
	{name: "Transaction Outcome",
		begin: on(party("one", recipes.AllSites), begun(recipes.AllSites), func(a actor, t *recipes.Transaction) doing {
			return ignoring(t.Outcome)
		})},
	{name: "Transaction Outcome by coordinator",
		begin: on(party("one", recipes.ByCoordinator), begun(recipes.ByCoordinator),
			func(a actor, t *recipes.Transaction) doing {
				return ignoring(t.Outcome)
			})},
	{name: "Transaction Outcome of ephemeral sites",
		begin: on(party("", recipes.EphemeralSites), begun(recipes.EphemeralSites),
			func(a actor, t *recipes.Transaction) doing {
				return ignoring(t.Outcome)
			})},
	{name: "Transaction Finish",
		begin: on(party("one", recipes.AllSites), begun(recipes.AllSites), func(a actor, t *recipes.Transaction) doing {
			return ignoring(t.Finish)
		})},
	{name: "Transaction Forget",
		begin: on(party("one", recipes.AllSites), decided, func(a actor, t *recipes.Transaction) doing {
			return t.Forget
		})},
}

func newTask(a actor) func() *recipes.Task {
	return func() *recipes.Task { return a.submit(a.client(), "add") }
}

// managed is a pool with a master and a task.
func managed(a actor) func() {
	stop := a.master()
	newTask(a)()
	return stop
}

var promptPools = []promptCall{
	{name: "Master Run",
		begin: on(func(a actor) *recipes.Master { return recipes.NewMaster(a.Conn, a.env, "/pool", recipes.PoolOptions{}) },
			func(a actor, m *recipes.Master) { newTask(a)() }, func(a actor, m *recipes.Master) doing { return m.Run })},
	{name: "Master Run with a worker", other: func(a actor) func() {
		w := a.worker()
		soon, cancel := context.WithCancel(ctx)
		a.env.Go("next", func() { w.Next(soon) })
		newTask(a)()
		return cancel
	},
		begin: on(func(a actor) *recipes.Master { return recipes.NewMaster(a.Conn, a.env, "/pool", recipes.PoolOptions{}) },
			nil, func(a actor, m *recipes.Master) doing { return m.Run })},
	{name: "Worker Next", other: managed,
		begin: on(actor.worker, nil, func(a actor, w *recipes.Worker) doing { return ignoring(w.Next) })},
	{name: "Worker Next awaited",
		begin: on(actor.worker, nil, func(a actor, w *recipes.Worker) doing { return ignoring(w.Next) })},
	{name: "Worker Done", other: managed, begin: func(a actor) (doing, func() []string) {
		w := a.worker()
		got, err := w.Next(ctx)
		a.is("Next", err, nil)
		return func(ctx context.Context) error { return w.Done(ctx, got, nil) }, w.Znodes
	}},
	{name: "Worker Leave", other: managed, begin: on(actor.worker, func(a actor, w *recipes.Worker) {
		_, err := w.Next(ctx)
		a.is("Next", err, nil)
	}, func(a actor, w *recipes.Worker) doing { return w.Leave })},
	{name: "TaskClient Submit", begin: on(actor.client, nil, func(a actor, c *recipes.TaskClient) doing {
		return func(ctx context.Context) error {
			_, err := c.Submit(ctx, nil)
			return err
		}
	})},
	{name: "Task Wait",
		begin: on(func(a actor) *recipes.Task { return newTask(a)() }, nil, func(a actor, t *recipes.Task) doing {
			return ignoring(t.Wait)
		})},
	{name: "Task Forget",
		begin: on(func(a actor) *recipes.Task { return newTask(a)() }, nil, func(a actor, t *recipes.Task) doing {
			return t.Forget
		})},
}

func nameService(a actor) *recipes.Names {
	return recipes.NewNames(a.Conn, a.env, "/names", recipes.NamesOptions{})
}

func registered(a actor, n *recipes.Names) { a.is("Register", n.Register(ctx, "one", nil), nil) }

func plainCounter(a actor) *recipes.Counter {
	return recipes.NewCounter(a.Conn, a.env, "/apps/counter", recipes.CounterOptions{})
}

var promptValues = []promptCall{
	{name: "Names Register", begin: on(nameService, nil, func(a actor, n *recipes.Names) doing {
		return func(ctx context.Context) error { return n.Register(ctx, "one", nil) }
	})},
	{name: "Names RegisterNext", begin: on(nameService, nil, func(a actor, n *recipes.Names) doing {
		return func(ctx context.Context) error {
			_, err := n.RegisterNext(ctx, "host-", nil)
			return err
		}
	})},
	{name: "Names Resolve", begin: on(nameService, registered, func(a actor, n *recipes.Names) doing {
		return func(ctx context.Context) error {
			_, err := n.Resolve(ctx, "one")
			return err
		}
	})},
	{name: "Names List",
		begin: on(nameService, registered, func(a actor, n *recipes.Names) doing { return ignoring(n.List) })},
	{name: "Names Unregister", begin: on(nameService, registered, func(a actor, n *recipes.Names) doing {
		return func(ctx context.Context) error { return n.Unregister(ctx, "one") }
	})},
	{name: "Config Update", begin: on(newConfig, nil, func(a actor, c *recipes.Config) doing {
		return func(ctx context.Context) error { return c.Update(ctx, recipes.ConfigSet{}, values("a=1", "b=1")) }
	})},
	{name: "Config Get", begin: on(newConfig, func(a actor, c *recipes.Config) {
		a.is("Update", c.Update(ctx, recipes.ConfigSet{}, values("a=1", "b=1")), nil)
	}, func(a actor, c *recipes.Config) doing { return ignoring(c.Get) })},
	{name: "FlaggedConfig Update", begin: on(newFlagged, func(a actor, c *recipes.FlaggedConfig) {
		a.is("Update", c.Update(ctx, values("a=1", "c=1")), nil)
	}, func(a actor, c *recipes.FlaggedConfig) doing {
		return func(ctx context.Context) error { return c.Update(ctx, values("a=2", "b=2")) }
	})},
	{name: "CachedConfig Run", begin: on(newFlagged, func(a actor, c *recipes.FlaggedConfig) {
		a.is("Update", c.Update(ctx, values("a=1")), nil)
	}, func(a actor, c *recipes.FlaggedConfig) doing {
		return recipes.NewCachedConfig(a.Conn, a.env, configDir, nil).Run
	})},
	{name: "Counter Add", begin: on(plainCounter, nil, func(a actor, c *recipes.Counter) doing {
		return func(ctx context.Context) error {
			_, err := c.Add(ctx, 1)
			return err
		}
	})},
	{name: "Counter CompareAndSet", begin: on(plainCounter, nil, func(a actor, c *recipes.Counter) doing {
		return func(ctx context.Context) error {
			_, err := c.CompareAndSet(ctx, 0, 1)
			return err
		}
	})},
	{name: "Counter Get",
		begin: on(plainCounter, nil, func(a actor, c *recipes.Counter) doing { return ignoring(c.Get) })},
}

func plainGroup(a actor) *recipes.Group {
	return recipes.NewGroup(a.Conn, a.env, "/group", recipes.GroupOptions{})
}

func none(actor) struct{} { return struct{}{} }

func parent(a actor, _ struct{}) {
	for _, path := range []string{"/dir", "/dir/a", "/dir/b"} {
		_, err := a.Create(path, nil, 0, openACL)
		a.is("Create", err, nil)
	}
}

var promptWatches = []promptCall{
	{name: "Group Join", begin: func(a actor) (doing, func() []string) {
		g, stays := plainGroup(a), false
		return func(ctx context.Context) error {
				m, err := g.Join(ctx, "me", nil)
				stays = m != nil
				return err
			}, func() []string {
				if !stays {
					return nil
				}
				return []string{"/group/me"}
			}
	}},
	{name: "Membership Leave", begin: func(a actor) (doing, func() []string) {
		m, err := plainGroup(a).Join(ctx, "me", nil)
		a.is("Join", err, nil)
		return m.Leave, noZnodes
	}},
	{name: "Group List", other: func(a actor) func() {
		m, err := plainGroup(a).Join(ctx, "other", nil)
		a.is("Join", err, nil)
		return func() { a.is("Leave", m.Leave(ctx), nil) }
	}, begin: on(plainGroup, nil, func(a actor, g *recipes.Group) doing { return ignoring(g.List) })},
	{name: "Group Watch", begin: on(plainGroup, nil, func(a actor, g *recipes.Group) doing {
		return func(ctx context.Context) error {
			return g.Watch(ctx, func([]recipes.Child, []recipes.Change) bool { return true })
		}
	})},
	{name: "DataWatch Run", begin: on(none, parent, func(a actor, _ struct{}) doing {
		return func(ctx context.Context) error {
			return recipes.NewDataWatch(a.Conn, a.env, "/dir", recipes.WatchOptions{}).Run(ctx,
				func([]byte, *zk.Stat) bool { return true })
		}
	})},
	{name: "ChildrenWatch Run", begin: on(none, nil, func(a actor, _ struct{}) doing {
		return func(ctx context.Context) error {
			return recipes.NewChildrenWatch(a.Conn, a.env, "/dir", recipes.WatchOptions{}).Run(ctx,
				func([]string, *zk.Stat) bool { return true })
		}
	})},
	{name: "ChildrenCache Run", begin: on(none, parent, func(a actor, _ struct{}) doing {
		return func(ctx context.Context) error {
			return recipes.NewChildrenCache(a.Conn, a.env, "/dir", recipes.WatchOptions{}).Run(ctx,
				func([]recipes.Child, []recipes.Change) bool { return true })
		}
	})},
	{name: "PatientChildrenWatch Run", begin: on(none, parent, func(a actor, _ struct{}) doing {
		return func(ctx context.Context) error {
			return recipes.NewPatientChildrenWatch(a.Conn, a.env, "/dir", time.Second, recipes.WatchOptions{}).Run(ctx,
				func([]string, *zk.Stat) bool { return true })
		}
	})},
	{name: "Monitor Run", other: locked(plainLock), begin: on(none, nil, func(a actor, _ struct{}) doing {
		opt := recipes.MonitorOptions{Limit: time.Second, Alarm: func(recipes.Overdue) {}}
		return recipes.NewMonitor(a.Conn, a.env, "/lock", opt).Run
	})},
}
