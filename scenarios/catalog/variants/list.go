// Package variants holds the ways to wait in our recipes whose fan-out simrun herd measures.
package variants

import (
	"context"
	"strconv"
	"time"

	"zksim/model"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/herd"
)

var (
	bounded = herd.SlopeBelow(0.1)
	noWaste = herd.Wasted(0)
)

// All holds the variants of this module's recipes. Those with claims keep their promises; the others show what the
// promises are about.
var All = []herd.Variant{
	locks("lock/sequential", "clients queue for a Lock, each behind the one before", newLock, herd.PerEvent(1), noWaste,
		bounded),
	locks("lock/single-node", "clients wait for the one znode of a SingleNodeLock", newSingleNodeLock),

	{Name: "rwlock/readers", Doc: "readers wait for a writer of an RWLock, and all of them can go on",
		Goes:   "a reader gets the lock",
		Claims: []herd.Claim{herd.PerEvent(1), noWaste, bounded}, Program: readOnce, Drive: writeFirst, Events: everybody},

	locks("election/predecessor", "candidates of an Election, each behind the one before", newElection, herd.PerEvent(1),
		noWaste, bounded),
	locks("election/smallest", "candidates of a HerdElection, who all watch the leader", newHerdElection),

	open(leaving("leave/lowest", "members leave a DoubleBarrier, the way of the recipe page", recipes.LeaveLowest, 0,
		herd.PerEvent(2), bounded), ranks),
	open(leaving("leave/sequential", "members leave a DoubleBarrier, one behind the other", recipes.LeaveSequential, 500,
		herd.PerEvent(2), bounded), ranks),
	leaving("leave/naive", "members leave a DoubleBarrier and watch its children", recipes.LeaveNaive, 200),

	open(queues("queue/all", "consumers of a Queue, who all wait for the next item", false), races),
	open(queues("queue/turns", "consumers of a Queue who take turns", true, herd.PerEvent(4), bounded), nexts),

	open(commits("commit/all-sites", "sites of a Transaction, who watch each other's votes", recipes.AllSites, 500),
		votes),
	open(commits("commit/coordinator", "sites of a Transaction, who wait for its coordinator", recipes.ByCoordinator, 0,
		herd.PerEvent(3), bounded), votes),

	waits("wait/watch", "clients wait for a Barrier by a watch", watchBarrier, herd.PerEvent(1), noWaste, bounded),
	open(waits("wait/poll-50ms", "clients look at a znode every 50 ms", pollEvery(50*time.Millisecond), herd.PerEvent(0)),
		looks),
	open(waits("wait/poll-1s", "clients look at a znode every second", pollEvery(time.Second), herd.PerEvent(0)), looks),

	rearms("rearm/8", 8),
	rearms("rearm/4", 4),
	rearms("rearm/2", 2),
	rearms("rearm/1", 1),
	rearms("rearm/0.5", 0.5),
	rearms("rearm/0.25", 0.25),
}

// What is left open, and why; see [herd.Variant].
const (
	ranks = "Members are ranked by names that are random, and leave in the order of their numbers: whether the one that " +
		"somebody waits for is the next to leave is chance."
	races = "All consumers race for an item. How many of them see it before it is claimed, and who is back at its " +
		"watches when the next change comes, is chance."
	nexts = "The consumer whose turn is next looks while the item before it is being acknowledged; if it still sees " +
		"that item, it also reads who has claimed it."
	votes = "The last vote and the decision follow each other closely. A client that is still on its way to look at the " +
		"one sees both, and is not notified of the other."
	looks = "How often a client looks before the change depends on how long a look takes, to one period."
)

// open notes what is left open in the counts of a variant.
func open(v herd.Variant, why string) herd.Variant {
	v.Open = why
	return v
}

// some is for variants in which an event is cheap; few for variants in which it wakes everybody.
func some(int) int        { return 100 }
func few(n int) int       { return min(100, 3+300/n) }
func everybody(n int) int { return n }

const dir = herd.Dir

var setup = []model.Request{engine.Mkdir(dir)}

func newLock(p *engine.Process) herd.Locker {
	return recipes.NewLock(p.Conn, p.Env, p.Path(dir), recipes.LockOptions{})
}

func newSingleNodeLock(p *engine.Process) herd.Locker {
	return recipes.NewSingleNodeLock(p.Conn, p.Env, p.Path(dir), recipes.LockOptions{})
}

// campaign is an election as a lock.
type campaign struct{ *recipes.Election }

func (c campaign) Lock(ctx context.Context) error   { return c.Campaign(ctx) }
func (c campaign) Unlock(ctx context.Context) error { return c.Resign(ctx) }

func newElection(p *engine.Process) herd.Locker {
	return campaign{recipes.NewElection(p.Conn, p.Env, p.Path(dir), recipes.ElectionOptions{})}
}

func newHerdElection(p *engine.Process) herd.Locker {
	return campaign{recipes.NewHerdElection(p.Conn, p.Env, p.Path(dir), recipes.ElectionOptions{})}
}

// locks is [herd.Locks] for a recipe of this module.
func locks(name, doc string, newLocker func(p *engine.Process) herd.Locker, claims ...herd.Claim) herd.Variant {
	v := herd.Locks(name, newLocker)
	v.Doc, v.Claims = doc, claims
	if len(claims) > 0 {
		v.Events, v.Brisk = some, true
	}
	return v
}

func newRWLock(p *herd.Process) *recipes.RWLock {
	return recipes.NewRWLock(p.Conn, p.Env, p.Path(dir), recipes.LockOptions{})
}

func writeFirst(p *herd.Process) {
	l := newRWLock(p)
	if err := l.Lock(context.Background()); err != nil {
		p.Fail(err)
		return
	}
	p.Opening(0)
	p.Released()
	if err := l.Unlock(context.Background()); err != nil {
		p.Fail(err)
	}
}

func readOnce(p *herd.Process) {
	p.BehindDriver() // the writer is first
	l := newRWLock(p)
	if p.Went(l.RLock(context.Background())) {
		p.Rest(time.Hour) // what the readers do later is not measured
	}
}

func leaving(name, doc string, how recipes.Leaving, most int, claims ...herd.Claim) herd.Variant {
	return herd.Variant{Name: name, Doc: doc, Goes: "a member is outside", Claims: claims, Most: most, Events: everybody,
		Program: func(p *herd.Process) {
			b := recipes.NewDoubleBarrier(p.Conn, p.Env, p.Path(dir), p.N, recipes.DoubleBarrierOptions{Leaving: how})
			if err := b.Enter(context.Background()); err != nil {
				p.Fail(err)
				return
			}
			p.Turn()
			p.Released()
			p.Went(b.Leave(context.Background()))
		}}
}

func queues(name, doc string, turns bool, claims ...herd.Claim) herd.Variant {
	newQueue := func(p *herd.Process) *recipes.Queue {
		return recipes.NewQueue(p.Conn, p.Env, p.Path(dir), recipes.QueueOptions{Turns: turns})
	}
	v := herd.Variant{Name: name, Doc: doc, Goes: "a consumer takes an item", Claims: claims, Events: few,
		Program: func(p *herd.Process) {
			q := newQueue(p)
			for ok := true; ok; {
				_, err := q.Take(context.Background())
				ok = p.Went(err)
			}
		},
		Drive: func(p *herd.Process) {
			p.Opening(0)
			for q := newQueue(p); ; p.Settle() {
				p.Released()
				if err := q.Put(context.Background(), nil); err != nil {
					p.Fail(err)
					return
				}
			}
		}}
	if turns {
		v.Events, v.Brisk = some, true
	}
	return v
}

func commits(name, doc string, form recipes.Form, most int, claims ...herd.Claim) herd.Variant {
	site := func(i int) string { return "s" + strconv.Itoa(i) }
	newSite := func(p *herd.Process, name string) *recipes.Transaction {
		return recipes.NewTransaction(p.Conn, p.Env, p.Path(dir+"/txn"), recipes.TransactionOptions{Site: name, Form: form})
	}
	return herd.Variant{Name: name, Doc: doc, Goes: "a site learns the outcome", Claims: claims, Most: most, Setup: setup,
		Events: everybody,
		Program: func(p *herd.Process) {
			p.BehindDriver() // it has begun
			t := newSite(p, site(p.ID))
			_, err := t.Join(context.Background())
			p.Turn()
			p.Released()
			if err == nil {
				err = t.Vote(context.Background(), true)
			}
			if err == nil {
				_, err = t.Outcome(context.Background())
			}
			p.Went(err)
		},
		Drive: func(p *herd.Process) {
			var sites []string
			for i := range p.N {
				sites = append(sites, site(i+1))
			}
			t := newSite(p, "")
			err := t.Begin(context.Background(), nil, sites...)
			p.Opening(0)
			if err == nil {
				_, err = t.Outcome(context.Background())
			}
			if err != nil {
				p.Fail(err)
			}
		}}
}

func waits(name, doc string, wait func(p *herd.Process) error, claims ...herd.Claim) herd.Variant {
	return herd.Variant{Name: name, Doc: doc, Goes: "a client sees that it may go on", Claims: claims, Events: everybody,
		Program: func(p *herd.Process) {
			p.Opening(time.Duration(p.ID*617%1000) * time.Millisecond) // pollers are not in step
			p.Went(wait(p))
		},
		Drive: func(p *herd.Process) {
			b := newBarrier(p)
			err := b.Hold(context.Background())
			p.Opening(3 * time.Second)
			p.Released()
			if err == nil {
				err = b.Release(context.Background())
			}
			if err != nil {
				p.Fail(err)
			}
		}}
}

func newBarrier(p *herd.Process) *recipes.Barrier {
	return recipes.NewBarrier(p.Conn, p.Env, p.Path(dir), recipes.BarrierOptions{})
}

func watchBarrier(p *herd.Process) error { return newBarrier(p).Wait(context.Background()) }

func pollEvery(period time.Duration) func(p *herd.Process) error {
	return func(p *herd.Process) error {
		for {
			data, _, err := p.Conn.Get(p.Path(dir))
			if err != nil || len(data) == 0 {
				return err
			}
			p.Rest(period)
		}
	}
}
