package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/workload"
)

// transactions commits and aborts in all forms.
func (a alone) transactions() {
	a.transaction(a.path("all-sites"), recipes.AllSites, true)
	a.transaction(a.path("by-coordinator"), recipes.ByCoordinator, false)
	a.transaction(a.path("ephemeral-sites"), recipes.EphemeralSites, false)
	a.presumed(a.path("presumed"))
}

// presumed ends a transaction with one vote missing: participants in any language can read what the znode says.
func (a alone) presumed(dir string) {
	c := recipes.NewTransaction(a.p.Conn, a.p.Env, dir, recipes.TransactionOptions{})
	a.fine(c.Begin(background, nil, "a"), "Transaction.Begin")
	d, err := c.Finish(background)
	a.is(err == nil && d == recipes.Aborted, "Transaction.Finish aborts what lacks a vote")
	var data []byte
	a.patiently("get", func() (err error) {
		data, _, err = a.p.Conn.Get(dir + "/decision")
		return err
	})
	a.is(string(data) == "aborted", "the decision of a transaction that lacks a vote is there to be read")
}

// transaction runs a transaction of a coordinator and two sites in one client. The last site votes yes or no as told.
func (a alone) transaction(dir string, form recipes.Form, yes bool) {
	at := func(site string) *recipes.Transaction {
		t := recipes.NewTransaction(a.p.Conn, a.p.Env, dir, recipes.TransactionOptions{Site: site, Form: form})
		a.p.Register(t.Znodes)
		return t
	}
	c, x, y := at(""), at("a"), at("ab")
	_, err := x.Finish(background)
	a.with(zk.ErrNoNode, err, "Transaction.Finish before it has begun")
	a.with(zk.ErrNoNode, x.Vote(background, true), "Transaction.Vote before it has begun")
	a.fine(c.Begin(background, []byte("data"), "a", "ab"), "Transaction.Begin")
	a.with(zk.ErrNodeExists, at("").Begin(background, nil, "a"), "Transaction.Begin of a transaction that is there")
	a.with(zk.ErrNoNode, at("b").Vote(background, true), "Transaction.Vote of a site that has no part")
	strangers := []string{dir + "/README", dir + "/site", dir + "/decisions", dir + "/-"}
	for _, path := range strangers {
		a.create(path, "no vote")
	}
	want := recipes.Aborted
	if yes {
		want = recipes.Committed
	}
	var told []func() error // of objects that wait from the beginning, without a Finish
	for _, t := range []*recipes.Transaction{at(""), at("a")} {
		told = append(told, a.background("outcome", func(ctx context.Context) error {
			d, err := t.Outcome(ctx)
			a.is(err != nil || d == want, "Transaction.Outcome that has waited is the decision")
			return err
		}))
		workload.Steps(a.p, 5)
	}
	for _, s := range []*recipes.Transaction{x, y} {
		data, err := s.Join(background)
		a.is(err == nil && string(data) == "data", "Transaction.Join tells the data")
		a.is((len(s.Znodes()) > 0) == (form == recipes.EphemeralSites), "Transaction.Znodes is the sign of life")
	}
	a.fine(x.Vote(background, true), "Transaction.Vote")
	a.fine(x.Vote(background, true), "a second Transaction.Vote of the same")
	a.with(recipes.ErrVoted, x.Vote(background, false), "a second Transaction.Vote of the other")
	a.with(recipes.ErrUndecided, x.Forget(background), "Transaction.Forget before the outcome")
	a.fine(y.Vote(background, yes), "Transaction.Vote of the last site")
	for _, wait := range told {
		a.fine(wait(), "Transaction.Outcome that has waited")
	}
	d, err := c.Finish(background)
	a.is(err == nil && d == want, "Transaction.Finish decides by the votes")
	for _, path := range strangers { // a transaction that is not empty cannot be forgotten
		a.delete(path)
	}
	for _, t := range []*recipes.Transaction{c, x, y} {
		d, err := t.Outcome(background)
		a.is(err == nil && d == want, "Transaction.Outcome is the decision")
		a.fine(t.Forget(background), "Transaction.Forget")
	}
	_, err = at("a").Outcome(background)
	a.with(zk.ErrNoNode, err, "Transaction.Outcome after it was forgotten")
	a.fine(x.Forget(background), "a second Transaction.Forget")
	a.patiently("exists", func() error {
		there, _, err := a.p.Conn.Exists(dir)
		a.is(err != nil || !there, "nothing is left of a transaction that all have forgotten")
		return err
	})
}

// tasks is a master, a worker and a client in one process.
func (a alone) tasks() {
	dir := a.path("pool")
	client := recipes.NewTaskClient(a.p.Conn, a.p.Env, dir, recipes.PoolOptions{})
	worker := known(a.p, recipes.NewWorker(a.p.Conn, a.p.Env, dir, recipes.PoolOptions{}))
	master := known(a.p, recipes.NewMaster(a.p.Conn, a.p.Env, dir, recipes.PoolOptions{}))
	end := a.running("master", "Master.Run until it is cancelled", master.Run)
	for _, data := range []string{"x", "y"} {
		task, err := client.Submit(background, []byte(data))
		a.fine(err, "TaskClient.Submit")
		next, err := worker.Next(background)
		a.is(err == nil && next.ID == task.ID() && string(next.Data) == data, "Worker.Next is the task that was submitted")
		again, err := worker.Next(background)
		a.is(err == nil && again.ID == next.ID, "Worker.Next is the same task until it is done")
		a.with(context.Canceled, worker.Done(canceled(), next, nil), "Worker.Done with a context that is done")
		a.fine(worker.Done(background, next, []byte("did\n"+data)), "Worker.Done")
		a.fine(worker.Done(background, next, nil), "a second Worker.Done by the same worker")
		result, err := client.Task(task.ID()).Wait(background)
		a.is(err == nil && string(result) == "did\n"+data, "Task.Wait returns the result")
		a.fine(task.Forget(background), "Task.Forget")
		_, err = task.Wait(background)
		a.with(recipes.ErrTaskGone, err, "Task.Wait of a task that was forgotten")
	}
	a.inTurn(dir, client, worker)
	a.withdrawn(dir + "-idle")
	a.fine(worker.Leave(background), "Worker.Leave")
	a.is(len(worker.Znodes()) == 0, "nothing is left of a worker that has left")
	a.p.AtRest() // an idle master sends no requests
	end()
}

// inTurn has two workers wait for two tasks.
func (a alone) inTurn(dir string, client *recipes.TaskClient, workers ...*recipes.Worker) {
	workers = append(workers, workerOf(a.p, dir))
	for _, w := range workers {
		a.p.Register(w.Znodes)
		for there := false; !there; { // it may give up before it has registered
			a.fine(inVain(a.p, answer(w.Next))(background), "Worker.Next, without a task,")
			exists, _, err := a.p.Conn.Exists(w.Znodes()[0])
			there = exists && err == nil // the library says that it exists when it cannot ask
		}
	}
	a.p.AtRest() // a master that loses its connection may begin with the same worker again
	var tasks []*recipes.Task
	for range workers {
		task, err := client.Submit(background, nil)
		a.fine(err, "TaskClient.Submit to two workers")
		tasks = append(tasks, task)
	}
	for i, w := range workers {
		next, err := w.Next(background) // waits forever if the other has all tasks
		a.fine(err, "Worker.Next in turn")
		a.fine(w.Done(background, next, nil), "Worker.Done in turn")
		if i > 0 {
			a.fine(w.Leave(background), "Worker.Leave of the second")
		}
	}
	for _, task := range tasks {
		a.fine(answer(task.Wait)(background), "Task.Wait for one of two")
		a.fine(task.Forget(background), "Task.Forget of one of two")
	}
}

// assigning is a connection on which something happens before a task is given to a worker.
type assigning struct {
	recipes.Conn
	do func()
}

// Multi implements recipes.Conn.
func (l assigning) Multi(ops ...any) ([]zk.MultiResponse, error) {
	for _, op := range ops {
		if x, checks := op.(*zk.CheckVersionRequest); checks && strings.Contains(x.Path, "/workers/") {
			l.do()
		}
	}
	return l.Conn.Multi(ops...)
}

// keepsLead has a worker leave right before it gets a task: no reason for a master to resign.
func (a alone) keepsLead() {
	dir := a.path("keeps-lead")
	for _, folder := range []string{"", "/tasks", "/workers", "/workers/w", "/assign", "/assign/w"} {
		a.create(dir+folder, "")
	}
	session := a.p.Env.SessionEvents()
	var master *recipes.Master
	var place []string
	master = recipes.NewMaster(assigning{a.p.Conn, func() {
		place = master.Znodes()
		a.delete(dir + "/workers/w")
	}}, unforgetting{a.p.Env}, dir, recipes.PoolOptions{})
	a.p.Register(master.Znodes)
	end := a.running("master", "Master.Run until it is cancelled", master.Run)
	task, err := tasksOf(a.p, dir).Submit(background, nil)
	a.fine(err, "TaskClient.Submit")
	a.p.AtRest()
	a.is(len(place) > 0 && slices.Equal(master.Znodes(), place) || len(session) > 0,
		"a master leads on when a worker leaves")
	end()
	a.fine(task.Forget(background), "Task.Forget of one that nobody has")
}

// withdrawn forgets a task that no worker has, in a pool without workers.
func (a alone) withdrawn(dir string) {
	task, err := recipes.NewTaskClient(a.p.Conn, a.p.Env, dir, recipes.PoolOptions{}).Submit(background, nil)
	a.fine(err, "TaskClient.Submit without a master")
	a.fine(task.Forget(background), "Task.Forget of one that nobody has")
	a.patiently("children", func() error {
		tasks, _, err := a.p.Conn.Children(dir + "/tasks")
		a.is(err != nil || len(tasks) == 0, "a task that nobody has is withdrawn when it is forgotten")
		return err
	})
}

// monitors holds a lock for too long.
func (a alone) monitors() {
	ctx, cancel := context.WithCancel(background)
	alarms := recipes.NewMailbox[recipes.Overdue](a.p.Env)
	dir := a.path("monitored")
	ends := []func() error{a.until(ctx, a.monitor(dir, holdsTooLong, alarms))}
	a.overdue(dir, "first", alarms)
	a.overdue(dir, "second", alarms)
	ends = append(ends, a.readers(ctx, alarms))
	ends = append(ends, a.until(ctx, a.monitor(a.path("never-locked"), holdsTooLong, alarms)))
	a.p.AtRest() // while nothing changes it asks nothing, even of a lock that nobody ever wanted
	cancel()
	for _, end := range ends {
		a.with(context.Canceled, end(), "Monitor.Run until it is cancelled")
	}
}

// readers has two clients read for too long, one after the other, while the queue no longer changes. end waits for the
// end of the monitor.
func (a alone) readers(ctx context.Context, alarms *recipes.Mailbox[recipes.Overdue]) (end func() error) {
	dir := a.path("monitored-readers")
	session := a.p.Env.SessionEvents()
	m, watcher := &meter{}, a
	watcher.p = m.of(a.p)
	var held []*recipes.RWLock
	for i := range 2 {
		l := known(a.p, recipes.NewRWLock(a.p.Conn, a.p.Env, dir, recipes.LockOptions{}))
		a.fine(l.RLock(background), "RWLock.RLock beside a monitor")
		if held = append(held, l); i == 0 {
			end = watcher.until(ctx, watcher.monitor(dir, readsTooLong, alarms))
			a.p.Env.Sleep(background, readsTooLong/2)
		}
	}
	told := map[string]bool{}
	for range held {
		alarm, err := alarms.Get(background)
		a.is(err == nil && !told[alarm.Path], "a monitor tells of each reader once")
		a.is(alarm.Held < readsTooLong*7/5 || len(session) > 0, "a monitor tells of each reader when it is due")
		told[alarm.Path] = true
	}
	a.p.AtRest()
	a.is(m.count() <= 2 || len(session) > 0, "a monitor waits for changes of the queue and of the session, and that once")
	for _, l := range held {
		a.is(told[l.Znodes()[0]], "a monitor tells of every reader that holds a lock for too long")
		a.fine(l.RUnlock(background), "RWLock.RUnlock beside a monitor")
	}
	return end
}

// newFolder monitors a lock whose folder is created while the monitor looks for it.
func (a alone) newFolder() {
	alarms := recipes.NewMailbox[recipes.Overdue](a.p.Env)
	dir := a.path("monitored-later")
	end := a.running("monitor", "Monitor.Run of a folder that was made later", a.monitor(dir, holdsTooLong, alarms).Run)
	a.p.Step()
	a.p.Step()
	a.create(dir, "")
	a.overdue(dir, "later", alarms)
	end()
}

// deadlines is an environment that asserts how many contexts with a deadline are open at once: each takes up memory
// until its deadline, or until it is ended.
type deadlines struct {
	recipes.Env
	a    alone
	open []context.Context
}

// WithTimeout implements recipes.Env.
func (d *deadlines) WithTimeout(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := d.Env.WithTimeout(ctx, limit)
	d.open = append(slices.DeleteFunc(d.open, func(ctx context.Context) bool { return ctx.Err() != nil }), ctx)
	d.a.is(len(d.open) == 1, "a monitor has no more than one deadline at a time")
	return ctx, end
}

// monitoredAgain runs a monitor twice while one client holds the lock and others begin to wait for it.
func (a alone) monitoredAgain() {
	alarms := recipes.NewMailbox[recipes.Overdue](a.p.Env)
	dir := a.path("monitored-again")
	m := recipes.NewMonitor(a.p.Conn, &deadlines{Env: a.p.Env, a: a}, dir,
		recipes.MonitorOptions{Limit: holdsTooLong, Alarm: alarms.Put})
	l := simpleLock(a.p, dir)
	a.p.Register(l.Znodes)
	a.fine(l.Lock(background), "Lock.Lock beside a monitor that runs twice")
	for i := range 2 {
		end := a.running("monitor", "Monitor.Run until it is cancelled", m.Run)
		if i == 0 {
			for n := range 3 {
				a.create(fmt.Sprintf("%s/_c_x-lock-%010d", dir, 1000+n), "")
			}
			_, err := alarms.Get(background)
			a.fine(err, "an alarm of a monitor that runs for the first time")
		} else {
			a.p.Env.Sleep(background, 3*time.Second)
			a.is(len(alarms.Ready()) == 0, "a monitor says it once, also when it is run again")
		}
		end()
	}
	a.fine(l.Unlock(background), "Lock.Unlock beside a monitor that runs twice")
}

// The limits of the monitors. While readers hold a lock for too long, the monitor looks once more at the first of them,
// for a second each time that it waits for an answer, before it reports the second.
const (
	holdsTooLong = time.Second
	readsTooLong = 10 * time.Second
)

// monitor returns a monitor of the lock on dir.
func (a alone) monitor(dir string, limit time.Duration, alarms *recipes.Mailbox[recipes.Overdue]) *recipes.Monitor {
	return recipes.NewMonitor(a.p.Conn, a.p.Env, dir, recipes.MonitorOptions{Limit: limit, Alarm: alarms.Put})
}

// until runs a monitor until ctx is done; end waits until it has ended.
func (a alone) until(ctx context.Context, m *recipes.Monitor) (end func() error) {
	return a.background("monitor", func(context.Context) error { return m.Run(ctx) })
}

// overdue holds a lock for too long.
func (a alone) overdue(dir, name string, alarms *recipes.Mailbox[recipes.Overdue]) {
	l := known(a.p, recipes.NewLock(a.p.Conn, a.p.Env, dir, recipes.LockOptions{Data: []byte(name)}))
	a.fine(l.Lock(background), "Lock.Lock beside a monitor")
	alarm, err := alarms.Get(background)
	a.is(err == nil && string(alarm.Data) == name && alarm.Path == l.Znodes()[0] && alarm.Held >= holdsTooLong,
		"a monitor says who holds a lock for too long")
	a.p.Env.Sleep(background, 3*time.Second)
	a.is(len(alarms.Ready()) == 0, "a monitor says it once")
	a.fine(l.Unlock(background), "Lock.Unlock beside a monitor")
}

// barriers holds and passes barriers.
func (a alone) barriers() {
	b := recipes.NewBarrier(a.p.Conn, a.p.Env, a.path("barrier"), recipes.BarrierOptions{})
	a.fine(b.Wait(background), "Barrier.Wait at a barrier that nobody has ever held")
	for range 2 {
		a.fine(b.Hold(background), "Barrier.Hold")
		a.fine(b.Hold(background), "a second Barrier.Hold")
		waits, passed := a.observed("barrier", b.Wait)
		workload.Steps(a.p, 5)
		a.is(!*passed, "nobody passes a barrier that is held")
		a.fine(b.Release(background), "Barrier.Release")
		a.fine(waits(), "Barrier.Wait until it is released")
	}
	a.fine(b.Release(background), "a second Barrier.Release")
	for _, leaving := range []recipes.Leaving{recipes.LeaveLowest, recipes.LeaveNaive, recipes.LeaveSequential} {
		a.doubleBarrier(leaving)
	}
}

// doubleBarrier has two participants in one client enter and leave twice.
func (a alone) doubleBarrier(leaving recipes.Leaving) {
	var all []*recipes.DoubleBarrier
	for range 2 {
		d := recipes.NewDoubleBarrier(a.p.Conn, a.p.Env, a.path("double-"+string(rune('a'+leaving))), 2,
			recipes.DoubleBarrierOptions{Leaving: leaving})
		a.p.Register(d.Znodes)
		all = append(all, d)
	}
	each := func(call string, f func(d *recipes.DoubleBarrier, ctx context.Context) error, inside int) {
		in := 0
		var waits []func() error
		for i, d := range all {
			wait := a.background("participant", func(ctx context.Context) error {
				err := f(d, ctx)
				in++
				return err
			})
			if waits = append(waits, wait); i == 0 {
				workload.Steps(a.p, 5)
				a.is(in == 0, "%s does not end before all have called", call)
			}
		}
		for i, wait := range waits {
			a.fine(wait(), call)
			a.is(len(all[i].Znodes()) == inside, "%s leaves %d znodes", call, inside)
		}
	}
	last := int64(0)
	for range 2 {
		each("DoubleBarrier.Enter", (*recipes.DoubleBarrier).Enter, 1)
		for _, d := range all {
			a.is(d.Round() > last && d.Round() == all[0].Round(), "all inside are of one round, a later one")
			a.is(d.Lost() != nil, "who is inside hears of its end")
		}
		last = all[0].Round()
		each("DoubleBarrier.Leave", (*recipes.DoubleBarrier).Leave, 0)
	}
}
