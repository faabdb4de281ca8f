package catalog

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/workload"
)

// tries has objects try a lock on one znode without waiting.
func (a alone) tries() {
	lock := func() *recipes.SingleNodeLock { return known(a.p, singleLock(a.p, a.path("single"))) }
	first, second := lock(), lock()
	for range 2 {
		a.fine(first.TryLock(background), "SingleNodeLock.TryLock of what nobody has")
		a.with(recipes.ErrLocked, second.TryLock(background), "SingleNodeLock.TryLock of what another object has")
		a.fine(first.Unlock(background), "SingleNodeLock.Unlock")
	}
}

// silent gives up everything that can be lost. That is no loss, so a caller that kept the channel is told nothing.
func (a alone) silent() {
	var session <-chan zk.Event // since it was taken
	gives := func(call string, x interface{ Lost() <-chan zk.Event }, takes, gives func(ctx context.Context) error) {
		if takes != nil {
			session = a.p.Env.SessionEvents()
			a.fine(takes(background), "to take what "+call+" gives up")
		}
		lost := x.Lost()
		a.fine(gives(background), call)
		workload.Steps(a.p, 8)
		a.is(len(lost) == 0 || len(session) > 0, "%s is not told of as a loss", call)
	}
	l := known(a.p, simpleLock(a.p, a.path("Lock")))
	gives("Lock.Unlock", l, l.Lock, l.Unlock)
	n := known(a.p, singleLock(a.p, a.path("SingleNodeLock")))
	gives("SingleNodeLock.Unlock", n, n.Lock, n.Unlock)
	w := known(a.p, sharedLock(a.p, a.path("RWLock")))
	gives("RWLock.Downgrade", w, w.Lock, w.Downgrade)
	gives("RWLock.RUnlock", w, nil, w.RUnlock)
	s := known(a.p, twoLeases(a.p, a.path("Semaphore")))
	gives("Semaphore.Release", s, s.Acquire, s.Release)
	e := known(a.p, candidate(a.p, a.path("Election")))
	gives("Election.Resign", e, e.Campaign, e.Resign)
	d := known(a.p, recipes.NewDoubleBarrier(a.p.Conn, a.p.Env, a.path("DoubleBarrier"), 1,
		recipes.DoubleBarrierOptions{}))
	gives("DoubleBarrier.Leave", d, d.Enter, d.Leave)
}

// keepsPlace has an object wait behind a number from the end of the numbers. It has to read every contender to know
// their order, and that may be interrupted.
func (a alone) keepsPlace() {
	dir := a.path("kept")
	first := dir + "/_c_0-lock-2147483647"
	a.create(dir, "")
	a.create(first, "early")
	l := known(a.p, recipes.NewLock(a.p.Conn, a.p.Env, dir, recipes.LockOptions{Data: []byte("late")}))
	waits, got := a.observed("late", l.Lock)
	a.untilContenders(dir, simpleLock(a.p, dir), "early late")
	for len(l.Znodes()) == 0 { // it has not heard of its own znode
		a.p.Step()
	}
	place := l.Znodes()
	for range 4 {
		other := dir + "/_c_x-other-0000000001"
		a.create(other, "") // is no contender
		a.delete(other)
	}
	a.is(!*got, "nobody has a lock while another contender is the first")
	a.delete(first)
	a.fine(waits(), "Lock.Lock behind the last number")
	a.is(slices.Equal(l.Znodes(), place), "who waits keeps its place as long as its session lives")
	a.fine(l.Unlock(background), "Lock.Unlock after the last number")
}

// unreadable has locks whose znodes may not be read, its own and others': nobody would be told when they end.
func (a alone) unreadable() {
	dir := a.path("unreadable")
	a.create(dir, "")
	a.create(dir+"-own", "")
	secret := zk.WorldACL(zk.PermAll &^ zk.PermRead)
	lock := func(dir string, acl []zk.ACL) *recipes.Lock {
		return known(a.p, recipes.NewLock(a.p.Conn, a.p.Env, dir, recipes.LockOptions{ACL: acl}))
	}
	hidden, open := lock(dir+"-own", secret), lock(dir, nil)
	a.with(zk.ErrNoAuth, hidden.Lock(background), "Lock.Lock without the right to read its znode")
	a.is(len(hidden.Znodes()) == 0, "nothing is left of a lock that was refused")
	other := dir + "/_c_x-lock-0000000000"
	a.patiently("create", func() error {
		_, err := a.p.Conn.Create(other, nil, 0, secret)
		return err
	}, zk.ErrNodeExists)
	a.with(zk.ErrNoAuth, open.Lock(background), "Lock.Lock behind a znode that it has no right to read")
	a.delete(other)
	a.fine(open.Lock(background), "Lock.Lock in the folder of what was unreadable")
	a.fine(open.Unlock(background), "Lock.Unlock in the folder of what was unreadable")
}

// toDeprive returns a connection that loses its rights as soon as off is false.
func (a alone) toDeprive() *struck {
	return &struck{Conn: a.p.Conn, env: a.p.Env, err: zk.ErrNoAuth, off: true, gives: func([]zk.ACL) {}}
}

// taught has locks lost, and asserts what their holders are told.
func (a alone) taught() {
	for _, c := range []struct {
		name string
		lose func(own string)
		told func(ev zk.Event) bool
	}{
		{"was deleted", a.delete, func(ev zk.Event) bool { return ev.Type == zk.EventNodeDeleted }},
		{"was written to, and deleted", func(own string) {
			a.set(own, "data")
			a.delete(own)
		}, func(ev zk.Event) bool { return ev.Type == zk.EventNodeDeleted }},
		{"may not be read any more, and was written to", func(own string) { a.set(own, "data") },
			func(ev zk.Event) bool { return ev.Type == zk.EventSession && ev.Err == zk.ErrNoAuth }},
	} {
		s := a.toDeprive()
		session := a.p.Env.SessionEvents()
		l := recipes.NewLock(s, a.p.Env, a.path("taught"), recipes.LockOptions{})
		a.p.Register(l.Znodes)
		a.fine(l.Lock(background), "Lock.Lock")
		s.off = strings.HasSuffix(c.name, "deleted")
		c.lose(l.Znodes()[0])
		_, ev, _ := a.p.Env.Await(background, l.Lost())
		a.is(c.told(ev) || len(session) > 0, "a holder is told that its znode %s", c.name)
		s.off = true
		a.fine(l.Unlock(background), "Lock.Unlock of what was lost")
	}
}

// givenBack has an item acknowledged that is being given back in the background.
func (a alone) givenBack() {
	q := recipes.NewQueue(a.p.Conn, a.p.Env, a.path("given-back"), recipes.QueueOptions{})
	a.fine(q.Put(background, []byte("1")), "Queue.Put")
	item, err := q.Claim(background)
	a.fine(err, "Queue.Claim")
	a.with(context.Canceled, item.Return(canceled()), "QueueItem.Return with a context that is done")
	a.with(recipes.ErrClaimLost, item.Ack(background), "QueueItem.Ack of what is being given back")
	data, err := q.Take(background)
	a.is(err == nil && string(data) == "1", "what was given back is taken again")
}

// swept has an operator delete an item with its claim.
func (a alone) swept() {
	dir := a.path("swept")
	q := recipes.NewQueue(a.p.Conn, a.p.Env, dir, recipes.QueueOptions{})
	a.fine(q.Put(background, nil), "Queue.Put")
	item, err := q.Claim(background)
	a.fine(err, "Queue.Claim")
	znodes, session := item.Znodes(), a.p.Env.SessionEvents()
	for _, path := range append(znodes, dir+"/items/"+path.Base(znodes[0])) {
		a.delete(path)
	}
	if err := item.Ack(background); err != nil || len(session) == 0 { // otherwise an answer may have been lost
		a.with(recipes.ErrClaimLost, err, "QueueItem.Ack of what an operator has deleted")
	}
}

// claimedOn has a consumer wait for an item that another one has claimed, and hear of something else.
func (a alone) claimedOn() {
	dir := a.path("claimed-on")
	queue := func() *recipes.Queue { return fifo(a.p, dir) }
	a.fine(queue().Put(background, nil), "Queue.Put")
	item, err := queue().Claim(background)
	a.fine(err, "Queue.Claim")
	waits := a.background("consumer", answer(queue().Take))
	workload.Steps(a.p, 16)
	a.create(dir+"/claims/other", "") // is no claim of an item
	workload.Steps(a.p, 16)
	a.fine(item.Return(background), "QueueItem.Return")
	a.fine(waits(), "Queue.Take of what was given back, after another claim")
}

// taken has an item taken as soon as it is put, again and again.
func (a alone) taken() {
	q := recipes.NewPriorityQueue(a.p.Conn, a.p.Env, a.path("taken"), recipes.QueueOptions{})
	for n := range uint16(8) {
		a.fine(q.Put(background, []byte{byte(n)}, n), "PriorityQueue.Put")
		data, err := q.TryTake(background)
		a.is(err == nil && len(data) == 1 && data[0] == byte(n), "PriorityQueue.TryTake takes what is there")
	}
}

// unforgetting is an environment without [recipes.Hints], for a recipe on a connection that remembers something: the
// recipe cannot say that it keeps that.
type unforgetting struct{ recipes.Env }

// between is a connection on which something happens before a folder is listed or a znode in it is read.
type between struct {
	recipes.Conn
	folder string
	do     func()
}

// Children implements recipes.Conn.
func (b *between) Children(path string) ([]string, *zk.Stat, error) {
	if path == b.folder {
		b.do()
	}
	return b.Conn.Children(path)
}

// Get implements recipes.Conn.
func (b *between) Get(path string) ([]byte, *zk.Stat, error) {
	if strings.HasPrefix(path, b.folder+"/") {
		b.do()
	}
	return b.Conn.Get(path)
}

// tookAway has an operator take a task away from its worker, which has seen it but not read it yet.
func (a alone) tookAway() {
	dir := a.path("took-away")
	conn := &between{Conn: a.p.Conn}
	conn.do = func() {
		a.delete(conn.folder + "/1")
		a.create(conn.folder+"/2", "two")
		conn.do = func() {}
	}
	w := known(a.p, recipes.NewWorker(conn, unforgetting{a.p.Env}, dir, recipes.PoolOptions{}))
	var next recipes.Assignment
	waits := a.background("worker", func(ctx context.Context) (err error) {
		next, err = w.Next(ctx)
		return err
	})
	a.p.AtRest()
	conn.folder = dir + "/assign/" + path.Base(w.Znodes()[0])
	a.create(conn.folder+"/1", "one")
	a.fine(waits(), "Worker.Next when a task was taken away")
	a.is(string(next.Data) == "two", "Worker.Next waits on for another task")
	a.delete(conn.folder + "/2")
	a.fine(w.Leave(background), "Worker.Leave")
}

// neverEmpty adds an item and claims the one before it each time that a consumer looks for one without waiting, up to a
// limit: there is always a free item.
func (a alone) neverEmpty() {
	dir := a.path("never-empty")
	other := recipes.NewPriorityQueue(a.p.Conn, a.p.Env, dir, recipes.QueueOptions{})
	n := byte(0)
	put := func() {
		n++
		a.fine(other.Put(background, []byte{n}, uint16(n)), "PriorityQueue.Put")
	}
	put()
	last := 2 + byte(a.p.Choose(3))
	conn := &between{a.p.Conn, dir + "/claims", func() {
		if n < last {
			put()
			item, err := other.Claim(background)
			a.fine(err, "PriorityQueue.Claim while another one looks")
			a.p.Register(item.Znodes)
		}
	}}
	data, err := recipes.NewPriorityQueue(conn, unforgetting{a.p.Env}, dir, recipes.QueueOptions{}).TryTake(background)
	a.is(err == nil && bytes.Equal(data, []byte{last}), "PriorityQueue.TryTake takes what has come while it was looking")
}

// owned has two objects of one owner register and remove a name in turn.
func (a alone) owned() {
	owner := func(name string) *recipes.Names {
		return recipes.NewNames(a.p.Conn, a.p.Env, a.path("owned"), recipes.NamesOptions{Owner: name})
	}
	one, two, other := owner("me"), owner("me"), owner("other")
	a.fine(one.Register(background, "n", nil), "Names.Register")
	a.fine(two.Unregister(background, "n"), "Names.Unregister by another object of the owner")
	a.fine(two.Register(background, "n", nil), "Names.Register by another object of the owner")
	a.fine(one.Unregister(background, "n"), "Names.Unregister of what another object has registered")
	_, err := other.Resolve(background, "n")
	a.with(recipes.ErrNoName, err, "Names.Resolve after that")
	a.fine(other.Register(background, "n", nil), "Names.Register by another owner")
	a.with(recipes.ErrNotOwner, one.Unregister(background, "n"), "Names.Unregister of what another owner has registered")
	a.fine(other.Unregister(background, "n"), "Names.Unregister by the other owner")
}

// keepsLists has a reader keep what it was told.
func (a alone) keepsLists() {
	path := a.path("kept-list")
	a.create(path, "")
	for _, name := range []string{"a", "b", "c"} {
		a.create(path+"/"+name, name)
	}
	var kept, copied [][]recipes.Child
	first := recipes.NewMailbox[int](a.p.Env)
	waits := a.background("cache", func(ctx context.Context) error {
		return recipes.NewChildrenCache(a.p.Conn, a.p.Env, path, recipes.WatchOptions{}).Run(ctx,
			func(now []recipes.Child, _ []recipes.Change) bool {
				kept, copied = append(kept, now), append(copied, slices.Clone(now))
				first.Put(len(kept))
				return len(now) > 1
			})
	})
	first.Get(background)
	a.delete(path + "/a")
	a.delete(path + "/b")
	a.fine(waits(), "ChildrenCache.Run until one child is left")
	same := func(x, y recipes.Child) bool { return x.Name == y.Name && string(x.Data) == string(y.Data) }
	for i := range kept {
		a.is(slices.EqualFunc(kept[i], copied[i], same), "what a cache has told is the reader's own")
	}
}

// within has goroutines compete for what one of them holds, and use a barrier that nobody else uses.
func (a alone) within() {
	m := recipes.NewMutex(a.p.Env)
	a.fine(m.Lock(background), "Mutex.Lock")
	ctx, cancel := a.p.Env.WithTimeout(background, time.Second)
	a.with(context.DeadlineExceeded, m.Lock(ctx), "Mutex.Lock that has waited too long")
	cancel()
	m.Unlock()
	a.fine(m.Lock(background), "Mutex.Lock after an Unlock")
	m.Unlock()
	ctx, cancel = a.p.Env.WithTimeout(background, time.Second)
	_, err := recipes.NewMailbox[int](a.p.Env).Get(ctx)
	a.with(context.DeadlineExceeded, err, "Mailbox.Get that has waited too long")
	cancel()
	d := known(a.p, recipes.NewDoubleBarrier(a.p.Conn, a.p.Env, a.path("nobody"), 0, recipes.DoubleBarrierOptions{}))
	a.fine(d.Enter(background), "DoubleBarrier.Enter of a barrier for nobody, which is for one")
	a.fine(d.Leave(background), "DoubleBarrier.Leave of a barrier for nobody")
}

// triesAgain has a participant create its znode twice, as when a request of an earlier session is executed late.
func (a alone) triesAgain() {
	dir := a.path("tries-again")
	var all []*recipes.DoubleBarrier
	var waits []func() error
	inside := 0
	enter := func() {
		d := known(a.p, recipes.NewDoubleBarrier(a.p.Conn, a.p.Env, dir, 3, recipes.DoubleBarrierOptions{}))
		wait := a.background("member", func(ctx context.Context) error {
			err := d.Enter(ctx)
			inside++
			return err
		})
		all, waits = append(all, d), append(waits, wait)
	}
	enter()
	enter()
	a.p.AtRest()
	for _, d := range all {
		own := d.Znodes()[0]
		other := own[:strings.LastIndexByte(own, '-')] + "-999"
		a.create(other, "")
		a.p.AtRest()
		a.is(inside == 0, "two tries of one Enter are one participant")
		a.delete(other)
	}
	enter()
	for _, wait := range waits {
		a.fine(wait(), "DoubleBarrier.Enter of three")
	}
	waits = nil
	for _, d := range all {
		waits = append(waits, a.background("member", d.Leave))
	}
	for _, wait := range waits {
		a.fine(wait(), "DoubleBarrier.Leave of three")
	}
}

// behindWriter has a reader wait for too long behind a writer of another library: the reader holds nothing.
func (a alone) behindWriter() {
	alarms := recipes.NewMailbox[recipes.Overdue](a.p.Env)
	dir := a.path("monitored-behind")
	a.create(dir, "")
	writer := dir + "/_c_x-write-0000000000"
	a.create(writer, "")
	l := known(a.p, sharedLock(a.p, dir))
	waits := a.background("reader", l.RLock)
	end := a.running("monitor", "Monitor.Run beside who waits", a.monitor(dir, holdsTooLong, alarms).Run)
	alarm, err := alarms.Get(background)
	a.is(err == nil && alarm.Path == writer, "a monitor tells of a writer")
	a.p.Env.Sleep(background, 3*time.Second)
	a.is(len(alarms.Ready()) == 0, "a monitor tells of nobody who waits")
	a.delete(writer)
	a.fine(waits(), "RWLock.RLock behind a writer")
	a.fine(l.RUnlock(background), "RWLock.RUnlock behind a writer")
	end()
}

// besideWriter has two clients read for too long while a writer of another library waits, which has no read znode of
// its own.
func (a alone) besideWriter() {
	alarms := recipes.NewMailbox[recipes.Overdue](a.p.Env)
	dir := a.path("monitored-foreign")
	var held []*recipes.RWLock
	for range 2 {
		l := known(a.p, sharedLock(a.p, dir))
		a.fine(l.RLock(background), "RWLock.RLock before a writer")
		held = append(held, l)
	}
	a.create(dir+"/_c_x-write-0000001000", "")
	end := a.running("monitor", "Monitor.Run beside a writer", a.monitor(dir, holdsTooLong, alarms).Run)
	told := map[string]bool{}
	for range held {
		alarm, err := alarms.Get(background)
		a.fine(err, "an alarm while a writer waits")
		told[alarm.Path] = true
	}
	for _, l := range held {
		a.is(told[l.Znodes()[0]], "a monitor tells of every reader before a writer")
		a.fine(l.RUnlock(background), "RWLock.RUnlock before a writer")
	}
	end()
}

// ownRead has a writer of another library hold a lock for too long. Its own read znode goes while a monitor watches:
// before the alarm, or after it.
func (a alone) ownRead() {
	for _, told := range []bool{false, true} {
		alarms := recipes.NewMailbox[recipes.Overdue](a.p.Env)
		dir := a.path(fmt.Sprintf("monitored-writer-%t", told))
		read := dir + "/_c_x-read-0000000000"
		for _, path := range []string{dir, read, dir + "/_c_x-write-0000000001"} {
			a.create(path, "")
		}
		end := a.running("monitor", "Monitor.Run beside a writer with two znodes", a.monitor(dir, readsTooLong, alarms).Run)
		alarm := func() error { _, err := alarms.Get(background); return err }
		if told {
			a.fine(alarm(), "an alarm of a writer by its read znode")
			a.delete(read)
			a.p.Env.Sleep(background, 2*readsTooLong)
			a.is(len(alarms.Ready()) == 0, "a monitor tells once of a writer with two znodes")
		} else {
			a.p.Env.Sleep(background, readsTooLong*3/5)
			a.delete(read)
			a.fine(alarm(), "an alarm of a writer whose read znode has gone")
		}
		end()
	}
}

// deprived has a member lose its rights. Then something happens to its znode: it is no longer a member, and does not
// keep trying.
func (a alone) deprived() {
	for _, deleted := range []bool{false, true} {
		dir := a.path(fmt.Sprint("deprived-", deleted))
		s := a.toDeprive()
		member := true
		g := recipes.NewGroup(s, a.p.Env, dir, recipes.GroupOptions{
			Changed: func(_ string, joined bool) { member = joined }})
		m, err := g.Join(background, "me", nil)
		a.fine(err, "Group.Join")
		s.off = false
		if deleted {
			s.left = 1 // what it does on seeing that is refused
			a.delete(dir + "/me")
		} else {
			a.set(dir+"/me", "data")
		}
		a.p.AtRest()
		a.is(!member, "a member that could not look, or join anew, is told that it is none")
		a.with(zk.ErrNoAuth, m.Leave(background), "Membership.Leave of a member that could not look, or join anew")
		a.patiently("children", func() error { // it no longer answers for what it may not delete
			proofs, _, err := a.p.Conn.Children(dir + "/_owners")
			for _, name := range proofs {
				a.delete(dir + "/_owners/" + name)
			}
			return err
		})
		a.delete(dir + "/me")
	}
}

// closed has a member lose its connection for good, perhaps while it looks for its znode.
func (a alone) closed() {
	q, err := a.p.Dial()
	if err != nil {
		a.p.Fail(err)
		return
	}
	member := true
	g := recipes.NewGroup(q.Conn, q.Env, a.path("hung-up"), recipes.GroupOptions{
		Changed: func(_ string, joined bool) { member = joined }})
	m, err := g.Join(background, "me", nil)
	a.fine(err, "Group.Join")
	a.delete(a.path("hung-up/me"))
	workload.Steps(a.p, a.p.Choose(12))
	q.Conn.Close()
	a.p.AtRest()
	a.is(!member, "a member whose connection was closed is told that it is none")
	a.with(zk.ErrClosing, m.Leave(background), "Membership.Leave after the connection was closed")
}
