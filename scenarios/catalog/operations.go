package catalog

import (
	"context"
	"reflect"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/engine"
)

// operation is one method of a recipe, called on a new object whose folder or single znode is dir.
type operation struct {
	name string
	call func(ctx context.Context, p *engine.Process, dir string) error
}

// znodeOwner is a recipe object that answers for ephemeral znodes.
type znodeOwner interface{ Znodes() []string }

// known has an object answer for its znodes, and returns it.
func known[T znodeOwner](p *engine.Process, x T) T {
	p.Register(x.Znodes)
	return x
}

// lastZnode returns the last znode of an object that has some: the one by which it holds or waits.
func lastZnode(x znodeOwner) string {
	znodes := x.Znodes()
	return znodes[len(znodes)-1]
}

// on calls a method of an object that may own znodes.
func on[T znodeOwner](
	name string, make func(p *engine.Process, dir string) T, call func(x T, ctx context.Context) error,
) operation {
	return operation{name, func(ctx context.Context, p *engine.Process, dir string) error {
		return call(known(p, make(p, dir)), ctx)
	}}
}

// of calls a method of an object that owns no znodes.
func of[T any](
	name string, make func(p *engine.Process, dir string) T, call func(x T, ctx context.Context) error,
) operation {
	return operation{name, func(ctx context.Context, p *engine.Process, dir string) error {
		return call(make(p, dir), ctx)
	}}
}

// givenACL is the ACL that objects are told to give to the znodes they make. It allows everybody everything, so it
// changes no answer, but it is not the default.
var givenACL = append(zk.WorldACL(zk.PermAll), zk.DigestACL(zk.PermRead, "me", "word")...)

// usual returns a function that makes an object in a folder, with that ACL as the only option.
func usual[T, O any](
	newObject func(c recipes.Conn, env recipes.Env, dir string, o O) T,
) func(p *engine.Process, dir string) T {
	var opt O
	reflect.ValueOf(&opt).Elem().FieldByName("ACL").Set(reflect.ValueOf(givenACL))
	return func(p *engine.Process, dir string) T { return newObject(p.Conn, p.Env, dir, opt) }
}

// result drops what a method returns besides its error.
func result[T, R any](call func(x T, ctx context.Context) (R, error)) func(x T, ctx context.Context) error {
	return func(x T, ctx context.Context) error {
		_, err := call(x, ctx)
		return err
	}
}

var (
	simpleLock = usual(recipes.NewLock)
	singleLock = func(p *engine.Process, dir string) *recipes.SingleNodeLock {
		return recipes.NewSingleNodeLock(p.Conn, p.Env, dir+"/one", recipes.LockOptions{ACL: givenACL})
	}
	sharedLock    = usual(recipes.NewRWLock)
	revocableLock = usual(recipes.NewRevocableLock)
	twoLeases     = func(p *engine.Process, dir string) *recipes.Semaphore {
		return recipes.NewSemaphore(p.Conn, p.Env, dir, 2, recipes.LockOptions{ACL: givenACL})
	}
	candidate  = usual(recipes.NewElection)
	barrierAt  = usual(recipes.NewBarrier)
	barrierFor = func(p *engine.Process, dir string) *recipes.DoubleBarrier {
		return recipes.NewDoubleBarrier(p.Conn, p.Env, dir, 1, recipes.DoubleBarrierOptions{ACL: givenACL})
	}
	fifo        = usual(recipes.NewQueue)
	byPriority  = usual(recipes.NewPriorityQueue)
	nameService = func(p *engine.Process, dir string) *recipes.Names {
		return recipes.NewNames(p.Conn, p.Env, dir, recipes.NamesOptions{ACL: givenACL, Owner: "me"})
	}
	groupOf     = usual(recipes.NewGroup)
	coordinator = func(p *engine.Process, dir string) *recipes.Transaction {
		return recipes.NewTransaction(p.Conn, p.Env, dir+"/transaction", recipes.TransactionOptions{ACL: givenACL})
	}
	site = func(p *engine.Process, dir string) *recipes.Transaction {
		return recipes.NewTransaction(p.Conn, p.Env, dir, recipes.TransactionOptions{ACL: givenACL, Site: "a"})
	}
	counterAt = usual(recipes.NewCounter)
	configIn  = usual(recipes.NewConfig)
	flaggedIn = usual(recipes.NewFlaggedConfig)
	tasksOf   = usual(recipes.NewTaskClient)
	workerOf  = usual(recipes.NewWorker)
	masterOf  = usual(recipes.NewMaster)
	monitorOf = func(p *engine.Process, dir string) *recipes.Monitor {
		return recipes.NewMonitor(p.Conn, p.Env, dir, recipes.MonitorOptions{Limit: time.Hour,
			Alarm: func(recipes.Overdue) {}})
	}
)

// calls are all methods that talk to the servers and need no preparation.
var calls = []operation{
	on("Lock.Lock", simpleLock, (*recipes.Lock).Lock),
	on("Lock.TryLock", simpleLock, (*recipes.Lock).TryLock),
	on("Lock.Contenders", simpleLock, result((*recipes.Lock).Contenders)),
	on("SingleNodeLock.Lock", singleLock, (*recipes.SingleNodeLock).Lock),
	on("SingleNodeLock.TryLock", singleLock, (*recipes.SingleNodeLock).TryLock),
	on("RWLock.Lock", sharedLock, (*recipes.RWLock).Lock),
	on("RWLock.RLock", sharedLock, (*recipes.RWLock).RLock),
	on("RWLock.TryLock", sharedLock, (*recipes.RWLock).TryLock),
	on("RWLock.TryRLock", sharedLock, (*recipes.RWLock).TryRLock),
	on("RevocableLock.Lock", revocableLock, (*recipes.RevocableLock).Lock),
	on("RevocableLock.RLock", revocableLock, (*recipes.RevocableLock).RLock),
	on("RevocableLock.Queue", revocableLock, result((*recipes.RevocableLock).Queue)),
	on("Semaphore.Acquire", twoLeases, (*recipes.Semaphore).Acquire),
	on("Semaphore.TryAcquire", twoLeases, (*recipes.Semaphore).TryAcquire),
	on("Election.Campaign", candidate, (*recipes.Election).Campaign),
	on("Election.Leader", candidate, result((*recipes.Election).Leader)),
	on("Election.AwaitLeader", candidate, result((*recipes.Election).AwaitLeader)),
	on("Election.Candidates", candidate, result((*recipes.Election).Candidates)),
	of("Barrier.Hold", barrierAt, (*recipes.Barrier).Hold),
	of("Barrier.Release", barrierAt, (*recipes.Barrier).Release),
	of("Barrier.Wait", barrierAt, (*recipes.Barrier).Wait),
	on("DoubleBarrier.Enter", barrierFor, (*recipes.DoubleBarrier).Enter),
	of("Queue.Put", fifo, func(q *recipes.Queue, ctx context.Context) error { return q.Put(ctx, nil) }),
	of("Queue.Take", fifo, result((*recipes.Queue).Take)),
	of("Queue.TryTake", fifo, result((*recipes.Queue).TryTake)),
	of("Queue.Claim", fifo, result((*recipes.Queue).Claim)),
	of("Queue.TryClaim", fifo, result((*recipes.Queue).TryClaim)),
	of("Queue.Len", fifo, result((*recipes.Queue).Len)),
	of("PriorityQueue.Put", byPriority, func(q *recipes.PriorityQueue, ctx context.Context) error {
		return q.Put(ctx, nil, 1)
	}),
	of("PriorityQueue.Take", byPriority, result((*recipes.PriorityQueue).Take)),
	of("Names.Register", nameService, func(n *recipes.Names, ctx context.Context) error {
		return n.Register(ctx, "name", nil)
	}),
	of("Names.RegisterNext", nameService, func(n *recipes.Names, ctx context.Context) error {
		_, err := n.RegisterNext(ctx, "name-", nil)
		return err
	}),
	of("Names.Resolve", nameService, func(n *recipes.Names, ctx context.Context) error {
		_, err := n.Resolve(ctx, "known")
		return err
	}),
	of("Names.Unregister", nameService, func(n *recipes.Names, ctx context.Context) error {
		return n.Unregister(ctx, "known")
	}),
	of("Names.List", nameService, result((*recipes.Names).List)),
	of("Group.Join", groupOf, func(g *recipes.Group, ctx context.Context) error {
		_, err := g.Join(ctx, "name", nil)
		return err
	}),
	of("Group.List", groupOf, result((*recipes.Group).List)),
	of("Group.Watch", groupOf, func(g *recipes.Group, ctx context.Context) error {
		return g.Watch(ctx, func([]recipes.Child, []recipes.Change) bool { return true })
	}),
	on("Transaction.Begin", coordinator, func(t *recipes.Transaction, ctx context.Context) error {
		return t.Begin(ctx, nil, "a", "b")
	}),
	on("Transaction.Join", site, result((*recipes.Transaction).Join)),
	on("Transaction.Vote", site, func(t *recipes.Transaction, ctx context.Context) error { return t.Vote(ctx, true) }),
	on("Transaction.Outcome", site, result((*recipes.Transaction).Outcome)),
	on("Transaction.Finish", site, result((*recipes.Transaction).Finish)),
	of("Counter.Add", counterAt, func(c *recipes.Counter, ctx context.Context) error {
		_, err := c.Add(ctx, 1)
		return err
	}),
	of("Counter.CompareAndSet", counterAt, func(c *recipes.Counter, ctx context.Context) error {
		_, err := c.CompareAndSet(ctx, 0, 1)
		return err
	}),
	of("Counter.Get", counterAt, result((*recipes.Counter).Get)),
	of("Config.Get", configIn, func(c *recipes.Config, ctx context.Context) error {
		_, err := c.Get(ctx)
		return err
	}),
	of("Config.Update", configIn, func(c *recipes.Config, ctx context.Context) error {
		return c.Update(ctx, recipes.ConfigSet{}, map[string][]byte{"a": nil})
	}),
	of("FlaggedConfig.Update", flaggedIn, func(c *recipes.FlaggedConfig, ctx context.Context) error {
		return c.Update(ctx, map[string][]byte{"a": nil})
	}),
	of("CachedConfig.Run", func(p *engine.Process, dir string) *recipes.CachedConfig {
		return recipes.NewCachedConfig(p.Conn, p.Env, dir, func(recipes.ConfigSet) {})
	}, (*recipes.CachedConfig).Run),
	of("DataWatch.Run", func(p *engine.Process, dir string) *recipes.DataWatch {
		return recipes.NewDataWatch(p.Conn, p.Env, dir, recipes.WatchOptions{})
	}, func(w *recipes.DataWatch, ctx context.Context) error {
		return w.Run(ctx, func([]byte, *zk.Stat) bool { return true })
	}),
	of("ChildrenWatch.Run", func(p *engine.Process, dir string) *recipes.ChildrenWatch {
		return recipes.NewChildrenWatch(p.Conn, p.Env, dir, recipes.WatchOptions{})
	}, func(w *recipes.ChildrenWatch, ctx context.Context) error {
		return w.Run(ctx, func([]string, *zk.Stat) bool { return true })
	}),
	of("PatientChildrenWatch.Run", func(p *engine.Process, dir string) *recipes.PatientChildrenWatch {
		return recipes.NewPatientChildrenWatch(p.Conn, p.Env, dir, time.Second, recipes.WatchOptions{})
	}, func(w *recipes.PatientChildrenWatch, ctx context.Context) error {
		return w.Run(ctx, func([]string, *zk.Stat) bool { return true })
	}),
	of("TaskClient.Submit", tasksOf, result(func(c *recipes.TaskClient, ctx context.Context) (*recipes.Task, error) {
		return c.Submit(ctx, nil)
	})),
	of("Task.Wait", tasksOf, result(func(c *recipes.TaskClient, ctx context.Context) ([]byte, error) {
		return c.Task("known").Wait(ctx)
	})),
	of("Task.Forget", tasksOf, func(c *recipes.TaskClient, ctx context.Context) error {
		return c.Task("known").Forget(ctx)
	}),
	on("Worker.Next", workerOf, result((*recipes.Worker).Next)),
	on("Master.Run", masterOf, (*recipes.Master).Run),
	of("Monitor.Run", monitorOf, (*recipes.Monitor).Run),
}
