package checkers

import (
	"fmt"
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// owners is the monitor of Ownership.
type owners struct {
	recipeEvents
	Ownership
	active []claim
	claimants
	queue   []contender // znodes that exist, in the order of their creation
	deleted claimable
}

// contender is a znode.
type contender struct {
	path   string
	print  hash.Hash // of path and client
	client int32     // that made it
	zxid   int64
	reads  bool   // it keeps no reader waiting
	stays  bool   // it is persistent, and keeps no ephemeral one waiting
	beside string // the path of another znode of its txn; it keeps no later znode of that path waiting
}

func (o *owners) Reset() {
	o.active, o.queue, o.claimants = o.active[:0], o.queue[:0], o.claimants[:0]
	o.deleted.reset()
}

func (o *owners) Hash() uint64 {
	var claims hash.Hash // in any order
	for _, a := range o.active {
		claims += o.claimants.print(a)
	}
	p := claims.Uint64(uint64(o.deleted.print()))
	for _, x := range o.queue {
		p = p.Uint64(uint64(x.print))
	}
	return uint64(p)
}

func (o *owners) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch e.Kind {
	case history.Acquired:
		mine := claimOf(e)
		o.claims(mine)
		o.active = drop(o.active, mine.sameObject) // a writer becomes a reader
		valid, ended := o.life(mine)
		if !valid && e.Path == "" {
			return violated(o, i, "c%d was told that it holds %s, and nobody has recorded by which znode", e.Client, o.held())
		}
		if !valid {
			return violated(o, i, "c%d was told that it holds %s by %s, which %s", e.Client, o.held(), e.Path, o.why(h, mine, i))
		}
		if ended {
			return Verdict{} // before it could be told; a claim no more
		}
		if v := o.tooMany(i, mine, o.active); v.Level == Violated {
			return v
		}
		o.active = append(o.active, mine)
	case history.Released:
		o.end(e.Object)
		o.active = withoutObject(o.active, e.Object)
	case history.Created:
		o.created(e)
	case history.Deleted:
		o.active = drop(o.active, func(a claim) bool { return a.path == e.Path })
		o.remove(e.Path)
	case history.Invoke:
		if e.Op != "downgrade" { // which claims what the call before it got
			o.deleted.begin(callerOf(e))
		}
	}
	return Verdict{}
}

// created notes a new znode.
func (o *owners) created(e *history.Event) {
	x := contender{path: e.Path, client: e.Client, zxid: e.Zxid,
		reads: ofReader(e.Path), stays: e.Session == 0}
	for k := range o.queue {
		if y := &o.queue[k]; y.zxid != 0 && y.zxid == x.zxid && y.client == x.client {
			x.beside, y.beside = y.path, x.path
			y.print = y.print.String(y.beside)
		}
	}
	x.print = hash.Hash(x.client).String(x.path).String(x.beside).Bool(x.stays)
	o.queue = append(o.queue, x)
}

// remove notes that a znode is deleted.
func (o *owners) remove(path string) {
	k := slices.IndexFunc(o.queue, func(x contender) bool { return x.path == path })
	if k < 0 {
		return
	}
	x, led := o.queue[k], [2]bool{o.leads(k, false), o.leads(k, true)}
	o.queue = slices.Delete(o.queue, k, k+1)
	o.deleted.add(remnant{path: path, client: x.client, led: led, print: x.print.Bool(led[0]).Bool(led[1])})
}

// leads reports whether the znode at that place of the queue is among the first of its
// siblings, as many as there are leases.
func (o *owners) leads(at int, shared bool) bool {
	n, x := 0, &o.queue[at]
	for k := range o.queue[:at] {
		y := &o.queue[k]
		partner := y.client == x.client && y.zxid != 0 && y.zxid == x.zxid
		if siblings(y.path, x.path) && !partner && y.beside != x.path && !(shared && y.reads) && !(y.stays && !x.stays) {
			n++
		}
	}
	return n < max(o.Leases, 1)
}

// life reports whether the claim rests on a znode that was among the first at some
// moment of the call that makes it, and whether that znode is deleted.
func (o *owners) life(mine claim) (valid, ended bool) {
	for k := len(o.queue) - 1; k >= 0; k-- {
		if x := &o.queue[k]; x.path == mine.path && x.client == mine.client {
			return o.leads(k, mine.shared), false
		}
	}
	x := o.deleted.by(mine.path, mine.caller)
	return x != nil && (x.led[0] && !mine.shared || x.led[1] && mine.shared), true
}

// why says what is wrong with the znode of a claim at event i.
func (o *owners) why(h *history.History, mine claim, i int) string {
	maker := int32(-1) // of the znode, rather the client of the claim; -1: nobody
	for k := range i {
		if e := &h.Events[k]; e.Kind == history.Created && e.Path == mine.path && maker != mine.client {
			maker = e.Client
		}
	}
	first := "first in the queue"
	if o.Leases > 1 {
		first = fmt.Sprintf("one of the first %d in the queue", o.Leases)
	}
	isIt := func(x contender) bool { return x.path == mine.path && x.client == mine.client }
	switch {
	case maker < 0:
		return "was never made"
	case maker != mine.client && maker > 0:
		return "c" + digits(maker) + " has made"
	case maker != mine.client:
		return "another client has made"
	case slices.ContainsFunc(o.queue, isIt) && o.Leases > 1:
		return "is not " + first
	case slices.ContainsFunc(o.queue, isIt):
		return "is not the first of the queue"
	case o.deleted.by(mine.path, mine.caller) != nil:
		return "had been deleted before it was " + first
	case slices.Contains(o.deleted.callers, mine.caller):
		return "had been deleted before the call began"
	}
	return "had been deleted, and of that object no call is recorded that could have got it"
}
