package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// life is one life of a client that ends in the middle of its work and comes back as the same owner. Each life has a
// session of its own; znodes of the one before may still be there.
type life struct {
	*engine.Process
	o      engine.Object // the same in all lives
	number int
	last   bool
	ended  bool // nobody sees what its code does from then on
	holds  bool
}

// lifeSteps is how long a life is, in steps of its own.
const lifeSteps = 10

// restarting makes a program of one life for each round. A life ends when its connection is closed. If the connection
// is down then, the session goes on until the servers end it.
func restarting(live func(l *life) error) func(p *engine.Process) {
	return func(p *engine.Process) {
		o := p.Register(nil)
		for n := range p.Rounds {
			q, err := p.Dial()
			if err != nil {
				p.Fail(err)
				return
			}
			l := &life{Process: q, o: o, number: n, last: n == p.Rounds-1}
			dead := make(chan zk.Event, 1)
			if !l.last {
				q.Env.Go("end", func() {
					workload.Steps(q, workload.Repeat(q, lifeSteps))
					l.gives()
					l.ended = true
					q.Conn.Close()
					dead <- zk.Event{}
				})
			}
			if err := live(l); err != nil && !errors.Is(err, zk.ErrClosing) {
				p.Fail(err)
				return
			}
			if !l.last {
				p.Env.Await(background, dead)
			}
		}
	}
}

// has notes that the client holds something through a znode.
func (l *life) has(znode string, token int64) {
	l.o.Acquired(znode, token)
	l.holds = true
}

// gives notes that the client no longer holds it.
func (l *life) gives() {
	if l.holds {
		l.o.Released()
		l.holds = false
	}
}

// registersAgain is a life of an owner of names: it gives up the name that an earlier life has left, and registers it.
func registersAgain(l *life) error {
	owner := fmt.Sprintf("owner-%d", l.ID)
	n := recipes.NewNames(l.Conn, l.Env, l.Path(namesDir), recipes.NamesOptions{Owner: owner})
	u := nameUser{l.Process, n, l.o}
	name := fmt.Sprintf("n-%d", l.ID)
	err := u.unregister(name)
	l.Always("the name that an earlier life has registered is the owner's own", !errors.Is(err, recipes.ErrNotOwner))
	if err != nil && !errors.Is(err, recipes.ErrNoName) {
		return err
	}
	value := 10*l.ID + l.number
	mine, err := u.take(value, func(ctx context.Context, data []byte) (string, error) {
		return name, n.Register(ctx, name, data)
	})
	l.Always("a name that was given up can be registered again", err != nil || mine == name)
	if err != nil {
		return err
	}
	if err := u.resolve(name); err != nil || !l.last {
		return err
	}
	return u.giveUp(name)
}

// listedAsBefore is recorded by a member that is listed as in an earlier life, with its znode and the data that it
// should have.
const listedAsBefore = "listed-as-before"

// joinedBefore finds a member that is listed as in an earlier life and never joined in this one. A member that had
// joined may have lost its session, and so its znode, at once; then a request of an earlier life may still be executed.
func joinedBefore(h *history.History) error {
	for i := range h.Events {
		told := &h.Events[i]
		if told.Kind != history.Told || told.Op != listedAsBefore {
			continue
		}
		if !slices.ContainsFunc(h.Events[:i], func(e history.Event) bool {
			return e.Kind == history.Created && e.Client == told.Client && e.Path == told.Path && e.Data == told.Data
		}) {
			return fmt.Errorf("c%d is listed as in an earlier life, and has made no %s as in this one", told.Client, told.Path)
		}
	}
	return nil
}

// joinsAgain is a life of a member: it waits until the znode of the previous life is gone, and joins.
func joinsAgain(l *life) error {
	g := recipes.NewGroup(l.Conn, l.Env, l.Path(workload.GroupDir), recipes.GroupOptions{})
	name, data := fmt.Sprintf("m%d", l.ID), strconv.Itoa(l.number)
	for {
		l.o.Invoke(checkers.Join)
		m, err := g.Join(background, name, []byte(data))
		l.o.Return(checkers.Join, err, recipes.ErrNameTaken, zk.ErrClosing)
		if errors.Is(err, recipes.ErrNameTaken) {
			l.Env.Sleep(background, time.Second)
			continue
		}
		if err != nil {
			return err
		}
		list, err := g.List(background)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(c recipes.Child) bool { return c.Name == name })
		if i >= 0 && string(list[i].Data) != data {
			l.o.Record(history.Event{Kind: history.Told, Op: listedAsBefore, Path: l.Path(workload.GroupDir) + "/" + name,
				Data: data})
		}
		if !l.last {
			l.AtRest()
		}
		l.o.Invoke(checkers.Leave)
		err = m.Leave(background)
		l.o.Return(checkers.Leave, err, zk.ErrClosing)
		if err != nil {
			return err
		}
		list, err = g.List(background)
		if err != nil {
			return err
		}
		l.Always("a member that has left is not listed", // a request of an earlier life may still be executed
			!slices.ContainsFunc(list, func(c recipes.Child) bool { return c.Name == name && string(c.Data) == data }))
		return nil
	}
}

// worksAgain is a life of a worker.
func worksAgain(l *life) error {
	w := recipes.NewWorker(l.Conn, l.Env, l.Path(poolDir), recipes.PoolOptions{})
	ctx := background
	if l.last {
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		l.Env.Go("rest", func() {
			l.AtRest()
			stop()
		})
	}
	return workload.IgnoreCanceled(doTasks(ctx, l.Process, l.Register(w.Znodes), w))
}

// poolOfRestarting makes a program in which the first client submits tasks and is the master, and the others are
// workers that end and come back.
func poolOfRestarting(p *engine.Process) {
	if p.ID > 1 {
		restarting(worksAgain)(p)
		return
	}
	ctx, stop := context.WithCancel(background)
	r := newPool(p)
	p.Register(r.master.Znodes)
	ended := play(p, "master", func() error { return r.master.Run(ctx) })
	if err := submitAndWait(p, r.submit, p.Rounds); err != nil {
		p.Fail(err)
	}
	stop()
	p.Env.Await(background, ended)
}

// leadsAgain is a life of a candidate whose data is its name: it leads for a while, and resigns in its last life.
func leadsAgain(l *life) error {
	e := recipes.NewElection(l.Conn, l.Env, l.Path(electionDir),
		recipes.ElectionOptions{Data: fmt.Appendf(nil, "c%d", l.ID)})
	l.Register(e.Znodes)
	l.o.Invoke("campaign")
	err := e.Campaign(background)
	l.o.Return("campaign", err, zk.ErrClosing)
	if err != nil || l.ended {
		return err
	}
	l.has(e.Znodes()[0], e.Token())
	for n := 0; n < 3 && !l.ended && len(e.Lost()) == 0; n++ {
		l.Step()
	}
	if l.ended {
		return nil
	}
	l.gives()
	l.o.Invoke("resign")
	err = e.Resign(background)
	l.o.Return("resign", err, zk.ErrClosing)
	return err
}

// votesAgain makes a life of a site, which votes differently than in the previous life, if it may. In its last life it
// learns the decision.
func votesAgain(f recipes.Form) func(l *life) error {
	return func(l *life) error {
		c := newParticipant(l.Process, l.Path(commitDir+"/0"), "c"+strconv.Itoa(l.ID), 3, newTransaction(f))
		err := c.wait("join", func(ctx context.Context) error {
			_, err := c.Join(ctx)
			return err
		})
		if err == nil {
			err = c.vote(l.number%2 == 0)
		}
		if !l.last || err != nil && !impatient(err) && !errors.Is(err, zk.ErrNoNode) {
			return ignoreImpatience(err)
		}
		err = c.learn(err == nil)
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		return err
	}
}

// ignoreImpatience returns nil for an error that says that a site has waited in vain, or that there is no transaction.
func ignoreImpatience(err error) error {
	if impatient(err) || errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// commitOfRestarting makes a program of one transaction. The first site is also the coordinator; the others end and
// come back.
func commitOfRestarting(f recipes.Form) func(p *engine.Process) {
	again := restarting(votesAgain(f))
	return func(p *engine.Process) {
		if p.ID > 1 {
			again(p)
			return
		}
		if err := oneTransaction(p, p.Path(commitDir+"/0"), true, 3, newTransaction(f)); err != nil {
			p.Fail(err)
		}
	}
}

// rivals makes a program in which each client is the only site of a transaction, with two objects: while one joins and
// votes yes, the other votes no. A vote counts once, so one of them is told that the site has voted differently.
func rivals(f recipes.Form) func(p *engine.Process) {
	return func(p *engine.Process) {
		dir, name := p.Path(fmt.Sprintf("%s/%d", commitDir, p.ID)), "site"
		at := func(site string) *recipes.Transaction {
			return known(p, recipes.NewTransaction(p.Conn, p.Env, dir, recipes.TransactionOptions{Site: site, Form: f}))
		}
		coordinator, yes, no := at(""), at(name), at(name)
		if err := coordinator.Begin(background, nil, name); err != nil {
			p.Fail(err)
			return
		}
		voted := make(chan zk.Event, 1)
		p.Env.Go("no", func() { voted <- zk.Event{Err: no.Vote(background, false)} })
		_, joined := yes.Join(background)
		first := yes.Vote(background, true)
		_, ev, _ := p.Env.Await(background, voted)
		one := first == nil && errors.Is(ev.Err, recipes.ErrVoted) || ev.Err == nil && errors.Is(first, recipes.ErrVoted)
		p.Always("of two votes of a site that differ one counts", joined != nil || one)
		for _, t := range []*recipes.Transaction{coordinator, yes} {
			d, err := t.Outcome(background)
			p.Always("the decision is by the vote that counts",
				err != nil || d == recipes.Aborted || first == nil && d == recipes.Committed)
			if err := errors.Join(err, t.Forget(background)); err != nil {
				p.Fail(err)
			}
		}
	}
}

// withdrawn is a program of one transaction. Its coordinator gives up while it begins it, and its site waits for the
// outcome without voting. Whatever became of the transaction, the site does not wait for a decision that nobody makes.
func withdrawn(p *engine.Process) {
	at := func(site string) *recipes.Transaction {
		t := recipes.NewTransaction(p.Conn, p.Env, p.Path(fmt.Sprintf("%s/%d", commitDir, p.ID)),
			recipes.TransactionOptions{Site: site, Form: recipes.ByCoordinator})
		p.Register(t.Znodes)
		return t
	}
	begun := false
	joining, stop := context.WithCancel(background)
	ended := make(chan zk.Event, 1)
	p.Env.Go("site", func() {
		defer func() { ended <- zk.Event{} }()
		t := at("site")
		if _, err := t.Join(joining); err != nil { // it never began, or was withdrawn before
			p.Always("a site joins a transaction that has begun and needs it", !begun)
			return
		}
		d, err := t.Outcome(background)
		p.Always("a transaction without a vote is aborted or withdrawn",
			err == nil && d == recipes.Aborted || errors.Is(err, zk.ErrNoNode))
		if err == nil {
			t.Forget(background)
		}
	})
	ctx, hurry := context.WithCancel(background)
	p.Env.Go("hurry", func() {
		workload.Steps(p, 4)
		hurry()
	})
	c := at("")
	if begun = c.Begin(ctx, nil, "site") == nil; begun {
		c.Finish(background)
		c.Forget(background)
	}
	p.AtRest()
	stop()
	p.Env.Await(background, ended)
}

// restartScenario has all clients, or some, come back twice.
func restartScenario(s engine.Scenario) engine.Scenario {
	s.Rounds, s.Dials = 3, 3
	s.Faults = faults.MustParse("disconnect=3 lose-request=2 lose-reply=2 learn-late=1 stale-read=1")
	return s
}

var restartScenarios = []engine.Scenario{
	restartScenario(namesScenario(engine.Scenario{
		Name: "names/restarts", Doc: "owners end at work and come back, and give up what they have left",
		Clients: 2, Program: restarting(registersAgain),
	})).Without("tree"), // nothing is ephemeral
	restartScenario(engine.Scenario{
		Name: "members/restarts", Doc: "members end at work and come back by the same name, before their znodes are gone",
		Clients: 2, Servers: []int{1, 3}, Program: restarting(joinsAgain),
		Finally: joinedBefore, Heeds: []string{listedAsBefore, "created"}, Words: []string{listedAsBefore},
		Checkers: orderly}),
	restartScenario(poolScenario(engine.Scenario{
		Name: "master/restarts", Doc: "workers end at work and come back, and their tasks are done", Clients: 3,
		Program: poolOfRestarting,
	})).Without("stale-leader"), // there is one master
	restartScenario(commitScenario(engine.Scenario{
		Name: "commit/restarts", Doc: "sites end at work and come back, and vote otherwise if they may", Clients: 3,
		Servers: []int{1, 3}, Program: commitOfRestarting(recipes.EphemeralSites),
	})),
	{
		Name: "commit/rivals", Doc: "two objects of one site vote, one yes and the other no", Clients: 2, Rounds: 1,
		Servers: []int{1, 3}, Setup: []model.Request{engine.Mkdir(commitDir)}, Program: rivals(recipes.EphemeralSites),
		Faults:   faults.MustParse("disconnect=2 lose-request=2 lose-reply=2 stale-read=2"),
		Checkers: []checkers.Checker{checkers.Liveness{}, checkers.Quiescence{}, checkers.Steps{}},
	},
	{
		Name: "commit/withdrawn", Doc: "a coordinator gives up while it begins, and a site waits without a vote", Clients: 1,
		Rounds: 1, Servers: []int{1, 3}, Setup: []model.Request{engine.Mkdir(commitDir)}, Program: withdrawn,
		Faults:   faults.MustParse("disconnect=2 lose-request=2 lose-reply=2 stale-read=2"),
		Checkers: []checkers.Checker{checkers.Liveness{}, checkers.Quiescence{}, checkers.Steps{}},
	},
	restartScenario(electionScenario(engine.Scenario{
		Name: "election/restarts", Doc: "candidates end at work and come back under the same name", Clients: 2,
		Program: restarting(leadsAgain),
	})).Without("acknowledged", "fenced"), // nobody acknowledges or writes
}
