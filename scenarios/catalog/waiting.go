package catalog

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// waiting has some of everything that can wait do so, and then makes what they wait for happen: a waiter that has lost
// its watch waits forever. With rest, it first waits until the faults are over and nothing more happens, so a waiter
// that keeps polling is never at rest. Without rest, the faults go on and a bystander reads all the time, so the last
// thing that the library has heard is from after the change.
func waiting(rest bool) func(p *engine.Process) {
	return func(p *engine.Process) {
		if p.ID > 1 {
			return
		}
		a := alone{refused{p: p, dir: p.Path("/dir")}}
		a.create(a.path("begun"), "") // there is a session: without one, the outcome of a put may be unknown
		w := waits{alone: a, by: a, rest: rest}
		var parts []func()
		all := []func() func(){w.config, w.vote, w.items, w.task, w.group, w.suspects, w.loses, w.barriers, w.leases,
			w.removed}
		if rest {
			all = append(all, w.refusal)
		}
		for _, start := range all {
			if p.Choose(2) > 0 { // all at once would take long
				parts = append(parts, start())
			}
		}
		if !rest {
			p.Env.Go("bystander", func() {
				for range 40 {
					p.Conn.Exists(a.dir)
				}
			})
		}
		workload.Steps(p, 40)
		w.rests()
		for _, end := range parts {
			end()
		}
	}
}

// waits is a client that waits.
type waits struct {
	alone
	by   alone // makes it happen
	rest bool
}

// oneByOne returns a function that calls all of these.
func oneByOne(all []func()) func() {
	return func() {
		for _, f := range all {
			f()
		}
	}
}

// rests waits until nothing more happens, if rest is set.
func (a waits) rests() {
	if a.rest {
		a.p.AtRest()
	}
}

// config waits for a configuration that takes long to change.
func (a waits) config() func() {
	dir := a.path("config")
	a.create(dir, "changing")
	a.patiently("set", func() error {
		_, err := a.p.Conn.Set(dir, []byte("changing"), -1)
		return err
	})
	ctx, cancel := context.WithCancel(background)
	told := 0
	waits := a.background("config", func(context.Context) error {
		return recipes.NewCachedConfig(a.p.Conn, a.p.Env, dir, func(set recipes.ConfigSet) {
			if told++; len(set.Values) > 0 {
				cancel()
			}
		}).Run(ctx)
	})
	return func() {
		a.is(!a.rest || told == 0, "nobody is told of a configuration that is being changed")
		f := recipes.NewFlaggedConfig(a.by.p.Conn, a.by.p.Env, dir, recipes.ConfigOptions{})
		a.fine(f.Update(background, map[string][]byte{"a": nil}), "FlaggedConfig.Update after one that was not ended")
		a.with(context.Canceled, waits(), "CachedConfig.Run until it is cancelled")
	}
}

// vote has a coordinator and a site wait for the vote of another site.
func (a waits) vote() func() {
	at := func(p *engine.Process, site string) *recipes.Transaction {
		return recipes.NewTransaction(p.Conn, p.Env, a.path("vote"),
			recipes.TransactionOptions{Site: site, Form: recipes.EphemeralSites})
	}
	c, x, y := at(a.p, ""), at(a.p, "x"), at(a.by.p, "y")
	a.fine(c.Begin(background, nil, "x", "y"), "Transaction.Begin")
	for _, site := range []*recipes.Transaction{x, y} {
		_, err := site.Join(background)
		a.fine(err, "Transaction.Join")
	}
	a.fine(x.Vote(background, true), "Transaction.Vote")
	var told []func() error
	for _, t := range []*recipes.Transaction{c, x} {
		told = append(told, a.background("outcome", answer(t.Outcome)))
	}
	return func() {
		a.fine(y.Vote(background, true), "Transaction.Vote of the last site")
		for _, wait := range told {
			a.fine(wait(), "Transaction.Outcome that has waited")
		}
		a.fine(x.Forget(background), "Transaction.Forget")
		a.is(len(x.Znodes()) == 0, "a site that has forgotten a transaction answers for nothing")
	}
}

// refusal has a site wait for a coordinator that makes no decision, while another site votes no.
func (a waits) refusal() func() {
	at := func(site string) *recipes.Transaction {
		return recipes.NewTransaction(a.p.Conn, a.p.Env, a.path("refusal"),
			recipes.TransactionOptions{Site: site, Form: recipes.ByCoordinator})
	}
	a.fine(at("").Begin(background, nil, "x", "y"), "Transaction.Begin")
	x := at("x")
	a.fine(x.Vote(background, true), "Transaction.Vote")
	told := a.background("outcome", func(ctx context.Context) error {
		d, err := x.Outcome(ctx)
		a.is(err != nil || d == recipes.Aborted, "a transaction is aborted by a no")
		return err
	})
	return func() {
		a.fine(at("y").Vote(background, false), "Transaction.Vote of no")
		a.fine(told(), "Transaction.Outcome after a no")
	}
}

// items has two consumers wait for two items: one is claimed for long, and the other comes long after the first is
// given back.
func (a waits) items() func() {
	queue := func(p *engine.Process, name string, turns bool) *recipes.Queue {
		return recipes.NewQueue(p.Conn, p.Env, a.path(name), recipes.QueueOptions{Turns: turns})
	}
	a.fine(queue(a.by.p, "items", false).Put(background, nil), "Queue.Put")
	claimed, err := queue(a.by.p, "items", false).TryClaim(background)
	a.fine(err, "Queue.TryClaim")
	var told []func() error
	for range 2 {
		told = append(told, a.background("consumer", answer(queue(a.p, "items", false).Take)))
		told = append(told, a.background("consumer", answer(queue(a.p, "turns", true).Take)))
	}
	return func() {
		turns, err := simpleLock(a.p, a.path("turns/turns")).Contenders(background)
		a.is(!a.rest || err == nil && len(turns) == 2, "consumers that take turns wait one behind the other")
		if claimed != nil {
			a.fine(claimed.Return(background), "QueueItem.Return")
		}
		a.rests()
		a.fine(queue(a.by.p, "items", false).Put(background, nil), "Queue.Put")
		for range 2 {
			a.fine(queue(a.by.p, "turns", true).Put(background, nil), "Queue.Put")
			a.rests()
		}
		for _, wait := range told {
			a.fine(wait(), "Queue.Take that has waited")
		}
	}
}

// task has a client wait for a task that a worker does slowly, and a worker and a master wait for tasks.
func (a waits) task() func() {
	dir := a.path("task")
	ctx, cancel := context.WithCancel(background)
	master := a.background("master", func(context.Context) error {
		return recipes.NewMaster(a.p.Conn, a.p.Env, dir, recipes.PoolOptions{}).Run(ctx)
	})
	t, err := tasksOf(a.p, dir).Submit(background, nil)
	if a.fine(err, "TaskClient.Submit"); err != nil {
		return cancel
	}
	told := a.background("client", answer(t.Wait))
	return func() {
		w := recipes.NewWorker(a.by.p.Conn, a.by.p.Env, dir, recipes.PoolOptions{})
		next, err := w.Next(background)
		a.fine(err, "Worker.Next")
		a.rests()
		a.fine(w.Done(background, next, nil), "Worker.Done")
		a.fine(told(), "Task.Wait that has waited")
		a.fine(w.Leave(background), "Worker.Leave")
		cancel()
		a.with(context.Canceled, master(), "Master.Run until it is cancelled")
	}
}

// group watches a group that nobody has joined.
func (a waits) group() func() {
	g := recipes.NewGroup(a.p.Conn, a.p.Env, a.path("group"), recipes.GroupOptions{})
	other := recipes.NewGroup(a.by.p.Conn, a.by.p.Env, a.path("group"), recipes.GroupOptions{})
	told := 0
	waits := a.background("group", func(ctx context.Context) error {
		return g.Watch(ctx, func(now []recipes.Child, changes []recipes.Change) bool {
			told++
			a.is(told == 1 || len(changes) > 0, "who watches a group is told of nothing but changes")
			return len(now) == 0
		})
	})
	return func() {
		a.is(!a.rest || told == 1, "who watches a group is told that nobody is in it")
		m, err := other.Join(background, "me", nil)
		if a.fine(err, "Group.Join"); err == nil {
			a.fine(waits(), "Group.Watch of a group that somebody has joined")
			a.fine(m.Leave(background), "Membership.Leave")
		}
	}
}

// suspects watches znodes that do not change: at rest there is no doubt.
func (a waits) suspects() func() {
	path := a.path("suspects")
	a.create(path, "")
	var told []func() error
	suspected := make([]bool, 3)
	ctx, cancel := context.WithCancel(background)
	for i := range suspected {
		opt := recipes.WatchOptions{Suspect: func(suspect bool) { suspected[i] = suspect }}
		told = append(told, a.background("watcher", func(context.Context) error {
			all := func([]string, *zk.Stat) bool { return true }
			switch i {
			case 0:
				return recipes.NewPatientChildrenWatch(a.p.Conn, a.p.Env, path, time.Second, opt).Run(ctx, all)
			case 1:
				return recipes.NewChildrenWatch(a.p.Conn, a.p.Env, path, opt).Run(ctx, all)
			}
			return recipes.NewChildrenCache(a.p.Conn, a.p.Env, path, opt).Run(ctx,
				func([]recipes.Child, []recipes.Change) bool { return true })
		}))
	}
	return func() {
		for i, wait := range told {
			a.is(!a.rest || !suspected[i], "a watcher of a connection that is there suspects nothing")
			cancel()
			a.with(context.Canceled, wait(), "a watcher that is given up")
		}
	}
}

// loses waits for the loss of what is held. A channel that tells of it fires, and is then closed.
func (a waits) loses() func() {
	twice := func(lost <-chan zk.Event) {
		for range 2 {
			a.p.Env.Await(background, lost)
		}
	}
	e := recipes.NewElection(a.p.Conn, a.p.Env, a.path("leads"), recipes.ElectionOptions{})
	leads := e.Campaign(background) == nil
	v := recipes.NewRevocableLock(a.p.Conn, a.p.Env, a.path("revocable"), recipes.LockOptions{})
	holds := v.Lock(background) == nil
	return func() {
		if leads && len(e.Lost()) > 0 {
			twice(e.Lost())
			a.with(recipes.ErrNotLeading, e.Acknowledge(background), "Election.Acknowledge of who has heard of a loss")
		}
		if leads {
			a.fine(e.Resign(background), "Election.Resign")
		}
		if !holds {
			return
		}
		own := lastZnode(v)
		if len(v.Lost()) == 0 {
			a.fine(v.Revoke(background, own), "RevocableLock.Revoke")
			if i, _, _ := a.p.Env.Await(background, v.Revoked(), v.Lost()); i == 0 { // otherwise it may be silent
				a.p.Env.Await(background, v.Revoked())
			}
			a.fine(v.Break(background, own), "RevocableLock.Break")
		}
		twice(v.Lost())
		a.fine(v.Unlock(background), "RevocableLock.Unlock")
	}
}

// barriers has one of two participants leave long before the other, in each way to leave.
func (a waits) barriers() func() {
	var ends []func()
	for _, leaving := range []recipes.Leaving{recipes.LeaveLowest, recipes.LeaveNaive, recipes.LeaveSequential} {
		member := func(p *engine.Process) *recipes.DoubleBarrier {
			return recipes.NewDoubleBarrier(p.Conn, p.Env, a.path(fmt.Sprint("barrier-", leaving)), 2,
				recipes.DoubleBarrierOptions{Leaving: leaving})
		}
		first, second := member(a.p), member(a.by.p)
		leaves := a.background("first", func(ctx context.Context) error {
			return untilError(ctx, first.Enter, first.Leave)
		})
		a.fine(second.Enter(background), "DoubleBarrier.Enter")
		ends = append(ends, func() {
			a.fine(second.Leave(background), "DoubleBarrier.Leave of the last")
			a.fine(leaves(), "DoubleBarrier.Leave of the first")
		})
	}
	return oneByOne(ends)
}

// leases has one object wait for the only lease, and its holder ask for another.
func (a waits) leases() func() {
	lease := func(p *engine.Process) *recipes.Semaphore {
		return recipes.NewSemaphore(p.Conn, p.Env, a.path("lease"), 1, recipes.LockOptions{})
	}
	first, second := lease(a.by.p), lease(a.p)
	a.fine(first.Acquire(background), "Semaphore.Acquire of the only lease")
	got := a.background("second", second.Acquire)
	return func() {
		a.with(recipes.ErrHeld, first.Acquire(background), "Semaphore.Acquire of the holder, while others wait")
		a.fine(first.Release(background), "Semaphore.Release")
		a.fine(got(), "Semaphore.Acquire that has waited")
		a.fine(second.Release(background), "Semaphore.Release of the second")
	}
}

// removed has a lock and a lease waited for, and then removes their folders with all that is in them.
func (a waits) removed() func() {
	var ends []func()
	wants := func(dir, word string, take, give func(ctx context.Context) error) {
		a.create(a.path(dir), "")
		for n := range 2 {
			a.create(fmt.Sprintf("%s/_c_x-%s-%010d", a.path(dir), word, n), "")
		}
		got := a.background(word, take)
		ends = append(ends, func() {
			a.patiently("multi", func() error {
				names, _, err := a.p.Conn.Children(a.path(dir))
				var ops []any
				for _, name := range names {
					ops = append(ops, &zk.DeleteRequest{Path: a.path(dir) + "/" + name, Version: -1})
				}
				if err == nil {
					_, err = a.p.Conn.Multi(append(ops, &zk.DeleteRequest{Path: a.path(dir), Version: -1})...)
				}
				if err == zk.ErrNotEmpty {
					err = zk.ErrConnectionClosed // a znode has just been made: once more
				}
				return err
			}, zk.ErrNoNode)
			a.fine(got(), "waiting in a folder that was removed")
			a.fine(give(background), "giving up what was got after that")
		})
	}
	l := simpleLock(a.p, a.path("removed"))
	wants("removed", "lock", l.Lock, l.Unlock)
	a.create(a.path("leased"), "")
	s := twoLeases(a.p, a.path("leased"))
	wants("leased/leases", "lease", s.Acquire, s.Release)
	return oneByOne(ends)
}

// failedSite is a program of one transaction in which one site joins and fails: it is aborted.
func failedSite(p *engine.Process) {
	if p.ID > 1 {
		return
	}
	a := alone{refused{p: p, dir: p.Path("/dir")}}
	q, err := p.Dial()
	if err != nil {
		p.Fail(err)
		return
	}
	at := func(p *engine.Process, site string) *recipes.Transaction {
		return recipes.NewTransaction(p.Conn, p.Env, a.path("failed"),
			recipes.TransactionOptions{Site: site, Form: recipes.EphemeralSites})
	}
	c, x, y := at(p, ""), at(p, "x"), at(q, "y")
	a.fine(c.Begin(background, nil, "x", "y"), "Transaction.Begin")
	_, err = y.Join(background)
	a.fine(err, "Transaction.Join of the site that fails")
	var waits []func() error
	for _, t := range []*recipes.Transaction{c, x} {
		waits = append(waits, a.background("outcome", func(ctx context.Context) error {
			if t == x {
				a.fine(answer(x.Join)(ctx), "Transaction.Join")
				a.fine(x.Vote(ctx, true), "Transaction.Vote")
			}
			d, err := t.Outcome(ctx)
			a.is(err == nil && d == recipes.Aborted, "a transaction is aborted when a site fails that has not voted")
			return err
		}))
	}
	workload.Steps(p, 10)
	q.Conn.Close()
	for _, wait := range waits {
		a.fine(wait(), "Transaction.Outcome")
	}
}

// waitingScenario is what all scenarios of waiting have in common.
func waitingScenario(name, doc string, rounds int, program func(p *engine.Process), plan string) engine.Scenario {
	return engine.Scenario{Name: name, Doc: doc, Clients: 1, Rounds: rounds, Servers: []int{1, 3}, SafetySteps: 3000,
		MaxSteps: 8000, Setup: []model.Request{engine.Mkdir("/dir")}, Program: program, Faults: faults.MustParse(plan),
		Checkers: []checkers.Checker{checkers.Liveness{}, checkers.Steps{}}, Finally: endsAll, Heeds: nothing}
}

var waitingScenarios = []engine.Scenario{
	waitingScenario("recipes/waiting",
		"whoever waits hears of what happens after the faults, and asks for nothing before", 1, waiting(true),
		"disconnect=6 lose-reply=1 stale-read=1"),
	waitingScenario("recipes/hearing", "whoever waits hears of what happens amid the faults", 1, waiting(false),
		"disconnect=9 lose-reply=1 stale-read=1"),
	twoDials(waitingScenario("recipes/rewatched", "whoever waits hears of what happens while its watches are set again",
		8, rewatching, "lose-request=60@op=exists")),
	{
		Name: "recipes/failed-site", Doc: "a site joins and fails, and the others abort", Clients: 1, Dials: 1,
		Servers: []int{1, 3}, Setup: []model.Request{engine.Mkdir("/dir")}, Program: failedSite, Finally: endsAll,
		Heeds: nothing, Faults: faults.MustParse("disconnect=2 lose-reply=1 stale-read=1"),
		Checkers: []checkers.Checker{checkers.Liveness{}, checkers.Steps{}},
	},
	{
		Name: "recipes/hurried", Doc: "nothing is left of calls that were given up", Clients: 1, Servers: []int{1, 3},
		SafetySteps: 3000, MaxSteps: 8000, Setup: []model.Request{engine.Mkdir("/dir")}, Program: hurried,
		Finally: endsAll, Heeds: nothing, Faults: faults.MustParse("disconnect=2 lose-request=2 lose-reply=2 stale-read=1"),
		Checkers: append(slices.Clip(orderly), checkers.Leftover{Stay: []string{"/dir", "/dir/digits", "/dir/digits/*",
			"/dir/tasks-*", "/dir/tasks-*/status", "/dir/tasks-*/tasks", "/dir/tasks-*/assign", "/dir/tasks-*/workers",
			"/dir/election-*", "/dir/election-*/candidates", "/dir/election-*/leader", "/dir/meets-*", "/dir/meets-*/ready",
			"/dir/group-*", "/dir/group-*/*", "/dir/config-*", "/dir/config-*/a"}}),
	},
}

// twoDials lets the client of a scenario dial once more.
func twoDials(s engine.Scenario) engine.Scenario {
	s.Dials = 1
	return s
}
