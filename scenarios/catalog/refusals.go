package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// refused is a client that calls recipes in the wrong order or with invalid arguments, and asserts what the
// documentation promises for that. It is alone in its folder, so each answer is known.
type refused struct {
	p     *engine.Process
	dir   string
	after string // a suffix of names, in later rounds
}

var background = context.Background()

// with asserts that a call ends with an error.
func (r refused) with(want, err error, call string) {
	r.p.Ends(call, err, want)
}

// fine asserts that a call ends without an error.
func (r refused) fine(err error, call string) {
	r.p.Ends(call, err, nil)
}

// path returns a folder for one recipe.
func (r refused) path(name string) string { return r.dir + "/" + name + r.after }

// refusals is the program.
func refusals(p *engine.Process) {
	r := refused{p: p, dir: p.Path(fmt.Sprintf("/refusals-%d", p.ID))}
	for round := range p.Rounds {
		if round > 0 {
			r.after = fmt.Sprint("-", round)
		}
		if p.ID%2 == 0 { // before the faults are spent
			r.losses()
		}
		r.locks()
		r.shared()
		r.leads()
		r.barrier()
		r.queue()
		r.names()
		r.group()
		r.transaction()
		r.others()
		r.hurries()
		if p.ID%2 > 0 {
			r.losses()
		}
	}
}

// losses holds everything that can be lost for a while. If the connection was lost meanwhile, it waits to be told. An
// object answers for what it holds, even when that is lost, and takes nothing else before it gives that up. An object
// that holds nothing answers for nothing.
func (r refused) losses() {
	type losing interface {
		Lost() <-chan zk.Event
		Znodes() []string
	}
	answers := func(x losing, has bool) {
		token, counts := x.(interface{ Token() int64 })
		r.p.Always(fmt.Sprintf("Lost, Token and Znodes of %T are those of what it has", x), (x.Lost() != nil) == has &&
			(len(x.Znodes()) > 0) == has && (!counts || (token.Token() > 0) == has))
	}
	has := func(x losing, again error, takes, gives func(ctx context.Context) error) {
		answers(x, false)
		if takes(background) != nil {
			return
		}
		answers(x, true)
		lost, change := x.Lost(), r.p.Env.SessionEvents()
		workload.Steps(r.p, 4)
		r.with(again, takes(background), fmt.Sprintf("to take what a %T has, or has lost and not given up,", x))
		if len(change) > 0 {
			r.p.Env.Await(background, lost) // in vain if the recipe does not tell
		}
		if gives(background) == nil {
			answers(x, false)
		}
	}
	for _, l := range r.lockers() {
		has(l, recipes.ErrHeld, l.Lock, l.Unlock)
	}
	w := recipes.NewRWLock(r.p.Conn, r.p.Env, r.path("RWLock"), recipes.LockOptions{})
	has(w, recipes.ErrHeld, w.RLock, w.RUnlock)
	v := recipes.NewRevocableLock(r.p.Conn, r.p.Env, r.path("RevocableLock"), recipes.LockOptions{})
	has(v, recipes.ErrHeld, v.Lock, v.Unlock)
	s := recipes.NewSemaphore(r.p.Conn, r.p.Env, r.path("Semaphore"), 2, recipes.LockOptions{})
	has(s, recipes.ErrHeld, s.Acquire, s.Release)
	e := recipes.NewElection(r.p.Conn, r.p.Env, r.path("Election"), recipes.ElectionOptions{})
	has(e, recipes.ErrLeading, e.Campaign, e.Resign)
	d := recipes.NewDoubleBarrier(r.p.Conn, r.p.Env, r.path("DoubleBarrier"), 1, recipes.DoubleBarrierOptions{})
	has(d, recipes.ErrInside, d.Enter, d.Leave)
}

// hurries gives up what it has with a context that is done, which leaves the rest to the background. Whatever stays
// belongs to nobody.
func (r refused) hurries() {
	done := canceled()
	gives := func(call string, x interface{ Znodes() []string }, takes, givesUp func(ctx context.Context) error) {
		if takes(background) == nil {
			r.with(context.Canceled, givesUp(done), call+" with a context that is done")
			r.p.Always("who has given up answers for no znode", len(x.Znodes()) == 0)
		}
	}
	for name, l := range r.lockers() {
		gives(name+".Unlock", l, l.Lock, l.Unlock)
	}
	w := recipes.NewRWLock(r.p.Conn, r.p.Env, r.path("RWLock"), recipes.LockOptions{})
	gives("RWLock.Unlock", w, w.Lock, w.Unlock)
	gives("RWLock.RUnlock", w, w.RLock, w.RUnlock)
	gives("RWLock.Downgrade", w, w.Lock, w.Downgrade)
	s := recipes.NewSemaphore(r.p.Conn, r.p.Env, r.path("Semaphore"), 2, recipes.LockOptions{})
	gives("Semaphore.Release", s, s.Acquire, s.Release)
	e := recipes.NewElection(r.p.Conn, r.p.Env, r.path("Election"), recipes.ElectionOptions{})
	gives("Election.Resign", e, e.Campaign, e.Resign)
	d := recipes.NewDoubleBarrier(r.p.Conn, r.p.Env, r.path("DoubleBarrier"), 1, recipes.DoubleBarrierOptions{})
	gives("DoubleBarrier.Leave", d, d.Enter, d.Leave)
	var item *recipes.QueueItem
	q := recipes.NewQueue(r.p.Conn, r.p.Env, r.path("Queue"), recipes.QueueOptions{})
	claim := func(ctx context.Context) (err error) {
		if err = q.Put(ctx, []byte("y")); err == nil {
			item, err = q.TryClaim(ctx)
		}
		return err
	}
	if claim(background) == nil {
		gives("QueueItem.Return", item, func(context.Context) error { return nil }, item.Return)
	}
	var m *recipes.Membership
	g := recipes.NewGroup(r.p.Conn, r.p.Env, r.path("Group"), recipes.GroupOptions{})
	join := func(ctx context.Context) (err error) {
		m, err = g.Join(ctx, "hurry", nil)
		return err
	}
	if join(background) == nil {
		r.with(context.Canceled, m.Leave(done), "Membership.Leave with a context that is done")
	}
	worker := workerOf(r.p, r.path("Pool"))
	gives("Worker.Leave", worker, inVain(r.p, answer(worker.Next)), worker.Leave)
}

func (r refused) locks() {
	for name, l := range r.lockers() {
		r.p.Register(l.Znodes)
		r.with(recipes.ErrNotHeld, l.Unlock(background), name+".Unlock before Lock")
		r.fine(l.Lock(background), name+".Lock of a lock that nobody else wants")
		r.with(recipes.ErrHeld, l.Lock(background), "a second "+name+".Lock")
		r.with(recipes.ErrHeld, l.TryLock(background), name+".TryLock after Lock")
		r.fine(l.Unlock(background), name+".Unlock")
		r.with(recipes.ErrNotHeld, l.Unlock(background), "a second "+name+".Unlock")
	}
	l := recipes.NewLock(r.p.Conn, r.p.Env, r.path("nothing"), recipes.LockOptions{})
	list, err := l.Contenders(background)
	r.p.Always("a lock that nobody has ever wanted has no contenders", err == nil && len(list) == 0)
	l = known(r.p, recipes.NewLock(r.p.Conn, r.p.Env, r.path("Lock"), recipes.LockOptions{Data: []byte("me")}))
	r.fine(l.Lock(background), "Lock.Lock of another object")
	list, err = l.Contenders(background)
	r.p.Always("nobody but the holder is a contender", err == nil && len(list) <= 1)
	r.fine(l.Unlock(background), "Lock.Unlock of another object")
}

// lockers yields the locks, always in the same order.
func (r refused) lockers() func(yield func(string, workload.FullLocker) bool) {
	return func(yield func(string, workload.FullLocker) bool) {
		_ = yield("Lock", recipes.NewLock(r.p.Conn, r.p.Env, r.path("Lock"), recipes.LockOptions{})) &&
			yield("SingleNodeLock",
				recipes.NewSingleNodeLock(r.p.Conn, r.p.Env, r.path("SingleNodeLock"), recipes.LockOptions{}))
	}
}

func (r refused) shared() {
	l := known(r.p, recipes.NewRWLock(r.p.Conn, r.p.Env, r.path("RWLock"), recipes.LockOptions{}))
	r.with(recipes.ErrNotHeld, l.Downgrade(background), "RWLock.Downgrade before Lock")
	r.with(recipes.ErrNotHeld, l.RUnlock(background), "RWLock.RUnlock before RLock")
	r.fine(l.RLock(background), "RWLock.RLock")
	r.with(recipes.ErrHeld, l.Lock(background), "RWLock.Lock after RLock")
	r.with(recipes.ErrHeld, l.TryRLock(background), "RWLock.TryRLock after RLock")
	r.with(recipes.ErrNotHeld, l.Unlock(background), "RWLock.Unlock after RLock")
	r.fine(l.RUnlock(background), "RWLock.RUnlock")
	r.fine(l.TryLock(background), "RWLock.TryLock of a lock that nobody else wants")
	r.with(recipes.ErrNotHeld, l.RUnlock(background), "RWLock.RUnlock after TryLock")
	r.with(recipes.ErrHeld, l.RLock(background), "RWLock.RLock after TryLock")
	r.fine(l.Unlock(background), "RWLock.Unlock")
	v := known(r.p, recipes.NewRevocableLock(r.p.Conn, r.p.Env, r.path("RevocableLock"), recipes.LockOptions{}))
	paths, err := v.Queue(background)
	r.p.Always("a lock that nobody has ever wanted has no queue", err == nil && len(paths) == 0)
	r.fine(v.TryRLock(background), "RevocableLock.TryRLock of a lock that nobody else wants")
	r.with(recipes.ErrHeld, v.TryLock(background), "RevocableLock.TryLock after TryRLock")
	r.fine(v.RUnlock(background), "RevocableLock.RUnlock")
	s := known(r.p, recipes.NewSemaphore(r.p.Conn, r.p.Env, r.path("Semaphore"), 2, recipes.LockOptions{}))
	r.with(recipes.ErrNotHeld, s.Release(background), "Semaphore.Release before Acquire")
	r.fine(s.Acquire(background), "Semaphore.Acquire of a lease that nobody else wants")
	r.with(recipes.ErrHeld, s.Acquire(background), "a second Semaphore.Acquire")
	r.with(recipes.ErrHeld, s.TryAcquire(background), "Semaphore.TryAcquire after Acquire")
	r.fine(s.Release(background), "Semaphore.Release")
}

func (r refused) leads() {
	e := known(r.p, recipes.NewElection(r.p.Conn, r.p.Env, r.path("Election"), recipes.ElectionOptions{}))
	r.with(recipes.ErrNotLeading, e.Resign(background), "Election.Resign before Campaign")
	r.with(recipes.ErrNotLeading, e.Acknowledge(background), "Election.Acknowledge before Campaign")
	_, err := e.Leader(background)
	r.with(recipes.ErrNoLeader, err, "Election.Leader before anybody leads")
	r.fine(e.Campaign(background), "Election.Campaign of the only candidate")
	r.with(recipes.ErrLeading, e.Campaign(background), "a second Election.Campaign")
	list, err := e.Candidates(background)
	r.p.Always("nobody but the leader is a candidate", err == nil && len(list) <= 1)
	r.fine(e.Resign(background), "Election.Resign")
}

func (r refused) barrier() {
	d := recipes.NewDoubleBarrier(r.p.Conn, r.p.Env, r.path("DoubleBarrier"), 1, recipes.DoubleBarrierOptions{})
	r.p.Register(d.Znodes)
	r.with(recipes.ErrOutside, d.Leave(background), "DoubleBarrier.Leave before Enter")
	r.p.Always("there is no round outside of the barrier", d.Round() == 0)
	r.fine(d.Enter(background), "DoubleBarrier.Enter for one")
	r.with(recipes.ErrInside, d.Enter(background), "a second DoubleBarrier.Enter")
	r.fine(d.Leave(background), "DoubleBarrier.Leave")
}

func (r refused) queue() {
	q := recipes.NewQueue(r.p.Conn, r.p.Env, r.path("Queue"), recipes.QueueOptions{})
	n, err := q.Len(background)
	r.p.Always("a queue that nobody has ever used is empty", err == nil && n == 0)
	_, err = q.TryTake(background)
	r.with(recipes.ErrEmpty, err, "Queue.TryTake of an empty queue")
	if q.Put(background, []byte("x")) != nil {
		return // nobody knows whether it was put
	}
	n, err = q.Len(background)
	r.p.Always("an item that was put counts", err == nil && n == 1)
	item, err := q.TryClaim(background)
	if r.fine(err, "Queue.TryClaim of the only item"); err != nil {
		return
	}
	r.p.Register(item.Znodes)
	if r.p.ID%2 == 0 {
		r.fine(item.Return(background), "QueueItem.Return")
		q.TryTake(background)
	} else {
		item.Ack(background)
	}
	r.with(recipes.ErrClaimLost, item.Ack(background), "QueueItem.Ack of an item that is settled")
	r.with(recipes.ErrClaimLost, item.Return(background), "QueueItem.Return of an item that is settled")
}

func (r refused) names() {
	owner := func(name string) *recipes.Names {
		return recipes.NewNames(r.p.Conn, r.p.Env, r.path("Names"), recipes.NamesOptions{Owner: name})
	}
	a, b := owner("a-b"), owner("a")
	list, err := a.List(background)
	r.p.Always("there are no names before any is registered", err == nil && len(list) == 0)
	invalid := []string{"", ".", "..", "x/y", "_c_x", "\x1f", "\x7f", "\u009f", "\uf8ff", "\ufff0", "\U00010000"}
	for _, name := range invalid {
		r.with(zk.ErrInvalidPath, a.Register(background, name, nil), fmt.Sprintf("Names.Register of %q", name))
		_, err := a.Resolve(background, name)
		r.with(zk.ErrInvalidPath, err, fmt.Sprintf("Names.Resolve of %q", name))
		r.with(zk.ErrInvalidPath, a.Unregister(background, name), fmt.Sprintf("Names.Unregister of %q", name))
	}
	const odd = " ~\u00a0\ud7ff\uf900\uffef" // next to the characters that no name may have
	r.fine(a.Register(background, odd, nil), "Names.Register of an odd name")
	r.fine(a.Unregister(background, odd), "Names.Unregister of an odd name")
	_, err = a.RegisterNext(background, "x/", nil)
	r.with(zk.ErrInvalidPath, err, "Names.RegisterNext of a name with a slash")
	r.with(recipes.ErrNoName, a.Unregister(background, "x"), "Names.Unregister of no name")
	r.fine(a.Register(background, "x", nil), "Names.Register")
	r.with(recipes.ErrNameTaken, b.Register(background, "x", nil), "Names.Register of a name that is taken")
	r.with(recipes.ErrNotOwner, b.Unregister(background, "x"), "Names.Unregister of another's name")
	list, err = b.List(background)
	r.p.Always("a name that is registered is listed", err == nil && len(list) == 1)
	again := owner("a-b") // as after a restart
	r.fine(again.Unregister(background, "x"), "Names.Unregister by the owner, after a restart")
	_, err = b.Resolve(background, "x")
	r.with(recipes.ErrNoName, err, "Names.Resolve of a name that was unregistered")
}

func (r refused) group() {
	g := recipes.NewGroup(r.p.Conn, r.p.Env, r.path("Group"), recipes.GroupOptions{})
	list, err := g.List(background)
	r.p.Always("a group that nobody has joined has no members", err == nil && len(list) == 0)
	for _, name := range []string{"", "x/y"} {
		_, err := g.Join(background, name, nil)
		r.with(zk.ErrInvalidPath, err, fmt.Sprintf("Group.Join as %q", name))
	}
	m, err := g.Join(background, "x", nil)
	if r.fine(err, "Group.Join"); err != nil {
		return
	}
	list, err = g.List(background)
	r.p.Always("a group of one has at most one member", err == nil && len(list) <= 1)
	r.fine(m.Leave(background), "Membership.Leave")
}

func (r refused) transaction() {
	at := func(site string) *recipes.Transaction {
		t := recipes.NewTransaction(r.p.Conn, r.p.Env, r.path("Transaction"), recipes.TransactionOptions{Site: site})
		r.p.Register(t.Znodes)
		return t
	}
	coordinator, site := at(""), at("a")
	_, err := coordinator.Join(background)
	r.with(recipes.ErrRole, err, "Transaction.Join of the coordinator")
	r.with(recipes.ErrRole, coordinator.Vote(background, true), "Transaction.Vote of the coordinator")
	r.with(recipes.ErrUndecided, coordinator.Forget(background), "Transaction.Forget before the decision")
	r.with(recipes.ErrRole, site.Begin(background, nil, "a"), "Transaction.Begin of a site")
	for _, sites := range [][]string{{}, {"a", "a"}, {""}, {"a", ""}, {"a/b"}} {
		err := coordinator.Begin(background, nil, sites...)
		r.with(zk.ErrBadArguments, err, fmt.Sprintf("Transaction.Begin of %q", sites))
	}
}

// others is for objects that have no folder of their own.
func (r refused) others() {
	tasks := recipes.NewTaskClient(r.p.Conn, r.p.Env, r.path("tasks"), recipes.PoolOptions{})
	_, err := tasks.Task("none").Wait(background)
	r.with(recipes.ErrTaskGone, err, "Task.Wait of no task")
	bad := map[string][]byte{"x/y": nil}
	c := recipes.NewConfig(r.p.Conn, r.p.Env, r.path("Config"), recipes.ConfigOptions{})
	r.with(zk.ErrInvalidPath, c.Update(background, recipes.ConfigSet{}, bad), "Config.Update of a name with a slash")
	f := recipes.NewFlaggedConfig(r.p.Conn, r.p.Env, r.path("Flagged"), recipes.ConfigOptions{})
	r.with(zk.ErrInvalidPath, f.Update(background, bad), "FlaggedConfig.Update of a name with a slash")
	r.p.Always("kinds of changes have names", recipes.Added.String() != recipes.Removed.String())
	m, box := recipes.NewMutex(r.p.Env), recipes.NewMailbox[int](r.p.Env)
	var sent []int
	for n := range 2 {
		r.p.Env.Go("mail", func() {
			m.Lock(background)
			r.p.Step()
			sent = append(sent, n)
			box.Put(n)
			m.Unlock()
		})
	}
	workload.Steps(r.p, 4) // so that there may be two at once
	a, _ := box.Get(background)
	r.p.Env.Await(background, box.Ready())
	r.p.Always("all mail arrives once, in order", slices.Equal(sent, []int{a, box.Next()}))
}

// orderly judge programs that assert by themselves what recipes promise.
var orderly = []checkers.Checker{checkers.Liveness{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}

var refusalScenarios = []engine.Scenario{{
	Name: "recipes/refusals", Doc: "calls in the wrong order, or with what is not taken, end as the documentation says",
	Clients: 2, Rounds: 1, Servers: []int{1, 3}, Program: refusals,
	Faults:   faults.Contract().Except("cancel", "watch-delay", "overtake"),
	Checkers: orderly,
}}
