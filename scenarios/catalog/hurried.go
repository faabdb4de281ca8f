package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// digits has a lock with contenders whose numbers no server gave, and with some that a server could give: all are in
// order.
func (a alone) digits() {
	dir := a.path("digits")
	a.create(dir, "")
	for _, name := range []string{"_c_1-lock-1000000000 second", "_c_2-lock-0999999999 first",
		"_c_3-lock-123456789 short", "_c_4-lock-000000000. dot", "_c_5-lock-+000000004 plus"} {
		var path, data string
		fmt.Sscan(name, &path, &data)
		a.create(dir+"/"+path, data)
	}
	list, err := recipes.NewLock(a.p.Conn, a.p.Env, dir, recipes.LockOptions{}).Contenders(background)
	a.is(err == nil && lines(list) == "plus first second", "contenders are in the order of their numbers")
}

// unlocks unlocks a mutex that nobody holds.
func (a alone) unlocks() {
	panics := false
	func() {
		defer func() { panics = recover() != nil }()
		recipes.NewMutex(a.p.Env).Unlock()
	}()
	a.is(panics, "Mutex.Unlock of a mutex that nobody has panics")
}

// hurried gives calls up at once or a little later, so that what they have made must be cleaned up in the background.
func hurried(p *engine.Process) {
	if p.ID > 1 {
		return
	}
	a := alone{refused{p: p, dir: p.Path("/dir")}}
	a.digits()
	a.unlocks()
	for i := range 3 {
		switch a.p = p; i {
		case 1:
			a.p = leisurely(p)
		case 2:
			a.p = belatedly(p)
		}
		a.after = "-" + strconv.Itoa(i)
		a.gaveUp()
		a.rivals()
		a.meets(p)
		a.joins()
		a.overwrites()
	}
}

// leisure is an environment that makes each request in a goroutine of its own, as a live one does. A request that is
// given up has perhaps not been sent yet.
type leisure struct {
	recipes.Env
	left []<-chan zk.Event // of requests that were given up: closed at their ends
}

// leisurely returns the process with such an environment.
func leisurely(p *engine.Process) *engine.Process {
	q := *p
	q.Env = &leisure{Env: p.Env}
	return &q
}

// Within implements recipes.Env.
func (e *leisure) Within(ctx context.Context, f func()) bool {
	if ctx.Err() != nil {
		return false
	}
	ended, end := make(chan zk.Event), false
	e.Env.Go("request", func() {
		f()
		end = true
		close(ended)
	})
	if e.Env.Await(ctx, ended); !end {
		e.left = append(e.left, ended)
	}
	return end
}

// Undo implements recipes.Env.
func (e *leisure) Undo(name string, f func()) {
	before := slices.Clone(e.left)
	e.Env.Go(name, func() {
		for _, ended := range before {
			e.Env.Await(background, ended)
		}
		f()
	})
}

// belated is a connection that reports some multis as lost and executes them later: those with a ticket, and those that
// create a member of a double barrier or a group. They are like requests of an earlier session that the servers still
// keep. The next one with the same ticket, or for the same member, is executed at once.
type belated struct {
	recipes.Conn
	p     *engine.Process
	group string   // the path of the group
	late  []string // the keys of multis that were late
}

// belatedly returns the process with such a connection.
func belatedly(p *engine.Process) *engine.Process {
	q := *p
	q.Env = unforgetting{p.Env}
	q.Conn = &belated{Conn: p.Conn, p: p, group: p.Path("/dir/group")}
	return &q
}

// Multi implements recipes.Conn.
func (b *belated) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if len(ops) == 0 {
		return b.Conn.Multi(ops...)
	}
	key := ""
	if ticket, ok := ops[0].(*zk.DeleteRequest); ok && strings.HasSuffix(ticket.Path, "-ticket") {
		key = ticket.Path
	} else if made, ok := ops[len(ops)-1].(*zk.CreateRequest); ok && strings.Contains(made.Path, "/member-") {
		key = made.Path[:strings.LastIndexByte(made.Path, '-')]
	} else if ok && strings.HasPrefix(made.Path, b.group) {
		key = made.Path
	}
	if key == "" || slices.Contains(b.late, key) {
		return b.Conn.Multi(ops...)
	}
	b.late = append(b.late, key)
	b.p.Env.Go("late", func() {
		workload.Steps(b.p, b.p.Choose(16))
		b.Conn.Multi(ops...) // or never
	})
	return nil, zk.ErrConnectionClosed
}

// soon runs f with a context that ends after some steps; the run chooses how many.
func (a alone) soon(f func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(background)
	ended := false
	a.p.Env.Go("hurry", func() {
		for n := 2 * a.p.Choose(16); n > 0 && !ended; n-- {
			a.p.Step()
		}
		cancel()
	})
	err := f(ctx)
	ended = true
	return err
}

// gaveUp begins a transaction, submits a task, joins a transaction, and gives up.
func (a alone) gaveUp() {
	begun := func(site string) *recipes.Transaction {
		return recipes.NewTransaction(a.p.Conn, a.p.Env, a.path("begun"), recipes.TransactionOptions{Site: site})
	}
	if a.soon(func(ctx context.Context) error { return begun("").Begin(ctx, nil, "a", "b") }) == nil {
		err := a.soon(func(ctx context.Context) error { return begun("").Begin(ctx, nil, "a", "b") })
		a.is(err != nil, "a transaction begins once")
		a.p.AtRest() // whatever the second coordinator has to undo is done
		a.ends(begun(""), begun("a"), begun("b"))
	}
	var task *recipes.Task
	err := a.soon(func(ctx context.Context) (err error) {
		task, err = tasksOf(a.p, a.path("tasks")).Submit(ctx, nil)
		return err
	})
	if err == nil {
		a.fine(task.Forget(background), "Task.Forget")
	}
	at := func(site string) *recipes.Transaction {
		return recipes.NewTransaction(a.p.Conn, a.p.Env, a.path("joined"),
			recipes.TransactionOptions{Site: site, Form: recipes.EphemeralSites})
	}
	c, x := at(""), at("x")
	a.fine(c.Begin(background, nil, "x"), "Transaction.Begin")
	if a.soon(answer(x.Join)) != nil {
		a.is(len(x.Znodes()) == 0, "a site that has not joined answers for nothing")
		a.p.AtRest()
		there, _, err := a.p.Conn.Exists(a.path("joined") + "/live-x")
		a.is(err != nil || !there, "a site that has not joined shows no sign of life")
		a.fine(answer(x.Join)(background), "Transaction.Join after one that was given up")
		there, _, err = a.p.Conn.Exists(a.path("joined") + "/live-x")
		a.is(err != nil || there, "a site that has joined shows a sign of life")
	}
	a.ends(c, x)
	e := known(a.p, recipes.NewElection(a.p.Conn, a.p.Env, a.path("election"), recipes.ElectionOptions{}))
	if e.Campaign(background) == nil {
		change := a.p.Env.SessionEvents()
		err := a.soon(e.Acknowledge)
		lost := len(change) > 0 || len(e.Lost()) > 0 || a.p.Conn.State() != zk.StateHasSession
		a.is(err == nil || errors.Is(err, context.Canceled) || lost && errors.Is(err, recipes.ErrNotLeading),
			"Election.Acknowledge ends with its context")
		if err == nil {
			_, err := e.Leader(background)
			a.fine(err, "Election.Leader after an acknowledgement")
		}
		a.fine(e.Resign(background), "Election.Resign")
	}
}

// rivals has one coordinator give up while another begins a transaction of the same name: the first undoes nothing of
// the second's.
func (a alone) rivals() {
	at := func(site string) *recipes.Transaction {
		return recipes.NewTransaction(a.p.Conn, a.p.Env, a.path("rivals"), recipes.TransactionOptions{Site: site})
	}
	begun := false
	wait, ended := a.observed("rival", func(context.Context) error {
		err := a.soon(func(ctx context.Context) error { return at("").Begin(ctx, nil, "a", "b") })
		begun = err == nil
		return err
	})
	for n := a.p.Choose(16); n > 0 && !*ended; n-- {
		a.p.Step()
	}
	c, err := at(""), zk.ErrNodeExists
	for err == zk.ErrNodeExists && !begun {
		err = c.Begin(background, nil, "a", "b")
	}
	wait()
	if err != nil {
		a.is(err == zk.ErrNodeExists, "a transaction begins, or there is one")
		c = at("")
		a.ends(c, at("a"), at("b"))
		return
	}
	a.p.AtRest() // whatever the first coordinator has to undo is done
	sites := []*recipes.Transaction{at("a"), at("b")}
	for _, t := range sites {
		a.fine(t.Vote(background, true), "Transaction.Vote of one that another has begun, too, and given up")
	}
	d, err := c.Outcome(background)
	a.is(err != nil || d == recipes.Committed, "a coordinator that gives up ends no transaction of another")
	a.ends(append(sites, c)...)
}

// meets has two objects meet in a double barrier; one of them belongs to the process other. Both are in each round.
func (a alone) meets(other *engine.Process) {
	at := func(p *engine.Process) *recipes.DoubleBarrier {
		return recipes.NewDoubleBarrier(p.Conn, p.Env, a.path("meets"), 2, recipes.DoubleBarrierOptions{})
	}
	ctx, cancel := context.WithCancel(background)
	entering, met := false, false
	wait := a.background("meets", func(context.Context) error {
		for d := at(other); ctx.Err() == nil; d.Leave(ctx) {
			workload.Steps(a.p, a.p.Choose(40))
			entering, met = true, true
			d.Enter(ctx)
			entering = false
		}
		return nil
	})
	d := at(a.p)
	for range 2 {
		met = entering
		a.fine(d.Enter(background), "DoubleBarrier.Enter")
		a.is(met, "a round of a double barrier is of two that enter")
		a.fine(d.Leave(background), "DoubleBarrier.Leave")
	}
	cancel()
	wait()
}

// joins has two objects join a group by one name, which an operator takes away from the first.
func (a alone) joins() {
	in := [2]bool{}
	join := func(i int) (*recipes.Membership, error) {
		in[i] = true
		return recipes.NewGroup(a.p.Conn, a.p.Env, a.path("group"), recipes.GroupOptions{
			Changed: func(_ string, joined bool) { in[i] = joined }}).Join(background, "x", nil)
	}
	first, err := join(0)
	if a.fine(err, "Group.Join"); err != nil {
		return
	}
	a.p.AtRest() // what is late is over
	a.p.Conn.Delete(a.path("group")+"/x", -1)
	second, err := join(1)
	a.is(err == nil || err == recipes.ErrNameTaken, "a name can be joined by, or is taken")
	a.p.AtRest()
	a.is(err != nil || !in[0] || !in[1], "of two memberships by one name one is told that it is none")
	a.fine(first.Leave(background), "Membership.Leave")
	if err == nil {
		a.fine(second.Leave(background), "Membership.Leave")
	}
}

// overwrites gives updates of a configuration up, and reuses the memory of their values.
func (a alone) overwrites() {
	c := recipes.NewConfig(a.p.Conn, a.p.Env, a.path("config"), recipes.ConfigOptions{})
	var set recipes.ConfigSet
	for _, text := range []string{"first", "second"} {
		value := []byte(text)
		a.soon(func(ctx context.Context) error { return c.Update(ctx, set, map[string][]byte{"a": value}) })
		clear(value)
		a.p.AtRest() // what was sent is over
		var err error
		set, err = c.Get(background)
		a.fine(err, "Config.Get")
		a.is(!slices.Contains(set.Values["a"], 0), "an update has the values that it was given")
	}
}

// ends ends a transaction, and forgets it.
func (a alone) ends(parts ...*recipes.Transaction) {
	for _, t := range parts {
		_, err := t.Finish(background)
		a.fine(err, "Transaction.Finish")
		a.fine(t.Forget(background), "Transaction.Forget")
	}
}
