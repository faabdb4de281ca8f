package catalog

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// alone is the only client of its recipes, and its session lives on. So every answer is known, and it asserts each one.
// Every folder has znodes that no recipe has made, and several objects of the one client use it.
type alone struct{ refused }

// is asserts that a condition on an answer holds.
func (a alone) is(holds bool, sentence string, args ...any) {
	a.p.Always(fmt.Sprintf(sentence, args...), holds)
}

// apart runs a part of a program that leaves nothing to what comes after it.
func (a alone) apart(part func(a alone)) {
	defer recipes.Forget(a.p.Env)()
	part(a)
}

// canceled is a context that is done.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(background)
	cancel()
	return ctx
}

// lines joins data.
func lines(all [][]byte) string { return string(bytes.Join(all, []byte(" "))) }

// locks has several objects of one client compete for the same lock.
func (a alone) locks() {
	dir := a.path("lock")
	lock := func(data string) *recipes.Lock {
		return known(a.p, recipes.NewLock(a.p.Conn, a.p.Env, dir, recipes.LockOptions{Data: []byte(data)}))
	}
	first, second, third := lock("first"), lock("second"), lock("third")
	a.fine(first.Lock(background), "Lock.Lock beside znodes that are no contenders")
	a.is(first.Lost() != nil, "who holds a lock hears of its end")
	a.is(len(first.Znodes()) == 1 && first.Token() > 0, "a lock that is held has a znode and a token")
	a.with(recipes.ErrLocked, third.TryLock(background), "Lock.TryLock by another object of the holder")
	a.is(len(third.Znodes()) == 0 && third.Token() == 0 && third.Lost() == nil, "a lock that is not held has nothing")
	waits, got := a.observed("second", second.Lock)
	a.untilContenders(dir, third, "first second")
	token := first.Token()
	asks := a.background("contenders", func(ctx context.Context) error {
		list, err := third.Contenders(ctx)
		a.is(err == nil && len(list) > 0 && string(list[len(list)-1]) == "second",
			"a contender that stays is told of while another one leaves")
		return err
	})
	a.fine(first.Unlock(background), "Lock.Unlock")
	a.fine(asks(), "Lock.Contenders while the holder leaves")
	a.fine(waits(), "Lock.Lock of the object that was waiting")
	a.is(*got && second.Token() > token, "the token of the next holder is larger")
	ctx, cancel := a.p.Env.WithTimeout(background, time.Second)
	a.with(context.DeadlineExceeded, third.Lock(ctx), "Lock.Lock that has waited too long")
	cancel()
	a.is(len(third.Znodes()) == 0, "nothing is left of a Lock that has waited too long")
	a.with(context.Canceled, second.Unlock(canceled()), "Lock.Unlock with a context that is done")
	a.with(recipes.ErrNotHeld, second.Unlock(background), "a second Lock.Unlock")
	a.fine(third.Lock(background), "Lock.Lock after an Unlock in the background")
	a.fine(third.Unlock(background), "Lock.Unlock by the third holder")
}

// untilContenders waits until the contenders of a lock are want.
func (a alone) untilContenders(dir string, l *recipes.Lock, want string) {
	for {
		session := a.p.Env.SessionEvents()
		_, _, changed, failed := a.p.Conn.ChildrenW(dir)
		list, err := l.Contenders(background)
		a.is(err == nil, "Lock.Contenders")
		if lines(list) == want {
			return
		}
		if failed == nil {
			a.p.Env.Await(background, session, changed)
		}
	}
}

// background runs f beside the program; wait waits until it has ended.
func (a alone) background(name string, f func(ctx context.Context) error) (wait func() error) {
	wait, _ = a.observed(name, f)
	return wait
}

// observed is background, and says whether f has ended.
func (a alone) observed(name string, f func(ctx context.Context) error) (wait func() error, ended *bool) {
	done := make(chan zk.Event, 1)
	ended = new(bool)
	a.p.Env.Go(name, func() {
		err := f(background)
		*ended = true
		done <- zk.Event{Err: err}
	})
	return func() error {
		_, ev, _ := a.p.Env.Await(background, done)
		return ev.Err
	}, ended
}

// running runs f beside the program until end is called. Then f returns context.Canceled; what is its name in words.
func (a alone) running(name, what string, f func(ctx context.Context) error) (end func()) {
	ctx, cancel := context.WithCancel(background)
	wait := a.background(name, func(context.Context) error { return f(ctx) })
	return func() {
		cancel()
		a.with(context.Canceled, wait(), what)
	}
}

// numbers has contenders whose numbers lie beyond the end of the sequence, and a lock in a folder that only the owner
// of its parent could have made.
func (a alone) numbers() {
	dir := a.path("closed/open/lock")
	l := known(a.p, recipes.NewLock(a.p.Conn, a.p.Env, dir, recipes.LockOptions{Data: []byte("late")}))
	a.fine(l.Lock(background), "Lock.Lock in a folder that it may make, below one in which it may not")
	a.fine(l.Unlock(background), "Lock.Unlock in that folder")
	for _, number := range []string{"-2147483648", "-2000000000", "2147483647"} {
		old := dir + "/_c_0-lock-" + number
		a.create(old, "early")
		a.with(recipes.ErrLocked, l.TryLock(background), "Lock.TryLock behind the number "+number)
		a.untilContenders(dir, l, "early")
		a.delete(old)
	}
	a.fine(l.Lock(background), "Lock.Lock after all of these")
	a.fine(l.Unlock(background), "Lock.Unlock after all of these")
}

func (a alone) shared() {
	lock := func() *recipes.RWLock {
		return known(a.p, recipes.NewRWLock(a.p.Conn, a.p.Env, a.path("rwlock"), recipes.LockOptions{}))
	}
	r, s, w := lock(), lock(), lock()
	a.fine(r.RLock(background), "RWLock.RLock beside znodes that are no contenders")
	a.fine(s.TryRLock(background), "RWLock.TryRLock beside a reader")
	a.with(recipes.ErrLocked, w.TryLock(background), "RWLock.TryLock beside readers")
	a.fine(r.RUnlock(background), "RWLock.RUnlock")
	a.fine(s.RUnlock(background), "RWLock.RUnlock of the other reader")
	a.fine(w.Lock(background), "RWLock.Lock after the readers")
	a.with(recipes.ErrLocked, r.TryRLock(background), "RWLock.TryRLock beside a writer")
	a.is(w.Token() > 0 && len(w.Znodes()) == 2, "a writer has a token and two znodes")
	a.fine(w.Downgrade(background), "RWLock.Downgrade")
	a.is(len(w.Znodes()) == 1, "a writer that has become a reader has one znode")
	a.fine(r.RLock(background), "RWLock.RLock beside a writer that has become a reader")
	a.with(recipes.ErrNotHeld, w.Unlock(background), "RWLock.Unlock of a writer that has become a reader")
	a.fine(w.RUnlock(background), "RWLock.RUnlock of a writer that has become a reader")
	a.fine(r.RUnlock(background), "RWLock.RUnlock of the last reader")
}

// halved has an operator delete one of the two znodes that a writer creates together, perhaps just when the writer
// checks that it has created them.
func (a alone) halved() {
	dir := a.path("halved")
	lock := func() *recipes.RWLock {
		return known(a.p, recipes.NewRWLock(a.p.Conn, a.p.Env, dir, recipes.LockOptions{}))
	}
	for _, half := range []string{"-write-", "-read-"} {
		w, other, got := lock(), lock(), false
		deletes := a.background("operator", func(context.Context) error {
			for n := 0; n < 8 && !got; n++ {
				names, _, _ := a.p.Conn.Children(dir)
				for _, name := range names {
					if strings.Contains(name, half) {
						a.p.Conn.Delete(dir+"/"+name, -1)
						return nil
					}
				}
			}
			return nil
		})
		a.fine(w.Lock(background), "RWLock.Lock beside an operator")
		got = true
		a.is(len(w.Znodes()) == 2, "a writer has two znodes, whatever an operator deletes")
		deletes()
		a.fine(w.Unlock(background), "RWLock.Unlock beside an operator")
		a.fine(other.TryLock(background), "RWLock.TryLock of what nobody has, after an operator")
		a.fine(other.Unlock(background), "RWLock.Unlock after an operator")
	}
}

// revocations ask a holder to give the lock up, after somebody else has written to its znode.
func (a alone) revocations() {
	lock := func() *recipes.RevocableLock {
		return known(a.p, recipes.NewRevocableLock(a.p.Conn, a.p.Env, a.path("revocable"), recipes.LockOptions{}))
	}
	l, other := lock(), lock()
	for _, shared := range []bool{false, true} {
		take, give := l.Lock, l.Unlock
		if shared {
			take, give = l.RLock, l.RUnlock
		}
		session := a.p.Env.SessionEvents()
		a.fine(take(background), "RevocableLock.Lock")
		queue, err := other.Queue(background)
		own := lastZnode(l)
		a.is(err == nil && slices.Contains(queue, own), "the holder is in RevocableLock.Queue")
		for _, data := range []string{"one thing", "unlocked"} {
			a.patiently("set", func() error {
				_, err := a.p.Conn.Set(own, []byte(data), -1)
				return err
			})
			workload.Steps(a.p, 8)
		}
		a.is(len(l.Revoked()) == 0, "whatever is written to its znode, a holder is not asked to give the lock up")
		a.fine(other.Revoke(background, own), "RevocableLock.Revoke")
		i, ev, _ := a.p.Env.Await(background, l.Revoked(), l.Lost())
		a.is(i == 0 && ev.Type == zk.EventNodeDataChanged || i == 1 && ev.Type == zk.EventSession && len(session) > 0,
			"a holder is asked to give the lock up, unless the connection was lost before")
		a.fine(give(background), "RevocableLock.Unlock")
		a.is(l.Revoked() == nil, "RevocableLock.Revoked is nil while the lock is not held")
		a.fine(other.Revoke(background, own), "RevocableLock.Revoke of what is gone")
		a.fine(other.Break(background, own), "RevocableLock.Break of what is gone")
	}
	var readers []*recipes.RevocableLock
	var order []string
	for range 3 {
		l := lock()
		a.fine(l.RLock(background), "RevocableLock.RLock beside other readers")
		readers, order = append(readers, l), append(order, lastZnode(l))
	}
	queue, err := other.Queue(background)
	a.is(err == nil && slices.Equal(queue, order), "RevocableLock.Queue is in the order in which they came")
	for _, l := range readers {
		a.fine(l.RUnlock(background), "RevocableLock.RUnlock of each reader")
	}
}

func (a alone) leases() {
	lease := func() *recipes.Semaphore {
		return known(a.p, recipes.NewSemaphore(a.p.Conn, a.p.Env, a.path("semaphore"), 2, recipes.LockOptions{}))
	}
	one, two, three := lease(), lease(), lease()
	a.fine(one.Acquire(background), "Semaphore.Acquire of the first lease")
	a.fine(two.TryAcquire(background), "Semaphore.TryAcquire of the second lease")
	a.with(recipes.ErrLocked, three.TryAcquire(background), "Semaphore.TryAcquire of a third lease of two")
	a.is(len(three.Znodes()) == 0 && three.Lost() == nil, "a semaphore without a lease has nothing")
	a.fine(one.Release(background), "Semaphore.Release")
	a.fine(three.Acquire(background), "Semaphore.Acquire of a lease that was released")
	a.is(len(three.Znodes()) == 1 && three.Lost() != nil, "a lease has a znode")
	a.fine(two.Release(background), "Semaphore.Release of the second lease")
	a.fine(three.Release(background), "Semaphore.Release of the third lease")
}

func (a alone) leads() {
	candidate := func(data string) *recipes.Election {
		e := recipes.NewElection(a.p.Conn, a.p.Env, a.path("election"), recipes.ElectionOptions{Data: []byte(data)})
		a.p.Register(e.Znodes)
		return e
	}
	e, other := candidate("me"), candidate("other")
	a.fine(e.Campaign(background), "Election.Campaign beside znodes that are no candidates")
	_, err := other.Leader(background)
	a.with(recipes.ErrNoLeader, err, "Election.Leader before the leader has acknowledged")
	a.with(context.Canceled, e.Acknowledge(canceled()), "Election.Acknowledge with a context that is done")
	if err := e.Acknowledge(background); err != nil { // the connection was lost
		a.with(recipes.ErrNotLeading, err, "Election.Acknowledge that does not succeed")
		a.fine(e.Resign(background), "Election.Resign by a leader that could not acknowledge")
		return
	}
	for _, asks := range []*recipes.Election{other, e} {
		for i, leader := range []func(ctx context.Context) (recipes.Leader, error){asks.Leader, asks.AwaitLeader} {
			x, err := leader(background)
			a.is(err == nil && string(x.Data) == "me" && x.Token == e.Token() && x.Token > 0,
				"Election.%s knows the leader that has acknowledged", []string{"Leader", "AwaitLeader"}[i])
		}
	}
	list, err := other.Candidates(background)
	a.is(err == nil && lines(list) == "me", "the leader is the only candidate")
	a.fine(e.Resign(background), "Election.Resign")
	_, err = other.Leader(background)
	a.with(recipes.ErrNoLeader, err, "Election.Leader after the leader has resigned")
	list, err = other.Candidates(background)
	a.is(err == nil && len(list) == 0, "nobody is a candidate after the leader has resigned")
}

func (a alone) counts() {
	c := recipes.NewCounter(a.p.Conn, a.p.Env, a.path("counter"), recipes.CounterOptions{})
	n, err := c.Get(background)
	a.is(err == nil && n == 0, "a counter is zero at first")
	sum, err := c.Add(background, 5)
	a.is(err == nil && sum == 5, "zero and 5 is 5")
	sum, err = c.Add(background, -7)
	a.is(err == nil && sum == -2, "5 less 7 is -2")
	swapped, err := c.CompareAndSet(background, 5, 9)
	a.is(err == nil && !swapped, "CompareAndSet of what is not there does nothing")
	swapped, err = c.CompareAndSet(background, -2, 9)
	a.is(err == nil && swapped, "CompareAndSet of what is there does it")
	n, err = c.Get(background)
	a.is(err == nil && n == 9, "the counter is what it was set to")
	sum, err = c.Add(background, 1<<40)
	a.is(err == nil && sum == 1<<40+9, "a counter has more than 32 bits")
	n, err = c.Get(background)
	a.is(err == nil && n == 1<<40+9, "a counter of more than 32 bits is read")
	swapped, err = c.CompareAndSet(background, 1<<40+9, math.MaxInt64)
	a.is(err == nil && swapped, "CompareAndSet to the largest number")
	sum, err = c.Add(background, 2)
	a.is(err == nil && sum == math.MinInt64+1, "a sum wraps around at the largest number")
	sum, err = c.Add(background, -2)
	a.is(err == nil && sum == math.MaxInt64, "a sum wraps around at the smallest number")
	c = recipes.NewCounter(a.p.Conn, a.p.Env, a.path("foreign/text"), recipes.CounterOptions{})
	_, err = c.Get(background)
	a.is(err != nil, "Counter.Get of what is no number is an error")
	_, err = c.Add(background, 1)
	a.is(err != nil, "Counter.Add to what is no number is an error")
}

func (a alone) names() {
	dir := a.path("names")
	owner := func(name string) *recipes.Names {
		return recipes.NewNames(a.p.Conn, a.p.Env, dir, recipes.NamesOptions{Owner: name})
	}
	// Names and owners that are prefixes of others.
	words := []string{"a", "a-b", "a-b-c", "ab"}
	for _, w := range words {
		a.fine(owner(w).Register(background, w, []byte("of "+w)), "Names.Register of "+w)
	}
	again, err := owner("a-b").RegisterNext(background, "a-", []byte("next"))
	a.is(err == nil && len(again) >= len("a-")+10 && strings.HasPrefix(again, "a-"), "Names.RegisterNext appends a number")
	later, err := owner("a-b").RegisterNext(background, "a-", nil)
	a.is(err == nil && later > again, "the next number is higher")
	a.squatted(owner("a-b"), later)
	list, err := owner("x").List(background)
	a.is(err == nil && slices.Equal(list, []string{"a", again, later, "a-b", "a-b-c", "ab"}),
		"all names that were registered are listed in order")
	for _, w := range words {
		data, err := owner("x").Resolve(background, w)
		a.is(err == nil && string(data) == "of "+w, "%s resolves to its data", w)
		for _, other := range words {
			if other != w {
				a.with(recipes.ErrNotOwner, owner(other).Unregister(background, w),
					fmt.Sprintf("Names.Unregister of %s by %s", w, other))
			}
		}
	}
	a.fine(owner("a-b").Unregister(background, "a-b"), "Names.Unregister of a-b")
	_, err = owner("x").Resolve(background, "a-b")
	a.with(recipes.ErrNoName, err, "Names.Resolve of a-b after that")
	data, err := owner("x").Resolve(background, "a-b-c")
	a.is(err == nil && string(data) == "of a-b-c", "a-b-c is still there after that")
}

// squatted registers the names that would come next, and lists the names while the next free one is looked for. All of
// them are gone in the end.
func (a alone) squatted(n *recipes.Names, last string) {
	number, _ := strconv.Atoi(strings.TrimPrefix(last, "a-"))
	var names []string
	for i := range 4 { // each takes two numbers, for a ticket and a name
		names = append(names, fmt.Sprintf("a-%010d", number+10+i))
		a.fine(n.Register(background, names[i], nil), "Names.Register of a name with a number")
	}
	var next string
	waits, ended := a.observed("next", func(ctx context.Context) (err error) {
		next, err = n.RegisterNext(ctx, "a-", nil)
		return err
	})
	for range 3 {
		list, err := n.List(background)
		a.is(err == nil && !slices.ContainsFunc(list, func(name string) bool { return !strings.HasPrefix(name, "a") }),
			"nothing but names is listed while the next one is looked for")
		if *ended {
			break
		}
	}
	a.fine(waits(), "Names.RegisterNext where others have the next names")
	for _, name := range append(names, next) {
		a.fine(n.Unregister(background, name), "Names.Unregister of a name with a number")
	}
}

// aloneScenario is what alone scenarios have in common. Each round is one of the parts, so a proof with one round is
// about all of them.
func aloneScenario(name, doc string, parts ...func(a alone)) engine.Scenario {
	return engine.Scenario{Name: name, Doc: doc, Clients: 1, Rounds: len(parts), Servers: []int{1, 3},
		SafetySteps: 4000, MaxSteps: 8000, Setup: foreign("/refusals-1"),
		Program: func(p *engine.Process) {
			if p.ID > 1 {
				return // it stays alone where a run has more clients
			}
			a := alone{refused{p: p, dir: p.Path("/refusals-1")}}
			a.create(a.path("begun"), "") // there is a session: without one, the outcome of a put may be unknown
			first := p.Choose(len(parts)) // it gets most of the faults
			for i := range min(p.Rounds, len(parts)) {
				a.apart(parts[(first+i)%len(parts)])
			}
		},
		Faults: faults.Contract().Except("cancel", "watch-delay", "expire", "learn-late", "expiry-lag", "late-request",
			"pause", "zombie", "crash", "depose"),
		Checkers: orderly}
}

// foreign is a setup of znodes that no recipe has made, in the folders of many recipes.
func foreign(dir string) []model.Request {
	setup := []model.Request{engine.Mkdir(dir)}
	add := func(folder string, names ...string) {
		setup = append(setup, engine.Mkdir(dir+"/"+folder))
		for _, name := range names {
			setup = append(setup, engine.Mkdir(dir+"/"+folder+"/"+name))
		}
	}
	for _, folder := range []string{"lock", "rwlock", "semaphore", "semaphore/leases", "semaphore/gate", "election",
		"election/candidates"} {
		add(folder, "README", "lock-", "lock-12", "-0000000001", "0000000002", "_c_x-other-0000000003",
			"_c_x-lock-x000000004", "_c_x-lock-12345", "_c_x-lock-9999999999", "_c_x-read", "-",
			// words that share a beginning or an end with others
			"_c_x-unlock-0000000004", "_c_x-lock2-0000000005", "_c_x-rewrite-0000000006", "_c_x-leases-0000000007",
			"_c_x-candidates-0000000008",
			// numbers that no server gives, and no number
			"_c_x-lock--3000000000", "_c_x-write--3000000000", "_c_x-lease--3000000000", "_c_x-candidate--3000000000",
			"_c_x-lock_0000000000", "_c_x-write_0000000000", "_c_x-lease_0000000000", "_c_x-candidate_0000000000")
	}
	add("monitored", "README", "-0000000001", "_c_x-other-0000000000", "_c_x-unlock-0000000000", "_c_x-read_0000000000")
	for _, folder := range []string{"queue", "queue/items", "queue/claims", "priority", "priority/items"} {
		add(folder, "README", "item-", "item-12", "0000000002", "-")
	}
	for _, folder := range []string{"double-a", "double-b", "double-c"} {
		add(folder, "README", "-", "0000000002")
	}
	add("names", "_c_", "_c_x-other-0000000003", "_c_README")
	add("group", "_owners", "_owners/README", "_owners/_c_x")
	add("pool", "README", "tasks2", "worker-", "-")
	add("foreign")
	add("closed", "open")
	setup = append(setup, model.Request{Op: model.OpSetACL, Path: dir + "/closed", ACL: zk.WorldACL(zk.PermRead),
		Version: -1})
	return append(setup, makeZnodes(dir+"/foreign/text", "text")...)
}

var aloneScenarios = []engine.Scenario{
	aloneScenario("recipes/locks", "of a client that is alone, every lock, lease and election answers as it has to",
		alone.locks, alone.numbers, alone.shared, alone.halved, alone.revocations, alone.leases, alone.leads,
		alone.frugalLocks),
	aloneScenario("recipes/stores", "of a client that is alone, counter, names, configurations and queues answer as they "+
		"have to", alone.counts, alone.names, alone.configs, alone.queues, alone.frugalStores),
	aloneScenario("recipes/watchers", "of a client that is alone, watchers and groups tell what they have to, and "+
		"objects serve several goroutines", alone.watchers, alone.children, alone.members, alone.monitors,
		alone.together),
	aloneScenario("recipes/works", "of a client that is alone, transactions, tasks and barriers come out as they have to",
		alone.transactions, alone.barriers, alone.tasks, alone.keepsLead, alone.newFolder, alone.monitoredAgain,
		alone.frugalWorks),
	twoDials(aloneScenario("recipes/settled", "of a client that is alone, what was given up or has ended is so, and who "+
		"waits goes on to wait", alone.tries, alone.silent, alone.keepsPlace, alone.unreadable, alone.taught,
		alone.givenBack, alone.swept, alone.claimedOn, alone.taken, alone.tookAway, alone.neverEmpty, alone.owned,
		alone.keepsLists, alone.within, alone.triesAgain, alone.behindWriter, alone.besideWriter, alone.deprived,
		alone.fleets, alone.closed)),
	aloneScenario("recipes/seldom", "of a client that is alone, calls that few make are answered as they have to be",
		alone.nameless, alone.cachedTwice, alone.dated, alone.votesLate, alone.forgottenAtWork, alone.reportsAgain,
		alone.brokenOpen, alone.doubtful, alone.ownRead),
	aloneScenario("recipes/vain", "of a client that is alone, waits that end by their deadline leave nothing behind",
		alone.frugalWaits),
	aloneScenario("recipes/followed", "of a client that is alone, watchers keep nothing more from change to change, "+
		"nor does who asks from call to call", alone.frugalWatchers, alone.frugalReads),
}
