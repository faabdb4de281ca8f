package sim_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/sim"
)

// guarantee is one of ZooKeeper's promises, as a check of what happened in a
// run. A run that breaks one would be a false alarm of whoever uses the
// simulator. The doctor makes a good run bad, to see that the check can fail;
// it reports false when the run has nothing to spoil.
type guarantee struct {
	name, sentence string
	check          func(tp *tape) error
	doctor         func(tp *tape) bool
}

type link struct{ client, conn int }

func (n *note) link() link { return link{n.client, n.conn} }

// each calls f for the notes of some kinds.
func (tp *tape) each(f func(n *note) error, kinds ...string) error {
	for i := range tp.notes {
		if n := &tp.notes[i]; slices.Contains(kinds, n.kind) {
			if err := f(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachReply calls f for the answers that carry a zxid.
func (tp *tape) eachReply(f func(n *note) error) error {
	return tp.each(func(n *note) error {
		if n.op == model.OpAuth {
			return nil
		}
		return f(n)
	}, "reply")
}

func repliesInOrder(tp *tape) error {
	last := map[link]int{}
	return tp.each(func(n *note) error {
		if n.op == model.OpSetWatches {
			return nil
		}
		if n.n <= last[n.link()] {
			return fmt.Errorf("%v comes after the answer to #%d", n, last[n.link()])
		}
		last[n.link()] = n.n
		return nil
	}, "reply")
}

func eventsInOrder(tp *tape) error {
	ops := map[int64]model.Op{}
	last := map[link]*note{}
	return tp.each(func(n *note) error {
		if n.kind == "commit" {
			ops[n.zxid] = n.op
			return nil
		}
		if n.caught {
			return nil
		}
		if p := last[n.link()]; p != nil && p.zxid > n.zxid {
			return fmt.Errorf("%v comes after the event of zxid %x", n, p.zxid)
		} else if p != nil && p.zxid == n.zxid && p.typ == zk.EventNodeChildrenChanged &&
			(ops[n.zxid] == model.OpCreate || ops[n.zxid] == model.OpDelete) {
			return fmt.Errorf("%v comes after the parent's", n)
		}
		last[n.link()] = n
		return nil
	}, "event", "commit")
}

func eventsBeforeReplies(tp *tape) error {
	seen := map[link]int64{}
	return tp.each(func(n *note) error {
		if n.kind == "reply" {
			seen[n.link()] = max(seen[n.link()], n.zxid)
		} else if !n.caught && n.zxid <= seen[n.link()] {
			return fmt.Errorf("%v comes after an answer made at zxid %x", n, seen[n.link()])
		}
		return nil
	}, "event", "reply")
}

// armed is the watches of a connection as its client knows them.
type armed map[string]bool

func (a armed) arm(n *note) {
	ok, exists := n.res.Err == model.OK, n.op == model.OpExists
	switch {
	case n.req.Watch && n.op == model.OpGetChildren2 && ok:
		a["child "+n.path] = true
	case n.req.Watch && n.op != model.OpGetChildren2 && (ok || exists && n.res.Err == model.NoNode):
		a["data "+n.path] = true
	}
}

// fire takes away the watches that an event uses up.
func (a armed) fire(n *note) bool {
	data, child := a["data "+n.path], a["child "+n.path]
	switch n.typ {
	case zk.EventNodeDeleted:
		delete(a, "data "+n.path)
		delete(a, "child "+n.path)
		return data || child
	case zk.EventNodeChildrenChanged:
		delete(a, "child "+n.path)
		return child
	}
	delete(a, "data "+n.path)
	return data
}

func eventsNeedWatches(tp *tape) error {
	watches := map[link]armed{}
	return tp.each(func(n *note) error {
		a := watches[n.link()]
		if a == nil {
			a = armed{}
			watches[n.link()] = a
		}
		switch {
		case n.kind == "event" && !n.caught && !a.fire(n):
			return fmt.Errorf("%v: there is no watch", n)
		case n.kind == "reply" && n.op == model.OpSetWatches:
			for _, p := range slices.Concat(n.req.Watches.Data, n.req.Watches.Exist) {
				a["data "+p] = true
			}
			for _, p := range n.req.Watches.Child {
				a["child "+p] = true
			}
		case n.kind == "reply":
			a.arm(n)
		}
		return nil
	}, "event", "reply")
}

func sessionsNeverGoBack(tp *tape) error {
	seen := map[int64]int64{}
	return tp.eachReply(func(n *note) error {
		if n.zxid < seen[n.session] {
			return fmt.Errorf("%v: the session has seen zxid %x", n, seen[n.session])
		}
		seen[n.session] = n.zxid
		return nil
	})
}

// writesInOrder follows what each connection was given to send.
func writesInOrder(tp *tape) error {
	numbers, executed := map[string]int{}, map[string]bool{}
	last := map[int64]int{}
	queued, sent := map[int][]*note{}, map[link][]*note{}
	err := tp.each(func(n *note) error {
		switch n.kind {
		case "issue":
			numbers[n.key] = n.n
			if n.conn > 0 {
				sent[n.link()] = append(sent[n.link()], n)
			} else {
				queued[n.client] = append(queued[n.client], n)
			}
		case "round":
			queued[n.client] = nil
		case "attach":
			sent[n.link()] = append(sent[n.link()], queued[n.client]...)
			queued[n.client] = nil
		case "commit":
			k, known := numbers[n.key]
			if !known || n.op == model.OpCloseSession { // the environment does that, too
				return nil
			}
			if executed[n.key] || k < last[n.session] {
				return fmt.Errorf("%v: %q is executed after #%d of its session", n, n.key, last[n.session])
			}
			executed[n.key], last[n.session] = true, k
		}
		return nil
	}, "issue", "round", "attach", "commit")
	if err != nil {
		return err
	}
	for _, list := range sent {
		skipped := ""
		for _, n := range list {
			if !n.op.IsWrite() || n.op == model.OpCloseSession {
				continue
			}
			if !executed[n.key] {
				skipped = n.key
			} else if skipped != "" {
				return fmt.Errorf("%v was executed, but %q before it on the connection was not", n, skipped)
			}
		}
	}
	return nil
}

func multisAreAtomic(tp *tape) error {
	made := map[string]int64{}
	for i := range tp.w.History.Events {
		if e := &tp.w.History.Events[i]; strings.HasPrefix(e.Path, "/m/") {
			made[e.Path] = e.Zxid
		}
	}
	for _, path := range slices.Sorted(maps.Keys(made)) {
		other := strings.TrimRight(path, "ab") + "b"
		if strings.HasSuffix(path, "b") {
			other = strings.TrimRight(path, "ab") + "a"
		}
		if made[other] != made[path] {
			return fmt.Errorf("%s was made at zxid %x, %s at %x", path, made[path], other, made[other])
		}
	}
	return nil
}

// syncsCatchUp checks M8: of the syncs that a deposed leader answers nothing is expected.
func syncsCatchUp(tp *tape) error {
	return tp.catchesUp(func(n *note) bool { return n.op == model.OpSync && !n.deposed })
}

// allSyncsCatchUp is M8 without its condition, which does not hold.
func allSyncsCatchUp(tp *tape) error {
	return tp.catchesUp(func(n *note) bool { return n.op == model.OpSync })
}

func ownWritesCatchUp(tp *tape) error {
	return tp.catchesUp(func(n *note) bool { return n.op.IsWrite() })
}

// catchesUp checks that reads show all that was acknowledged to anybody before some requests were issued whose answers
// came before on the connection.
func (tp *tape) catchesUp(by func(n *note) bool) error {
	acked := int64(0)
	due := map[int]int64{}    // by number of a request: acknowledged when it was issued
	least := map[link]int64{} // what reads of a connection must show
	return tp.each(func(n *note) error {
		switch {
		case n.kind == "issue":
			due[n.n] = acked
		case n.res.Err == model.OK && by(n):
			least[n.link()] = max(least[n.link()], due[n.n])
			fallthrough
		default:
			if n.op != model.OpAuth && n.zxid < least[n.link()] {
				return fmt.Errorf("%v: zxid %x was acknowledged before", n, least[n.link()])
			}
			if n.op.IsWrite() && n.res.Err == model.OK {
				acked = max(acked, n.zxid)
			}
		}
		return nil
	}, "issue", "reply")
}

func ownWritesAreSeen(tp *tape) error {
	wrote := map[int64]int64{}
	return tp.eachReply(func(n *note) error {
		if n.op.IsWrite() {
			wrote[n.session] = max(wrote[n.session], n.zxid)
		} else if n.zxid < wrote[n.session] {
			return fmt.Errorf("%v: the session's own write at zxid %x is missing", n, wrote[n.session])
		}
		return nil
	})
}

// reference is a replica that a check moves along the log.
type reference struct {
	tp    *tape
	store *model.Server
	conn  model.Conn
	next  int
	fired []model.Event
}

func (tp *tape) reference() *reference {
	r := &reference{tp: tp, store: model.NewServer(model.Config{ExtendedTypes: true, Order: tp.w.Order | 1})}
	r.store.OnEvent = func(_ *model.Conn, ev model.Event) { r.fired = append(r.fired, ev) }
	r.conn.Auth = []model.ID{{Scheme: "ip", ID: "127.0.0.1"}}
	return r
}

// to applies the log up to a zxid.
func (r *reference) to(zxid int64, each func(n *note, res *model.Response) error) error {
	for ; r.next < len(r.tp.notes); r.next++ {
		n := &r.tp.notes[r.next]
		if n.kind != "commit" {
			continue
		}
		if n.zxid > zxid {
			return nil
		}
		var res model.Response
		n.txn.Req = &n.req
		r.store.Apply(&n.txn, &res)
		if each != nil {
			if err := each(n, &res); err != nil {
				return err
			}
		}
	}
	return nil
}

const end = 1 << 62

func sessionsEndAtOnce(tp *tape) error {
	ended := map[int64]bool{}
	r := tp.reference()
	return r.to(end, func(n *note, res *model.Response) error {
		if ended[n.session] && n.session != 0 && n.op != model.OpError {
			return fmt.Errorf("%v is executed although session %x has ended", n, n.session)
		}
		if n.op != model.OpCloseSession {
			return nil
		}
		ended[n.session] = true
		for _, z := range r.store.Tree() {
			if z.Stat.EphemeralOwner == n.session {
				return fmt.Errorf("%v leaves %s behind", n, z.Path)
			}
		}
		return nil
	})
}

func sequencesCount(tp *tape) error {
	next := 0
	for i := range tp.w.History.Events {
		e := &tp.w.History.Events[i]
		if e.Kind.String() != "created" || !strings.HasPrefix(e.Path, "/q/") {
			continue
		}
		if suffix := fmt.Sprintf("%010d", next); !strings.HasSuffix(e.Path, suffix) {
			return fmt.Errorf("%s should end with %s", e.Path, suffix)
		}
		next++
	}
	return nil
}

func versionsCount(tp *tape) error {
	sets := map[string]map[int64]int32{}
	if err := tp.each(func(n *note) error {
		if n.op == model.OpSetData {
			if sets[n.path] == nil {
				sets[n.path] = map[int64]int32{}
			}
			sets[n.path][n.zxid] = int32(len(sets[n.path])) + 1
		}
		return nil
	}, "commit"); err != nil {
		return err
	}
	return tp.eachReply(func(n *note) error {
		if v := sets[n.path][n.zxid]; n.op == model.OpSetData && n.res.Err == model.OK && n.res.Stat.Version != v {
			return fmt.Errorf("%v: version %d, want %d", n, n.res.Stat.Version, v)
		}
		return nil
	})
}

func acknowledgedIsKept(tp *tape) error {
	logged, deleted := map[string]int64{}, map[string]bool{}
	tp.each(func(n *note) error {
		logged[n.key] = n.zxid
		deleted[n.path] = deleted[n.path] || n.op == model.OpDelete
		return nil
	}, "commit")
	return tp.eachReply(func(n *note) error {
		if !n.op.IsWrite() || n.res.Err != model.OK || n.op == model.OpCloseSession {
			return nil
		}
		if logged[n.key] != n.zxid {
			return fmt.Errorf("%v: %q is not in the log", n, n.key)
		}
		if n.op == model.OpCreate && n.req.Flags == 0 && !deleted[n.path] {
			for _, z := range tp.tree {
				if z.Path == n.path {
					return nil
				}
			}
			return fmt.Errorf("%v: the znode is not there at the end", n)
		}
		return nil
	})
}

// atTheirState calls f for the answers, with a replica in the state they were
// made at.
func (tp *tape) atTheirState(f func(n *note, r *reference) error) error {
	var list []*note
	tp.eachReply(func(n *note) error {
		if !n.op.IsWrite() {
			list = append(list, n)
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b *note) int { return cmp.Compare(a.zxid, b.zxid) })
	r := tp.reference()
	for _, n := range list {
		r.to(n.zxid, nil)
		if err := f(n, r); err != nil {
			return err
		}
	}
	return nil
}

// relativeToTheLastAnswer checks what the library says it has seen.
func relativeToTheLastAnswer(tp *tape) error {
	sessions, last, rel := map[int]int64{}, map[int]int64{}, map[link]int64{}
	return tp.each(func(n *note) error {
		if n.kind == "attach" {
			if n.session != sessions[n.client] {
				sessions[n.client], last[n.client] = n.session, 0
			}
			rel[n.link()] = last[n.client]
			return nil
		}
		if n.op == model.OpSetWatches && n.req.Watches.RelativeZxid != rel[n.link()] {
			return fmt.Errorf("%v: relative to zxid %x, want %x", n, n.req.Watches.RelativeZxid, rel[n.link()])
		}
		if n.op != model.OpAuth {
			last[n.client] = n.zxid
		}
		return nil
	}, "attach", "reply")
}

func catchUpIsExact(tp *tape) error {
	got := map[*note][]model.Event{}
	collected := map[link][]model.Event{}
	tp.each(func(n *note) error {
		if n.caught {
			collected[n.link()] = append(collected[n.link()], model.Event{Type: n.typ, Path: n.path})
		} else if n.kind == "reply" && n.op == model.OpSetWatches {
			got[n] = collected[n.link()]
		}
		return nil
	}, "event", "reply")
	return tp.atTheirState(func(n *note, r *reference) error {
		if n.op != model.OpSetWatches {
			return nil
		}
		r.fired = nil
		r.store.Read(&r.conn, &n.req, &model.Response{})
		r.store.Disconnect(&r.conn)
		for i := range r.fired {
			r.fired[i].Zxid, r.fired[i].Caught = 0, false
		}
		if !slices.Equal(got[n], r.fired) {
			return fmt.Errorf("%v: the events are %v, want %v", n, got[n], r.fired)
		}
		return nil
	})
}

func readsShowTheirState(tp *tape) error {
	return tp.atTheirState(func(n *note, r *reference) error {
		if n.op == model.OpSetWatches {
			return nil
		}
		req, want := n.req, model.Response{}
		req.Watch = false
		r.store.Read(&r.conn, &req, &want)
		if n.zxid&math.MaxUint32 == 0 { // an epoch begins without a txn
			want.Zxid = n.zxid
		}
		if got := n.res; !reflect.DeepEqual(got, want) {
			return fmt.Errorf("%v: the answer is %+v, want %+v", n, got, want)
		}
		return nil
	})
}

var _ sim.Injector = (*tape)(nil)
