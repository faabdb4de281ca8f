package checkers

import (
	"cmp"
	"slices"

	"zksim/model/history"
)

// executed finds the operation behind each txn of the znode and gives it the
// txn's zxid. It returns the writes that were executed, in the order of their
// zxids. A txn of nobody (the setup, the end of a session) is a write of its own.
func (z Znodes) executed(h *history.History, r *register) (writes []*access, v Verdict) {
	var s znodeState
	var open []*access // called, not answered before this txn, without a txn
	next := 0
	for _, i := range r.txns {
		for ; next < len(r.ops) && r.ops[next].call < i; next++ {
			if r.ops[next].writes() {
				open = append(open, r.ops[next])
			}
		}
		e := &h.Events[i]
		op := txnOp(e.Kind)
		if e.Zxid <= s.last {
			return nil, violated(z, i, "the %s of %s has zxid 0x%x, and an earlier txn has 0x%x", op, r.path, e.Zxid, s.last)
		}
		a := &access{op: op, path: r.path, data: e.Data, expected: -1, call: i, ret: i}
		if e.Client != 0 {
			if a = s.author(open, op, e); a == nil {
				return nil, violated(z, i, "no operation of c%d explains its %s of %s with zxid 0x%x", e.Client, op, r.path, e.Zxid)
			}
		}
		open = drop(open, func(x *access) bool { return x == a || x.ret < i })
		a.zxid = e.Zxid
		if err, next := s.execute(a); err == nil {
			s = next
		} else {
			return nil, violated(z, i, "the %s of %s with zxid 0x%x should have failed: %v", op, r.path, e.Zxid, err)
		}
		if e.Client == 0 {
			a.version, a.mzxid = s.version, s.mzxid
		}
		writes = append(writes, a)
	}
	for _, a := range r.ops {
		if a.writes() && !a.unknown && a.zxid == 0 {
			return nil, violated(z, a.ret, "no txn did %s", a)
		}
	}
	return writes, Verdict{}
}

// author returns the open operation that the txn e executed. It is of the same client, and fits. Of several it is the
// one that was answered first, because those with unknown outcomes need no txn.
func (s znodeState) author(open []*access, op string, e *history.Event) (best *access) {
	for _, a := range open {
		fits := a.op == op && a.client == e.Client && (op == "delete" || a.data == e.Data) &&
			(op == "create" || a.expected == -1 || a.expected == s.version)
		if fits && (best == nil || a.ret < best.ret) {
			best = a
		}
	}
	return best
}

// inZxidOrder checks that the writes, in the order of their zxids, and the other
// operations can take place one after the other, each between its call and its
// answer.
func (z Znodes) inZxidOrder(h *history.History, r *register) Verdict {
	writes, v := z.executed(h, r)
	if v.Level != OK {
		return v
	}
	w := walk{writes: writes}
	place := make(map[*access]int, len(writes))
	for i, a := range writes {
		place[a] = i
	}
	for _, m := range moments(writes, r.ops) {
		if at, write := place[m.access]; write && !m.call {
			for w.done <= at && v.Level == OK {
				v = w.advance(z, m)
			}
		} else if m.call && !write {
			w.pending = append(w.pending, m.access)
			w.settle()
		} else if !m.call {
			for slices.Contains(w.pending, m.access) && v.Level == OK {
				v = w.advance(z, m)
			}
		}
		if v.Level != OK {
			return v
		}
	}
	return Verdict{}
}

// walk goes through calls and answers in the order of time. It keeps the znode in the earliest state that is possible.
// A write takes place only when it must: because it is answered now, or because an operation that is answered now fits
// no state since its call. Later states can be reached later, but earlier ones never again, so no other choice explains
// more.
type walk struct {
	state   znodeState
	writes  []*access
	done    int       // of them
	pending []*access // other operations that were called and fit no state yet
}

// settle lets the pending operations take place that fit the state.
func (w *walk) settle() {
	w.pending = drop(w.pending, func(a *access) bool {
		ok, _ := w.state.step(a)
		return ok
	})
}

// advance lets the next write take place, which the answer m waits for.
func (w *walk) advance(z Znodes, m moment) Verdict {
	if w.done == len(w.writes) || w.writes[w.done].call > m.at {
		return violated(z, m.at, "no state of the znode between call and answer explains %s", m.access)
	}
	next := w.writes[w.done]
	ok, s := w.state.step(next)
	if !ok {
		return violated(z, min(next.ret, m.at), "the writes with lower zxids do not explain %s", next)
	}
	w.state, w.done = s, w.done+1
	w.settle()
	return Verdict{}
}

// moment is a call or an answer.
type moment struct {
	at   int
	call bool
	*access
}

// moments returns the calls and answers of the writes that were executed and of
// the other operations, in order.
func moments(writes, ops []*access) []moment {
	var list []moment
	add := func(a *access) {
		list = append(list, moment{a.call, true, a})
		if !a.unknown {
			list = append(list, moment{a.ret, false, a})
		}
	}
	for _, a := range writes {
		add(a)
	}
	for _, a := range ops {
		if !a.writes() {
			add(a)
		}
	}
	slices.SortStableFunc(list, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	return list
}
