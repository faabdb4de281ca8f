package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// givesUp makes a program in which the first client gives up one thing after another. Then nothing is left of it, not
// even in a session that has ended only according to a deposed leader.
func givesUp(things ...func(a givingUp)) func(p *engine.Process) {
	return func(p *engine.Process) {
		if p.ID > 1 {
			return
		}
		a := givingUp{alone{refused{p: p, dir: p.Path("/dir")}}, new([]<-chan zk.Event)}
		for round := range p.Rounds {
			q := p
			if a.p.Choose(2) > 0 {
				q = leisurely(p)
			}
			a.p, a.after = knowing(q, a.undoing), fmt.Sprint("-", round)
			things[a.p.Choose(len(things))](a)
		}
	}
}

// undoer is an environment that knows the clean-ups under way in the background.
type undoer struct {
	recipes.Env
	undoing *[]<-chan zk.Event // each is closed when its clean-up has ended
}

// knowing returns the process with such an environment.
func knowing(p *engine.Process, undoing *[]<-chan zk.Event) *engine.Process {
	q := *p
	q.Env = undoer{p.Env, undoing}
	return &q
}

// Undo implements [recipes.Env].
func (u undoer) Undo(name string, f func()) {
	ended := make(chan zk.Event)
	*u.undoing = append(*u.undoing, ended)
	u.Env.Undo(name, func() {
		f()
		close(ended)
	})
}

// givingUp is the only client, and knows the clean-ups under way.
type givingUp struct {
	alone
	undoing *[]<-chan zk.Event
}

// keeps waits for a while, but no longer than its session lasts.
func (a givingUp) keeps() {
	session := a.p.Conn.SessionID()
	for n := a.p.Choose(100); n > 0 && a.p.Conn.SessionID() == session; n-- {
		a.p.Step()
	}
}

// gives keeps something for a while and gives it up.
func (a givingUp) gives(call string, x znodeOwner, give func(ctx context.Context) error) {
	a.keeps()
	own := x.Znodes()
	if a.p.Choose(2) > 0 {
		a.fine(give(background), call)
	} else {
		a.with(context.Canceled, give(canceled()), call+" with a context that is done")
		a.tidies()
	}
	a.areGone(call, own...)
}

// hurry returns a context that is cancelled in fewer than steps steps, and a function that waits for that.
func (a givingUp) hurry(steps int) (ctx context.Context, hurried func() error) {
	ctx, cancel := context.WithCancel(background)
	hurried = a.background("hurry", func(context.Context) error {
		workload.Steps(a.p, a.p.Choose(steps))
		cancel()
		return nil
	})
	return ctx, hurried
}

// tidies waits until all clean-ups have ended.
func (a givingUp) tidies() {
	for len(*a.undoing) > 0 {
		ended := (*a.undoing)[0]
		*a.undoing = (*a.undoing)[1:]
		a.p.Env.Await(background, ended)
	}
}

// fenced reads after a write of its own in the same session: a later session may begin in the past.
func (a givingUp) fenced(call string, read func() error, done ...error) {
	a.patiently(call, func() error {
		session := a.p.Conn.SessionID()
		_, err := a.p.Conn.Multi()
		if err == nil {
			err = read()
		}
		if err == nil && (session == 0 || session != a.p.Conn.SessionID()) {
			err = zk.ErrConnectionClosed // once more
		}
		return err
	}, done...)
}

// areGone asserts that znodes are gone.
func (a givingUp) areGone(call string, znodes ...string) {
	for _, path := range znodes {
		there := false
		a.fenced("exists", func() (err error) {
			there, _, err = a.p.Conn.Exists(path)
			return err
		})
		a.is(!there, "nothing is left after %s", call)
	}
}

func (a givingUp) givesUpLock() {
	l := known(a.p, simpleLock(a.p, a.path("lock")))
	a.fine(l.Lock(background), "Lock.Lock")
	a.gives("Lock.Unlock", l, l.Unlock)
}

// givesUpRead has a writer become a reader, or find out that it is neither.
func (a givingUp) givesUpRead() {
	l := known(a.p, recipes.NewRWLock(a.p.Conn, a.p.Env, a.path("rwlock"), recipes.LockOptions{}))
	a.fine(l.Lock(background), "RWLock.Lock")
	a.keeps()
	own := l.Znodes()
	if err := l.Downgrade(background); err == nil {
		a.gives("RWLock.RUnlock", l, l.RUnlock)
	} else {
		a.with(recipes.ErrLost, err, "RWLock.Downgrade")
		a.tidies()
	}
	a.areGone("RWLock.Downgrade", own...)
}

func (a givingUp) givesUpLead() {
	e := known(a.p, candidate(a.p, a.path("election")))
	a.fine(e.Campaign(background), "Election.Campaign")
	a.gives("Election.Resign", e, e.Resign)
}

func (a givingUp) givesUpLease() {
	s := known(a.p, twoLeases(a.p, a.path("semaphore")))
	a.fine(s.Acquire(background), "Semaphore.Acquire")
	a.gives("Semaphore.Release", s, s.Release)
}

func (a givingUp) givesUpMembership() {
	dir := a.path("group")
	m, err := groupOf(a.p, dir).Join(background, "me", nil)
	if a.fine(err, "Group.Join"); err != nil {
		return
	}
	a.keeps()
	a.fine(m.Leave(background), "Membership.Leave")
	a.areGone("Membership.Leave", dir+"/me")
}

// givesUpWork has an operator delete a worker's folder of assignments before the worker goes on.
func (a givingUp) givesUpWork() {
	dir := a.path("pool")
	end := a.masters(dir)
	w := known(a.p, workerOf(a.p, dir))
	var own []string
	for range 2 {
		_, err := tasksOf(a.p, dir).Submit(background, nil)
		a.fine(err, "TaskClient.Submit")
		next, err := w.Next(background)
		a.fine(err, "Worker.Next")
		own = append(own, w.Znodes()...)
		if w.Done(background, next, nil) == nil {
			a.patiently("delete", func() error { return a.p.Conn.Delete(dir+"/assign/"+next.Worker, -1) }, zk.ErrNoNode,
				zk.ErrNotEmpty)
		}
	}
	a.fine(w.Leave(background), "Worker.Leave")
	a.areGone("Worker.Leave", own...)
	end()
}

// givesUpName has one of two coordinators that want the same name give up, or come second. Whatever it has sent, the
// other's transaction stays until the other forgets it; then nothing is left.
func (a givingUp) givesUpName() {
	dir := a.path("transaction")
	at := func(site string) *recipes.Transaction {
		return recipes.NewTransaction(a.p.Conn, a.p.Env, dir, recipes.TransactionOptions{Site: site})
	}
	ends := func(c *recipes.Transaction) {
		for _, t := range []*recipes.Transaction{at("x"), c} {
			workload.Steps(a.p, a.p.Choose(8))
			_, err := t.Finish(background)
			a.fine(err, "Transaction.Finish")
			a.fine(t.Forget(background), "Transaction.Forget")
		}
	}
	begun := false
	second := a.background("second", func(ctx context.Context) error {
		c, err := at(""), zk.ErrNodeExists
		for err == zk.ErrNodeExists && !begun {
			err = c.Begin(ctx, nil, "x")
		}
		if err == nil {
			ends(c)
		}
		return nil
	})
	ctx, _ := a.hurry(30)
	first := at("")
	if begun = first.Begin(ctx, nil, "x") == nil; begun {
		ends(first)
	}
	second()
	a.tidies()
	a.p.AtRest()
	a.areGone("Transaction.Forget", dir)
}

// givesUpItem has an operator delete an item that a consumer acknowledges. Perhaps only one of the two is told of
// success.
func (a givingUp) givesUpItem() {
	q := fifo(a.p, a.path("queue"))
	if unsure(q.Put(background, nil)) {
		return
	}
	item, err := q.Claim(background)
	if err != nil { // it may be unknown what was claimed
		return
	}
	known(a.p, item)
	items := a.path("queue") + "/items"
	names, _, _ := a.p.Conn.Children(items)
	deleted := false
	operator := a.background("operator", func(context.Context) error {
		workload.Steps(a.p, a.p.Choose(16))
		for _, name := range names {
			deleted = a.p.Conn.Delete(items+"/"+name, -1) == nil
		}
		return nil
	})
	err = item.Ack(background)
	operator()
	a.is(err != nil || !deleted, "an item that was acknowledged is deleted by nobody else")
}

// opensForCertain has a Hold given up and then a Release, after which the barrier is certainly open.
func (a givingUp) opensForCertain() {
	path := a.path("barrier")
	b := recipes.NewBarrier(a.p.Conn, a.p.Env, path, recipes.BarrierOptions{})
	if a.p.Choose(4) > 0 {
		a.fine(b.Hold(background), "Barrier.Hold")
		a.fine(b.Release(background), "Barrier.Release")
	}
	ctx, hurried := a.hurry(12)
	b.Hold(ctx)
	a.fine(b.Release(background), "Barrier.Release")
	hurried()
	a.p.AtRest()
	var data []byte
	a.fenced("get", func() (err error) {
		data, _, err = a.p.Conn.Get(path)
		return err
	}, zk.ErrNoNode)
	a.is(string(data) != "held", "Barrier.Release makes certain what has become of a Hold that was given up")
}

// takesInHaste has a Take given up: nothing remains claimed.
func (a givingUp) takesInHaste() {
	dir := a.path("haste")
	q := recipes.NewQueue(a.p.Conn, a.p.Env, dir, recipes.QueueOptions{})
	if q.Put(background, nil) != nil {
		return
	}
	ctx, hurried := a.hurry(40)
	q.Take(ctx)
	hurried()
	a.tidies()
	a.p.AtRest()
	for _, folder := range []string{dir, dir + "/claims"} {
		a.patiently("children", func() error {
			names, _, err := a.p.Conn.Children(folder)
			names = slices.DeleteFunc(names, func(name string) bool { return name == "items" || name == "claims" })
			a.is(err != nil || len(names) == 0, "nothing remains claimed after a Take that was given up")
			return err
		}, zk.ErrNoNode)
	}
}

func goneScenario(s engine.Scenario) engine.Scenario {
	s.Clients, s.Rounds, s.Servers, s.SafetySteps, s.MaxSteps = 1, 6, []int{3}, 3000, 8000
	s.Setup = []model.Request{engine.Mkdir("/dir")}
	s.Checkers = orderly
	return s
}

var goneScenarios = []engine.Scenario{
	goneScenario(engine.Scenario{
		Name: "recipes/gone", Doc: "nothing is left of what was given up, even in a session that its client takes for ended",
		Program: givesUp(givingUp.givesUpLock, givingUp.givesUpRead, givingUp.givesUpLead, givingUp.givesUpLease,
			givingUp.givesUpMembership, givingUp.givesUpWork),
		Faults: faults.MustParse("depose=24 disconnect=4"),
	}),
	goneScenario(engine.Scenario{
		Name: "recipes/undone", Doc: "what is acknowledged is so once, and a take that was given up leaves no claim",
		Program: givesUp(givingUp.givesUpItem, givingUp.takesInHaste),
		Faults:  faults.MustParse("lose-reply=6@op=multi lose-request=6@op=multi disconnect=6 depose=6"),
	}),
	goneScenario(engine.Scenario{
		Name: "recipes/withdrawn", Doc: "a transaction that is withdrawn takes no other of its name with it",
		Program: givesUp(givingUp.givesUpName), Faults: faults.MustParse("lose-reply=24@op=multi"),
	}),
	goneScenario(engine.Scenario{
		Name: "recipes/given-up", Doc: "a release makes certain what has become of a hold that was given up",
		Program: givesUp(givingUp.opensForCertain), Faults: faults.MustParse("disconnect=12 lose-reply=6"),
	}).Without("tree"), // nothing is ephemeral
}
