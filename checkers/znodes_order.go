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
	var open []*access // called, and not answered before this txn
	m := authors{of: map[*access]int{}}
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
		a := &access{span: span{call: i, ret: i}, op: op, path: r.path, data: e.Data, expected: -1, zxid: e.Zxid}
		open = drop(open, func(x *access) bool { return x.ret < i })
		if e.Client == 0 {
			m.add(a, nil)
		} else if !m.add(nil, s.fitting(open, op, e)) {
			return nil, violated(z, i, "no operation of c%d explains its %s of %s with zxid 0x%x", e.Client, op, r.path, e.Zxid)
		}
		if err, next := s.execute(a); err == nil {
			s = next
		} else {
			return nil, violated(z, i, "the %s of %s with zxid 0x%x should have failed: %v", op, r.path, e.Zxid, err)
		}
		a.version, a.mzxid = s.version, s.mzxid // for a txn of nobody
	}
	for _, a := range r.ops {
		if _, done := m.of[a]; a.writes() && !a.unknown && !done && !m.claim(a, map[int]bool{}) {
			return nil, violated(z, a.ret, "no txn did %s", a)
		}
	}
	for k, a := range m.by {
		a.zxid = h.Events[r.txns[k]].Zxid
	}
	return m.by, Verdict{}
}

// fitting returns the open operations that may have executed the txn e.
func (s znodeState) fitting(open []*access, op string, e *history.Event) (list []*access) {
	for _, a := range open {
		if a.op == op && a.client == e.Client && (op == "delete" || a.data == e.Data) &&
			(op == "create" || a.expected == -1 || a.expected == s.version) {
			list = append(list, a)
		}
	}
	return list
}

// authors tells which operation has executed which txn: a matching in a bipartite graph. Every txn needs an operation,
// and every operation that was answered needs a txn. Where the first choice leaves one without, others give way along
// an augmenting path, which leaves none of them without.
type authors struct {
	by  []*access       // of each txn
	fit [][]*access     // which operations may have executed it
	of  map[*access]int // the txn of an operation
}

// add adds a txn that was executed by a, or by one of fit. It returns false if none of these is left. Of several that
// are free it takes the one that was answered first.
func (m *authors) add(a *access, fit []*access) bool {
	for _, x := range fit {
		if _, taken := m.of[x]; !taken && (a == nil || x.ret < a.ret) {
			a = x
		}
	}
	k := len(m.by)
	m.by, m.fit = append(m.by, a), append(m.fit, fit)
	if a != nil {
		m.of[a] = k
		return true
	}
	return m.find(k, map[*access]bool{})
}

// find gives the txn k another operation.
func (m *authors) find(k int, tried map[*access]bool) bool {
	for _, a := range m.fit[k] {
		if tried[a] {
			continue
		}
		tried[a] = true
		if other, taken := m.of[a]; !taken || m.find(other, tried) {
			m.by[k], m.of[a] = a, k
			return true
		}
	}
	return false
}

// claim gives the operation a, which was answered, a txn of its own.
func (m *authors) claim(a *access, tried map[int]bool) bool {
	for k, fit := range m.fit {
		if tried[k] || !slices.Contains(fit, a) {
			continue
		}
		tried[k] = true
		b := m.by[k]
		if b.unknown {
			delete(m.of, b)
		} else if !m.claim(b, tried) {
			continue
		}
		m.by[k], m.of[a] = a, k
		return true
	}
	return false
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
		return violated(z, next.ret, "the writes with lower zxids do not explain %s", next)
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
