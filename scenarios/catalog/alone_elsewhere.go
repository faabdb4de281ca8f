package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"zksim/faults"
	"zksim/model"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// twofold is the only client, with two connections. What it was told on one also holds on the other, which may lead to
// a deposed leader.
type twofold struct {
	alone // on the first connection
	other alone
}

// onTwoConnections is the program. It uses nothing that belongs to a session: nobody knows when that ends.
func onTwoConnections(p *engine.Process) {
	first, other, ok := onTwo(p)
	if !ok {
		return
	}
	if q := *other.p; p.Choose(2) > 0 {
		q.Conn = unsynced{q.Conn}
		other.p = &q
	}
	a := twofold{first, other}
	parts := []func(name string){a.counted, a.named, a.configured, a.flagged, a.queued, a.ranked, a.worked,
		a.revoked, a.led, a.decided}
	for i := range p.Rounds {
		parts[a.p.Choose(len(parts))](a.path(fmt.Sprint("part-", i)))
	}
	other.p.Conn.Close()
}

// onTwo returns the only client and the same client on another connection. Both have a session: without one, the
// outcome of a put may be unknown. ok is false for other clients, and where p cannot dial.
func onTwo(p *engine.Process) (a, other alone, ok bool) {
	if p.ID > 1 {
		return a, other, false
	}
	q, err := p.Dial()
	if err != nil {
		p.Fail(err)
		return a, other, false
	}
	a, other = alone{refused{p: p, dir: p.Path("/dir")}}, alone{refused{p: q, dir: p.Path("/dir")}}
	a.create(a.path("begun"), "")
	other.create(a.path("begun-too"), "")
	return a, other, true
}

// unsynced is a connection whose syncs a deposed leader answers: at once, so they say nothing about what is shown next.
type unsynced struct{ recipes.Conn }

// Sync implements recipes.Conn.
func (u unsynced) Sync(path string) (string, error) { return path, nil }

// unsure reports whether an error says that an outcome is unknown, as when a deposed leader has told a client that its
// session has ended.
func unsure(err error) bool {
	return errors.Is(err, recipes.ErrUnknownOutcome) || errors.Is(err, recipes.ErrLost)
}

func (a twofold) counted(dir string) {
	c := recipes.NewCounter(a.p.Conn, a.p.Env, dir, recipes.CounterOptions{})
	other := recipes.NewCounter(a.other.p.Conn, a.other.p.Env, dir, recipes.CounterOptions{})
	for range 8 {
		sum, err := c.Add(background, 1)
		if unsure(err) {
			return
		}
		a.fine(err, "Counter.Add")
		swapped, err := other.CompareAndSet(background, sum, sum)
		a.is(err == nil && swapped || unsure(err), "Counter.CompareAndSet knows a sum that was told elsewhere")
	}
	sum, err := c.Add(background, 1)
	if unsure(err) {
		return
	}
	a.fine(err, "Counter.Add")
	n, err := other.Get(background)
	a.is(err == nil && n == sum, "Counter.Get knows a sum that was told elsewhere")
}

func (a twofold) named(dir string) {
	of := func(a alone) *recipes.Names {
		return recipes.NewNames(a.p.Conn, a.p.Env, dir, recipes.NamesOptions{Owner: "me"})
	}
	n, other := of(a.alone), of(a.other)
	a.fine(n.Register(background, "a", []byte("one")), "Names.Register")
	data, err := other.Resolve(background, "a")
	a.is(err == nil && string(data) == "one", "Names.Resolve knows a name that was registered elsewhere")
	a.fine(n.Register(background, "b", nil), "Names.Register")
	names, err := other.List(background)
	a.is(err == nil && slices.Equal(names, []string{"a", "b"}), "Names.List knows names that were registered elsewhere")
	a.fine(n.Unregister(background, "a"), "Names.Unregister")
	_, err = other.Resolve(background, "a")
	a.with(recipes.ErrNoName, err, "Names.Resolve of what was unregistered elsewhere")
	a.fine(n.Register(background, "c", nil), "Names.Register")
	a.fine(other.Unregister(background, "c"), "Names.Unregister of what was registered elsewhere")
}

func (a twofold) configured(dir string) {
	c := recipes.NewConfig(a.p.Conn, a.p.Env, dir, recipes.ConfigOptions{})
	other := recipes.NewConfig(a.other.p.Conn, a.other.p.Env, dir, recipes.ConfigOptions{})
	var base recipes.ConfigSet
	for i := range 3 {
		text := fmt.Sprint(i)
		err := c.Update(background, base, map[string][]byte{"a": []byte(text)})
		if unsure(err) {
			return
		}
		a.fine(err, "Config.Update")
		set, err := other.Get(background)
		a.is(err == nil && string(set.Values["a"]) == text, "Config.Get knows an update that was made elsewhere")
		base = set
	}
}

func (a twofold) flagged(dir string) {
	c := recipes.NewFlaggedConfig(a.p.Conn, a.p.Env, dir, recipes.ConfigOptions{})
	other := recipes.NewFlaggedConfig(a.other.p.Conn, a.other.p.Env, dir, recipes.ConfigOptions{})
	for i := range 2 {
		text := fmt.Sprint(i)
		err := c.Update(background, map[string][]byte{"a": []byte(text)})
		if unsure(err) {
			return
		}
		a.fine(err, "FlaggedConfig.Update")
		set, err := other.Get(background)
		a.is(err == nil && string(set.Values["a"]) == text, "FlaggedConfig.Get knows an update that was made elsewhere")
	}
}

func (a twofold) queued(dir string) {
	q := recipes.NewQueue(a.p.Conn, a.p.Env, dir, recipes.QueueOptions{})
	other := recipes.NewQueue(a.other.p.Conn, a.other.p.Env, dir, recipes.QueueOptions{})
	for i := range 3 {
		text := fmt.Sprint(i)
		err := q.Put(background, []byte(text))
		if unsure(err) {
			return
		}
		a.fine(err, "Queue.Put")
		item, err := other.TryTake(background)
		if unsure(err) {
			return
		}
		a.is(err == nil && string(item) == text, "Queue.TryTake takes what was put elsewhere")
		_, err = q.TryTake(background)
		a.with(recipes.ErrEmpty, err, "Queue.TryTake after the item was taken elsewhere")
	}
}

func (a twofold) ranked(dir string) {
	q := recipes.NewPriorityQueue(a.p.Conn, a.p.Env, dir, recipes.QueueOptions{})
	other := recipes.NewPriorityQueue(a.other.p.Conn, a.other.p.Env, dir, recipes.QueueOptions{})
	for priority := uint16(9); priority > 5; priority-- {
		err := q.Put(background, []byte(fmt.Sprint(priority)), priority)
		if unsure(err) {
			return
		}
		a.fine(err, "PriorityQueue.Put")
		if priority%2 > 0 {
			continue
		}
		item, err := other.TryTake(background)
		if unsure(err) {
			return
		}
		a.is(err == nil && string(item) == fmt.Sprint(priority),
			"PriorityQueue.TryTake takes the first of what was put elsewhere")
	}
}

func (a twofold) worked(dir string) {
	worker := recipes.NewWorker(a.p.Conn, a.p.Env, dir, recipes.PoolOptions{})
	end := a.running("master", "Master.Run until it is cancelled", func(ctx context.Context) error {
		return recipes.NewMaster(a.p.Conn, a.p.Env, dir, recipes.PoolOptions{}).Run(ctx)
	})
	for range 2 {
		task, err := tasksOf(a.p, dir).Submit(background, nil)
		a.fine(err, "TaskClient.Submit")
		told := a.background("client", answer(tasksOf(a.other.p, dir).Task(task.ID()).Wait))
		for done := false; !done; { // another worker may get it if the session has ended
			next, err := worker.Next(background)
			a.fine(err, "Worker.Next")
			done = worker.Done(background, next, nil) == nil
		}
		a.fine(told(), "Task.Wait for what was submitted elsewhere")
	}
	a.fine(worker.Leave(background), "Worker.Leave")
	end()
}

func (a twofold) revoked(dir string) {
	l := known(a.p, revocableLock(a.p, dir))
	a.fine(l.Lock(background), "RevocableLock.Lock")
	own := lastZnode(l)
	a.fine(revocableLock(a.other.p, dir).Revoke(background, own), "RevocableLock.Revoke of what was told elsewhere")
	a.p.Env.Await(background, l.Revoked(), l.Lost()) // in vain if nobody has been told
	a.fine(l.Unlock(background), "RevocableLock.Unlock")
}

func (a twofold) led(dir string) {
	e, asks := known(a.p, candidate(a.p, dir)), candidate(a.other.p, dir)
	for range 3 {
		a.fine(e.Campaign(background), "Election.Campaign")
		lost := e.Lost()
		if e.Acknowledge(background) == nil {
			x, err := asks.Leader(background)
			a.is(err == nil && x.Token == e.Token() || len(lost) > 0, "Election.Leader knows who has acknowledged elsewhere")
		}
		a.fine(e.Resign(background), "Election.Resign")
		_, err := asks.Leader(background)
		a.with(recipes.ErrNoLeader, err, "Election.Leader after the leader has resigned elsewhere")
	}
}

func (a twofold) decided(dir string) {
	of := func(a alone, site string) *recipes.Transaction {
		return recipes.NewTransaction(a.p.Conn, a.p.Env, dir, recipes.TransactionOptions{Site: site})
	}
	c, x, other := of(a.alone, ""), of(a.alone, "x"), of(a.other, "")
	if err := c.Begin(background, nil, "x"); err != nil {
		a.is(unsure(err), "Transaction.Begin succeeds")
		return
	}
	a.fine(x.Vote(background, true), "Transaction.Vote")
	d, err := c.Outcome(background)
	a.is(err == nil && d == recipes.Committed, "a transaction of which all have voted yes is committed")
	d, err = other.Finish(background)
	a.is(err == nil && d == recipes.Committed, "Transaction.Finish knows a decision that was told elsewhere")
}

var elsewhereScenarios = []engine.Scenario{{
	Name: "recipes/elsewhere", Doc: "what one connection was told is so on another, while leaders are deposed",
	Clients: 1, Rounds: 7, Dials: 1, Servers: []int{3}, SafetySteps: 3000, MaxSteps: 8000,
	Setup: []model.Request{engine.Mkdir("/dir")}, Program: onTwoConnections, Faults: faults.MustParse("depose=12 elect=2"),
	Checkers: orderly,
}}
