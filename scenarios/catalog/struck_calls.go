package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// untilError makes calls until one fails.
func untilError(ctx context.Context, calls ...func(ctx context.Context) error) (err error) {
	for _, call := range calls {
		if err == nil {
			err = call(ctx)
		}
	}
	return err
}

// answer drops what a call returns besides its error.
func answer[R any](call func(ctx context.Context) (R, error)) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := call(ctx)
		return err
	}
}

// safe returns the same process on the connection that refuses nothing.
func safe(p *engine.Process) *engine.Process {
	q := *p
	q.Conn = p.Conn.(*struck).Conn
	return &q
}

// meanwhile has the same client do something beside a call.
func meanwhile(p *engine.Process, f func(p *engine.Process)) {
	q := safe(p)
	p.Env.Go("meanwhile", func() { f(q) })
}

// taken takes something, and asserts that an object that did not get it answers for no znode.
func taken[T any](ctx context.Context, p *engine.Process, x T, take func(x T, ctx context.Context) error) error {
	err := take(x, ctx)
	p.Always("who waits is not told that somebody else has it", !errors.Is(err, recipes.ErrLocked))
	if owner, owns := any(x).(znodeOwner); owns && err != nil {
		p.Always(fmt.Sprintf("a %T that has not got what it asked for answers for no znode", x), len(owner.Znodes()) == 0)
	}
	return err
}

// behind has one object hold something while others want it.
func behind[T any](
	make func(p *engine.Process, dir string) T, take, give func(x T, ctx context.Context) error,
) func(ctx context.Context, p *engine.Process, dir string) error {
	return func(ctx context.Context, p *engine.Process, dir string) error {
		first, second := make(safe(p), dir), make(p, dir)
		if take(first, ctx) != nil {
			return nil
		}
		meanwhile(p, func(p *engine.Process) {
			workload.Steps(p, 6)
			give(first, ctx)
		})
		meanwhile(p, func(p *engine.Process) {
			third := make(p, dir)
			untilError(ctx, func(ctx context.Context) error { return taken(ctx, p, third, take) },
				func(ctx context.Context) error { return give(third, ctx) })
		})
		return untilError(ctx, func(ctx context.Context) error { return taken(ctx, p, second, take) },
			func(ctx context.Context) error { return give(second, ctx) })
	}
}

// pair is a call that takes something followed by one that gives it back.
func pair[T any](
	name string, make func(p *engine.Process, dir string) T, take, give func(x T, ctx context.Context) error,
) operation {
	return operation{name, func(ctx context.Context, p *engine.Process, dir string) error {
		x := make(p, dir)
		return untilError(ctx, func(ctx context.Context) error { return taken(ctx, p, x, take) },
			func(ctx context.Context) error { return give(x, ctx) })
	}}
}

// struckCalls are calls that need something done before or beside them.
var struckCalls = []operation{
	pair("Lock.Unlock", simpleLock, (*recipes.Lock).Lock, (*recipes.Lock).Unlock),
	pair("SingleNodeLock.Unlock", singleLock, (*recipes.SingleNodeLock).Lock, (*recipes.SingleNodeLock).Unlock),
	pair("RWLock.RUnlock", sharedLock, (*recipes.RWLock).RLock, (*recipes.RWLock).RUnlock),
	pair("RWLock.Downgrade", sharedLock, (*recipes.RWLock).Lock, (*recipes.RWLock).Downgrade),
	pair("Semaphore.Release", twoLeases, (*recipes.Semaphore).Acquire, (*recipes.Semaphore).Release),
	pair("Election.Resign", candidate, (*recipes.Election).Campaign, (*recipes.Election).Resign),
	pair("Election.Acknowledge", candidate, (*recipes.Election).Campaign, (*recipes.Election).Acknowledge),
	pair("Barrier.Release", barrierAt, (*recipes.Barrier).Hold, (*recipes.Barrier).Release),
	{"Lock.Lock behind another", behind(simpleLock, (*recipes.Lock).Lock, (*recipes.Lock).Unlock)},
	{"Lock.Lock behind the last number", func(ctx context.Context, p *engine.Process, dir string) error {
		q := safe(p)
		first := dir + "/_c_x-lock-2147483647"
		for _, path := range []string{dir, first} {
			q.Conn.Create(path, nil, 0, givenACL)
		}
		meanwhile(p, func(p *engine.Process) {
			workload.Steps(p, 12)
			p.Conn.Delete(first, -1)
		})
		l := simpleLock(p, dir)
		return untilError(ctx, func(ctx context.Context) error { return taken(ctx, p, l, (*recipes.Lock).Lock) }, l.Unlock)
	}},
	{"SingleNodeLock.Lock behind another",
		behind(singleLock, (*recipes.SingleNodeLock).Lock, (*recipes.SingleNodeLock).Unlock)},
	{"RWLock.RLock behind a writer", func(ctx context.Context, p *engine.Process, dir string) error {
		writer, reader := sharedLock(safe(p), dir), sharedLock(p, dir)
		if writer.Lock(ctx) != nil {
			return nil
		}
		meanwhile(p, func(p *engine.Process) {
			workload.Steps(p, 6)
			writer.Unlock(ctx)
		})
		read := func(ctx context.Context) error { return taken(ctx, p, reader, (*recipes.RWLock).RLock) }
		return untilError(ctx, read, reader.RUnlock)
	}},
	{"RWLock.Lock behind another", behind(sharedLock, (*recipes.RWLock).Lock, (*recipes.RWLock).Unlock)},
	{"Semaphore.Acquire behind others", behind(func(p *engine.Process, dir string) *recipes.Semaphore {
		return recipes.NewSemaphore(p.Conn, p.Env, dir, 1, recipes.LockOptions{ACL: givenACL})
	}, (*recipes.Semaphore).Acquire, (*recipes.Semaphore).Release)},
	{"Semaphore.Acquire of the last lease", func(ctx context.Context, p *engine.Process, dir string) error {
		holders := []*recipes.Semaphore{twoLeases(safe(p), dir), twoLeases(safe(p), dir)}
		if untilError(ctx, holders[0].Acquire, holders[1].Acquire) != nil {
			return nil
		}
		meanwhile(p, func(p *engine.Process) {
			workload.Steps(p, 20)
			holders[0].Release(ctx)
		})
		s := p.Conn.(*struck)
		s.off, s.lists = true, true // the wait for a lease is refused
		return taken(ctx, p, twoLeases(p, dir), (*recipes.Semaphore).Acquire)
	}},
	{"Semaphore.Acquire of a lost lease", func(ctx context.Context, p *engine.Process, dir string) error {
		s := p.Conn.(*struck)
		s.off, s.gate = true, func() {
			names, _, _ := s.Conn.Children(dir + "/leases")
			for _, name := range names {
				s.Conn.Delete(dir+"/leases/"+name, -1)
			}
			workload.Steps(p, 6)       // it may hear of that
			s.off, s.left = s.after, 1 // giving the lease up is refused
		}
		return taken(ctx, p, twoLeases(p, dir), (*recipes.Semaphore).Acquire)
	}},
	{"Election.Campaign behind another", behind(candidate, (*recipes.Election).Campaign, (*recipes.Election).Resign)},
	{"Lock.Contenders of two", func(ctx context.Context, p *engine.Process, dir string) error {
		simpleLock(safe(p), dir).Lock(ctx)
		_, err := simpleLock(p, dir).Contenders(ctx)
		return err
	}},
	{"RevocableLock.Revoke", func(ctx context.Context, p *engine.Process, dir string) error {
		holder := revocableLock(safe(p), dir)
		if holder.Lock(ctx) != nil {
			return nil
		}
		return revocableLock(p, dir).Revoke(ctx, lastZnode(holder))
	}},
	{"RevocableLock.Break", func(ctx context.Context, p *engine.Process, dir string) error {
		holder := revocableLock(safe(p), dir)
		if holder.Lock(ctx) != nil {
			return nil
		}
		return revocableLock(p, dir).Break(ctx, lastZnode(holder))
	}},
	{"Election.AwaitLeader", func(ctx context.Context, p *engine.Process, dir string) error {
		meanwhile(p, func(p *engine.Process) {
			e := candidate(p, dir)
			untilError(ctx, e.Campaign, e.Acknowledge)
		})
		_, err := candidate(p, dir).AwaitLeader(ctx)
		return err
	}},
	{"Barrier.Wait for a release", func(ctx context.Context, p *engine.Process, dir string) error {
		b := barrierAt(safe(p), dir)
		b.Hold(ctx)
		meanwhile(p, func(*engine.Process) { b.Release(ctx) })
		return barrierAt(p, dir).Wait(ctx)
	}},
	twoInBarrier(recipes.LeaveLowest), twoInBarrier(recipes.LeaveNaive), twoInBarrier(recipes.LeaveSequential),
	{"DoubleBarrier.Leave of one whose znode is gone", func(ctx context.Context, p *engine.Process, dir string) error {
		member := func(p *engine.Process) *recipes.DoubleBarrier {
			return recipes.NewDoubleBarrier(p.Conn, p.Env, dir, 2,
				recipes.DoubleBarrierOptions{ACL: givenACL, Leaving: recipes.LeaveSequential})
		}
		meanwhile(p, func(p *engine.Process) {
			d := member(p)
			enter := d.Enter(ctx)
			workload.Steps(p, 12)
			if enter == nil {
				d.Leave(ctx)
			}
		})
		s := p.Conn.(*struck)
		d, left := member(p), s.left
		s.off = true // a request of Leave is refused
		if d.Enter(ctx) != nil {
			return nil
		}
		s.Conn.Delete(d.Znodes()[0], -1)
		s.off, s.left = s.after, left
		return d.Leave(ctx)
	}},
	{"Queue.Take of items", func(ctx context.Context, p *engine.Process, dir string) error {
		meanwhile(p, func(p *engine.Process) {
			fifo(p, dir).Put(ctx, nil)
			fifo(p, dir).Put(ctx, nil)
		})
		q := fifo(p, dir)
		return untilError(ctx, answer(q.Take), answer(q.Take))
	}},
	items("QueueItem.Ack", (*recipes.QueueItem).Ack, recipes.QueueOptions{ACL: givenACL}),
	items("QueueItem.Return", (*recipes.QueueItem).Return, recipes.QueueOptions{ACL: givenACL, Turns: true}),
	{"Names.Unregister of a name", func(ctx context.Context, p *engine.Process, dir string) error {
		n := nameService(p, dir)
		return untilError(ctx, func(ctx context.Context) error { return n.Register(ctx, "name", nil) },
			answer(n.List), func(ctx context.Context) error { return n.Unregister(ctx, "name") })
	}},
	membership,
	{"Group.List of two", func(ctx context.Context, p *engine.Process, dir string) error {
		g := groupOf(safe(p), dir)
		for _, name := range []string{"a", "b"} {
			g.Join(ctx, name, nil)
		}
		return answer(groupOf(p, dir).List)(ctx)
	}},
	{"Group.Watch of two", func(ctx context.Context, p *engine.Process, dir string) error {
		meanwhile(p, func(p *engine.Process) {
			for _, name := range []string{"a", "b"} {
				groupOf(p, dir).Join(ctx, name, nil)
			}
		})
		return groupOf(p, dir).Watch(ctx, func(now []recipes.Child, _ []recipes.Change) bool { return len(now) < 2 })
	}},
	coordinates(recipes.AllSites), coordinates(recipes.ByCoordinator), coordinates(recipes.EphemeralSites),
	votes(recipes.AllSites), votes(recipes.ByCoordinator), votes(recipes.EphemeralSites),
	{"Counter.Add twice", func(ctx context.Context, p *engine.Process, dir string) error {
		c := counterAt(p, dir)
		add := func(ctx context.Context) error {
			_, err := c.Add(ctx, 1)
			return err
		}
		return untilError(ctx, add, add)
	}},
	{"Config.Update twice", func(ctx context.Context, p *engine.Process, dir string) error {
		c := configIn(p, dir)
		update := func(ctx context.Context) error {
			set, err := c.Get(ctx)
			if err != nil {
				return err
			}
			err = c.Update(ctx, set, map[string][]byte{"a": nil, fmt.Sprint("b-", set.Zxid): nil})
			p.Always("who updates alone is told of no other update", err != recipes.ErrConfigChanged)
			return err
		}
		return untilError(ctx, update, update)
	}},
	{"FlaggedConfig.Update twice", func(ctx context.Context, p *engine.Process, dir string) error {
		c := flaggedIn(p, dir)
		update := func(name string) func(ctx context.Context) error {
			return func(ctx context.Context) error {
				err := c.Update(ctx, map[string][]byte{name: nil})
				p.Always("who updates alone is told of no other update", err != recipes.ErrConfigChanged)
				return err
			}
		}
		return untilError(ctx, update("a"), update("b"), answer(c.Get))
	}},
	{"CachedConfig.Run during updates", func(ctx context.Context, p *engine.Process, dir string) error {
		ctx, cancel := context.WithCancel(ctx)
		meanwhile(p, func(p *engine.Process) {
			for _, name := range []string{"a", "b"} {
				flaggedIn(p, dir).Update(ctx, map[string][]byte{name: nil})
			}
		})
		return recipes.NewCachedConfig(p.Conn, p.Env, dir, func(set recipes.ConfigSet) {
			if _, last := set.Values["b"]; last {
				cancel()
			}
		}).Run(ctx)
	}},
	watches("DataWatch.Run during changes", func(ctx context.Context, p *engine.Process, dir string) error {
		return recipes.NewDataWatch(p.Conn, p.Env, dir, recipes.WatchOptions{}).Run(ctx,
			func(data []byte, _ *zk.Stat) bool { return string(data) != "last" })
	}),
	watches("ChildrenWatch.Run during changes", func(ctx context.Context, p *engine.Process, dir string) error {
		return recipes.NewChildrenWatch(p.Conn, p.Env, dir, recipes.WatchOptions{}).Run(ctx,
			func(names []string, _ *zk.Stat) bool { return len(names) < 2 })
	}),
	watches("PatientChildrenWatch.Run during changes", func(ctx context.Context, p *engine.Process, dir string) error {
		return recipes.NewPatientChildrenWatch(p.Conn, p.Env, dir, time.Millisecond, recipes.WatchOptions{}).Run(ctx,
			func(names []string, _ *zk.Stat) bool { return len(names) < 2 })
	}),
	watches("ChildrenCache.Run during changes", func(ctx context.Context, p *engine.Process, dir string) error {
		return recipes.NewChildrenCache(p.Conn, p.Env, dir, recipes.WatchOptions{}).Run(ctx,
			func(now []recipes.Child, _ []recipes.Change) bool { return len(now) < 2 })
	}),
	{"Task.Wait for a result", func(ctx context.Context, p *engine.Process, dir string) error {
		meanwhile(p, func(p *engine.Process) { masterOf(p, dir).Run(ctx) })
		meanwhile(p, func(p *engine.Process) { doTask(ctx, workerOf(p, dir)) })
		t, err := tasksOf(p, dir).Submit(ctx, nil)
		if err != nil {
			return err
		}
		return untilError(ctx, answer(t.Wait), t.Forget)
	}},
	{"Worker.Done", func(ctx context.Context, p *engine.Process, dir string) error {
		meanwhile(p, func(p *engine.Process) { masterOf(p, dir).Run(ctx) })
		meanwhile(p, func(p *engine.Process) { tasksOf(p, dir).Submit(ctx, nil) })
		w := workerOf(p, dir)
		return untilError(ctx, func(ctx context.Context) error { return doTask(ctx, w) }, w.Leave)
	}},
	{"Worker.Leave", func(ctx context.Context, p *engine.Process, dir string) error {
		tasksOf(safe(p), dir).Submit(ctx, nil)
		meanwhile(p, func(p *engine.Process) { masterOf(p, dir).Run(ctx) })
		w := workerOf(p, dir)
		return untilError(ctx, answer(w.Next), w.Leave)
	}},
	{"Master.Run with workers", func(ctx context.Context, p *engine.Process, dir string) error {
		meanwhile(p, func(p *engine.Process) {
			for range 2 {
				tasksOf(p, dir).Submit(ctx, nil)
			}
		})
		meanwhile(p, func(p *engine.Process) {
			w := workerOf(p, dir)
			w.Next(ctx)
			w.Leave(ctx)
			doTask(ctx, workerOf(p, dir))
		})
		return masterOf(p, dir).Run(ctx)
	}},
	{"Master.Run with a worker that has ended", func(ctx context.Context, p *engine.Process, dir string) error {
		s := p.Conn.(*struck)
		left := s.left % 8
		s.off = true // taking its task back is refused
		tasksOf(safe(p), dir).Submit(ctx, nil)
		meanwhile(p, func(p *engine.Process) {
			w := workerOf(p, dir)
			if _, err := w.Next(ctx); err == nil {
				s.off, s.left = s.after, left
				p.Conn.Delete(w.Znodes()[0], -1)
			}
		})
		return masterOf(p, dir).Run(ctx)
	}},
	{"Monitor.Run of a lock that is held", func(ctx context.Context, p *engine.Process, dir string) error {
		ctx, cancel := context.WithCancel(ctx)
		simpleLock(safe(p), dir).Lock(ctx)
		return recipes.NewMonitor(p.Conn, p.Env, dir, recipes.MonitorOptions{Limit: time.Second,
			Alarm: func(recipes.Overdue) { cancel() }}).Run(ctx)
	}},
}

// membership is a member that stays for a while. It need not report what was refused before it leaves if its znode is
// gone.
var membership = operation{"Membership.Leave", func(ctx context.Context, p *engine.Process, dir string) error {
	m, err := groupOf(p, dir).Join(ctx, "name", nil)
	if err != nil {
		return err
	}
	workload.Steps(p, 30)
	err = m.Leave(background)
	if err == nil {
		there, _, err := safe(p).Conn.Exists(dir + "/name")
		p.Always("a member that has left is gone", err != nil || !there)
		p.Conn.(*struck).after = false
	}
	return err
}}

// twoInBarrier is a double barrier for two participants.
func twoInBarrier(leaving recipes.Leaving) operation {
	return operation{fmt.Sprint("DoubleBarrier.Leave ", leaving),
		func(ctx context.Context, p *engine.Process, dir string) error {
			member := func(p *engine.Process) *recipes.DoubleBarrier {
				return recipes.NewDoubleBarrier(p.Conn, p.Env, dir, 2,
					recipes.DoubleBarrierOptions{ACL: givenACL, Leaving: leaving})
			}
			meanwhile(p, func(p *engine.Process) {
				d := member(p)
				untilError(ctx, d.Enter, d.Leave)
			})
			d := member(p)
			enter := func(ctx context.Context) error { return taken(ctx, p, d, (*recipes.DoubleBarrier).Enter) }
			return untilError(ctx, enter, d.Leave)
		}}
}

// items is a call on an item that was claimed.
func items(
	name string, settle func(i *recipes.QueueItem, ctx context.Context) error, o recipes.QueueOptions,
) operation {
	return operation{name, func(ctx context.Context, p *engine.Process, dir string) error {
		meanwhile(p, func(p *engine.Process) { recipes.NewQueue(p.Conn, p.Env, dir, o).Put(ctx, nil) })
		i, err := recipes.NewQueue(p.Conn, p.Env, dir, o).Claim(ctx)
		if err != nil {
			return err
		}
		return settle(i, ctx)
	}}
}

// part returns a participant of a transaction.
func part(p *engine.Process, dir string, f recipes.Form, site string) *recipes.Transaction {
	return recipes.NewTransaction(p.Conn, p.Env, dir+"/transaction",
		recipes.TransactionOptions{ACL: givenACL, Site: site, Form: f})
}

// takesPart is what a site does.
func takesPart(ctx context.Context, t *recipes.Transaction) error {
	yes := func(ctx context.Context) error { return t.Vote(ctx, true) }
	return untilError(ctx, answer(t.Join), yes, answer(t.Outcome), t.Forget)
}

// begins is what a coordinator does.
func begins(ctx context.Context, t *recipes.Transaction) error {
	begin := func(ctx context.Context) error { return t.Begin(ctx, nil, "a", "b") }
	return untilError(ctx, begin, answer(t.Outcome), t.Forget)
}

// coordinates is a transaction in which a request of the coordinator is refused.
func coordinates(f recipes.Form) operation {
	name := fmt.Sprint("Transaction.Begin ", f)
	return operation{name, func(ctx context.Context, p *engine.Process, dir string) error {
		for _, site := range []string{"a", "b"} {
			meanwhile(p, func(p *engine.Process) { takesPart(ctx, part(p, dir, f, site)) })
		}
		return begins(ctx, part(p, dir, f, ""))
	}}
}

// votes is a transaction in which a request of a site is refused.
func votes(f recipes.Form) operation {
	name := fmt.Sprint("Transaction.Vote ", f)
	return operation{name, func(ctx context.Context, p *engine.Process, dir string) error {
		meanwhile(p, func(p *engine.Process) { begins(ctx, part(p, dir, f, "")) })
		meanwhile(p, func(p *engine.Process) { takesPart(ctx, part(p, dir, f, "b")) })
		return takesPart(ctx, part(p, dir, f, "a"))
	}}
}

// watches is a call that goes on until the znode has two children and its last data.
func watches(name string, run func(ctx context.Context, p *engine.Process, dir string) error) operation {
	return operation{name, func(ctx context.Context, p *engine.Process, dir string) error {
		meanwhile(p, func(p *engine.Process) {
			for _, path := range []string{dir, dir + "/a", dir + "/b"} {
				p.Conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
			}
			p.Conn.Set(dir, []byte("last"), -1)
		})
		return run(ctx, p, dir)
	}}
}

// doTask does one task.
func doTask(ctx context.Context, w *recipes.Worker) error {
	a, err := w.Next(ctx)
	if err != nil {
		return err
	}
	return w.Done(ctx, a, nil)
}
