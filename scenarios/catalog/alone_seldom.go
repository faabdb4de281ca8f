package catalog

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/workload"
)

// nameless has two objects without an owner name: each is an owner of its own.
func (a alone) nameless() {
	of := func() *recipes.Names {
		return recipes.NewNames(a.p.Conn, a.p.Env, a.path("nameless"), recipes.NamesOptions{})
	}
	first, second := of(), of()
	a.fine(first.Register(background, "name", nil), "Names.Register of who has no owner")
	a.with(recipes.ErrNotOwner, second.Unregister(background, "name"), "Names.Unregister by another without an owner")
	a.fine(first.Unregister(background, "name"), "Names.Unregister by the same object without an owner")
}

// cachedTwice runs a cached configuration twice: it reports no set again.
func (a alone) cachedTwice() {
	dir := a.path("cached-twice")
	c := recipes.NewConfig(a.p.Conn, a.p.Env, dir, recipes.ConfigOptions{})
	last := int64(0)
	told := recipes.NewMailbox[recipes.ConfigSet](a.p.Env)
	cached := recipes.NewCachedConfig(a.p.Conn, a.p.Env, dir, func(set recipes.ConfigSet) {
		a.is(set.Zxid > last, "a cached configuration that is run again tells sets that are later than those before")
		last = set.Zxid
		told.Put(set)
	})
	for _, value := range []string{"1", "2"} {
		base, err := c.Get(background)
		a.fine(err, "Config.Get")
		err = c.Update(background, base, map[string][]byte{"a": []byte(value)})
		if errors.Is(err, recipes.ErrUnknownOutcome) {
			return
		}
		a.fine(err, "Config.Update")
		for range 2 {
			end := a.running("cached", "CachedConfig.Run until it is cancelled", cached.Run)
			for string(cached.Get().Values["a"]) != value {
				told.Get(background)
			}
			a.p.AtRest()
			end()
			a.is(string(cached.Get().Values["a"]) == value, "a cached configuration stays what it was when its Run has ended")
		}
	}
}

// masters has a master run, and returns the function that ends it.
func (a alone) masters(dir string) (end func()) {
	return a.running("master", "Master.Run until it is cancelled", func(ctx context.Context) error {
		return known(a.p, masterOf(a.p, dir)).Run(ctx)
	})
}

// forgottenAtWork has a task forgotten while a worker does it.
func (a alone) forgottenAtWork() {
	dir := a.path("forgotten-at-work")
	end := a.masters(dir)
	w := known(a.p, workerOf(a.p, dir))
	task, err := tasksOf(a.p, dir).Submit(background, nil)
	a.fine(err, "TaskClient.Submit")
	next, err := w.Next(background)
	a.fine(err, "Worker.Next")
	a.fine(task.Forget(background), "Task.Forget of one that a worker does")
	a.with(recipes.ErrTaskGone, w.Done(background, next, nil), "Worker.Done of a task that was forgotten")
	a.fine(inVain(a.p, answer(w.Next))(background), "Worker.Next, after a task that was forgotten,")
	a.fine(w.Leave(background), "Worker.Leave")
	end()
}

// votesLate has a site vote no when the transaction is already aborted: the vote counts.
func (a alone) votesLate() {
	dir := a.path("votes-late")
	c := recipes.NewTransaction(a.p.Conn, a.p.Env, dir, recipes.TransactionOptions{})
	x := recipes.NewTransaction(a.p.Conn, a.p.Env, dir, recipes.TransactionOptions{Site: "x"})
	a.fine(c.Begin(background, nil, "x"), "Transaction.Begin")
	_, err := c.Finish(background)
	a.fine(err, "Transaction.Finish")
	a.fine(x.Vote(background, false), "Transaction.Vote of no after the decision")
	a.with(recipes.ErrVoted, x.Vote(background, true), "Transaction.Vote of yes after a no after the decision")
	_, err = x.Outcome(background)
	a.fine(err, "Transaction.Outcome")
	a.fine(x.Forget(background), "Transaction.Forget")
	a.fine(c.Forget(background), "Transaction.Forget")
}

// doubtful has a group watched with a callback for doubts.
func (a alone) doubtful() {
	a.create(a.path("begun"), "") // there is a session; otherwise the watcher may not notice that it had none
	doubts := 0
	g := recipes.NewGroup(a.p.Conn, a.p.Env, a.path("doubtful"), recipes.GroupOptions{
		WatchOptions: recipes.WatchOptions{Suspect: func(bool) { doubts++ }}})
	told := make(chan zk.Event, 1)
	end := a.running("watcher", "Group.Watch until it is cancelled", func(ctx context.Context) error {
		return g.Watch(ctx, func([]recipes.Child, []recipes.Change) bool {
			if len(told) == 0 {
				told <- zk.Event{}
			}
			return true
		})
	})
	a.p.Env.Await(background, told)
	workload.Steps(a.p, 40)
	a.p.AtRest()
	a.p.Sometimes("who watches a group is told that it cannot know", doubts > 0)
	a.is(doubts%2 == 0, "who watches a group is told that it can")
	end()
}

// brokenOpen has an operator delete a lock on one znode: unlocking it leaves nothing behind.
func (a alone) brokenOpen() {
	dir := a.path("broken-open")
	l := singleLock(a.p, dir)
	a.fine(l.Lock(background), "SingleNodeLock.Lock")
	own := l.Znodes()
	a.delete(own[0])
	a.fine(l.Unlock(background), "SingleNodeLock.Unlock of what an operator has deleted")
	for _, path := range own {
		a.patiently("exists", func() error {
			there, _, err := a.p.Conn.Exists(path)
			a.is(err != nil || !there, "nothing is left of a lock on one znode that an operator has deleted")
			return err
		})
	}
}

// reportsAgain has a worker report again what it did under an earlier name.
func (a alone) reportsAgain() {
	dir := a.path("reports-again")
	end := a.masters(dir)
	w := known(a.p, workerOf(a.p, dir))
	task, err := tasksOf(a.p, dir).Submit(background, nil)
	a.fine(err, "TaskClient.Submit")
	next, err := w.Next(background)
	a.fine(err, "Worker.Next")
	a.fine(w.Done(background, next, []byte("1")), "Worker.Done")
	a.fine(w.Leave(background), "Worker.Leave")
	a.fine(inVain(a.p, answer(w.Next))(background), "Worker.Next, under another name and without a task,")
	a.fine(w.Done(background, next, []byte("1")), "Worker.Done of what was reported under an earlier name")
	a.fine(answer(task.Wait)(background), "Task.Wait")
	a.fine(w.Leave(background), "Worker.Leave")
	end()
}

// dated has a configuration that was made and never updated.
func (a alone) dated() {
	dir := a.path("dated")
	set, err := recipes.NewConfig(a.p.Conn, a.p.Env, dir, recipes.ConfigOptions{}).Get(background)
	a.is(err == nil && set.Zxid == 0, "a set of which there is no znode has no zxid")
	a.create(dir, "")
	for i := range 2 {
		told := recipes.NewMailbox[recipes.ConfigSet](a.p.Env)
		set, err = recipes.NewConfig(a.p.Conn, a.p.Env, dir, recipes.ConfigOptions{}).Get(background)
		a.is(err == nil && set.Zxid > 0, "a set that was never updated has the zxid of its znode")
		if i > 0 {
			break
		}
		end := a.running("cached", "CachedConfig.Run until it is cancelled",
			recipes.NewCachedConfig(a.p.Conn, a.p.Env, dir, told.Put).Run)
		first, err := told.Get(background)
		a.is(err == nil && first.Zxid == set.Zxid && first.Values != nil, "a set that was never updated is told")
		end()
	}
}
