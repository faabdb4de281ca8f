package checkers

import (
	"math/bits"
	"slices"
	"strconv"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Monitor implements [Monitored].
func (Counter) Monitor() Monitor {
	m := &counts{}
	m.Reset()
	return m
}

// counts is the monitor of Counter. It keeps every number that the counter may have, with the operations in progress
// that have happened by then and what they will answer. The monitor of Linearizability does the same for the lock.
type counts struct {
	recipeEvents
	Counter
	ways, spare []countWay
	ops         [maxCounting]countCall
	used        uint64    // which places of ops are in use
	rest        hash.Hash // events that came when there were too many: Check judges them
}

// How much the monitor follows.
const (
	maxCounting = 16
	maxWays     = 500
)

// countCall is an operation in progress, or a change that was left: that happens at any later moment, or never.
type countCall struct {
	counting
	object int32
	left   bool
}

// countWay is one way in which the operations may have happened.
type countWay struct {
	n       count
	done    uint64 // operations, by bit
	answers [maxCounting]int64
}

func (m *counts) Reset() {
	clear(m.ops[:])
	m.ways, m.used, m.rest = append(m.ways[:0], countWay{}), 0, 0
}

func (m *counts) Hash() uint64 {
	var marks [maxCounting]hash.Hash
	left := hash.Hash(0)
	for k := range bitsOf(m.used) {
		o := &m.ops[k]
		marks[k] = hash.Hash(o.client).Uint64(uint64(m.ordinal(k))).String(o.op)
		if o.left { // whose it was makes no difference
			marks[k] = hash.Hash(0).String(o.op).Uint64(uint64(o.old)).Uint64(uint64(o.value))
			left += marks[k]
		}
	}
	ways := hash.Hash(0)
	for _, w := range m.ways {
		done := hash.Hash(0)
		for k := range bitsOf(w.done) {
			done += marks[k].Uint64(uint64(w.answers[k]))
		}
		ways += hash.Hash(w.n).Uint64(uint64(done))
	}
	return uint64(ways.Uint64(uint64(left)).Uint64(uint64(m.rest)))
}

// ordinal tells the operations in progress of one client apart.
func (m *counts) ordinal(k int) (n int) {
	for j := range bitsOf(m.used) {
		if o := &m.ops[j]; !o.left && o.client == m.ops[k].client && o.object < m.ops[k].object {
			n++
		}
	}
	return n
}

// find returns the object's operation in progress of that name.
func (m *counts) find(object int32, op string) (int, bool) {
	for k := range bitsOf(m.used) {
		if o := &m.ops[k]; o.object == object && o.op == op && !o.left {
			return k, true
		}
	}
	return 0, false
}

func (m *counts) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch {
	case e.Kind == history.Crashed:
		for k := range bitsOf(m.used) {
			if m.ops[k].client == e.Client {
				m.leave(k)
			}
		}
		m.goOn()
		return Verdict{}
	case e.Kind != history.Invoke && e.Kind != history.Return, !isCounting(e.Op):
		return Verdict{}
	case m.rest != 0 || e.Kind == history.Invoke && m.used == 1<<maxCounting-1:
		m.rest = m.rest.Uint64(uint64(e.Kind)).Uint64(uint64(e.Object)).String(e.Op).String(e.Path).Uint64(uint64(e.Value)).
			Bool(e.Err != nil).Bool(e.OK)
		return Verdict{}
	}
	k, open := m.find(e.Object, e.Op)
	bit := uint64(1) << k
	switch {
	case e.Kind == history.Invoke:
		if open {
			m.leave(k)
		}
		k = bits.TrailingZeros64(^m.used)
		m.used |= 1 << k
		old, _ := strconv.ParseInt(e.Path, 10, 64)
		m.ops[k] = countCall{counting: counting{span: span{client: e.Client}, op: e.Op, old: old, value: e.Value},
			object: e.Object}
	case !open:
		return Verdict{}
	case e.Err == nil:
		m.keep(func(w *countWay) bool { return w.done&bit != 0 && w.answers[k] == e.Value })
		m.free(k)
	case e.OK:
		m.keep(func(w *countWay) bool { return w.done&bit == 0 })
		m.free(k)
	default:
		m.leave(k)
	}
	if len(m.ways) == 0 {
		return m.inexplicable(h, i)
	}
	m.goOn()
	return Verdict{}
}

func (m *counts) keep(f func(w *countWay) bool) {
	m.ways = drop(m.ways, func(w countWay) bool { return !f(&w) })
}

// leave notes that nobody will hear how an operation ends.
func (m *counts) leave(k int) {
	m.ops[k].left = true
	for i := range m.ways {
		m.ways[i].answers[k] = 0
	}
	if m.ops[k].op == "get" {
		m.free(k)
	}
}

// free gives the place of an operation that is over to the next one.
func (m *counts) free(k int) {
	m.used, m.ops[k] = m.used&^(1<<k), countCall{}
	for i := range m.ways {
		w := &m.ways[i]
		w.done &^= 1 << k
		w.answers[k] = 0
	}
}

// goOn adds the ways in which operations happen now, and forgets what makes no difference.
func (m *counts) goOn() {
	before := m.ways
	m.ways = m.spare
	for _, w := range before {
		m.add(w)
	}
	for i := 0; i < len(m.ways); i++ {
		for k := range bitsOf(m.used &^ m.ways[i].done) {
			next, answer := m.ways[i], int64(0)
			next.done |= 1 << k
			if next.n, answer = next.n.execute(&m.ops[k].counting); !m.ops[k].left {
				next.answers[k] = answer
			}
			m.add(next)
		}
		if len(m.ways) > maxWays {
			m.ways, m.rest = before, 1
			return
		}
	}
	m.spare = before[:0]
	left := m.left()
	m.ways = drop(m.ways, func(w countWay) bool {
		return slices.ContainsFunc(m.ways, func(x countWay) bool { return x.covers(&w, left) })
	})
	all := left
	for _, w := range m.ways {
		all &= w.done
	}
	for k := range bitsOf(all) {
		m.free(k)
	}
}

// left returns the set of the changes that were left.
func (m *counts) left() (set uint64) {
	for k := range bitsOf(m.used) {
		if m.ops[k].left {
			set |= 1 << k
		}
	}
	return set
}

// covers reports whether all that can follow v can follow w, in which fewer of the changes that were left have
// happened.
func (w *countWay) covers(v *countWay, left uint64) bool {
	return w.n == v.n && w.answers == v.answers && w.done != v.done && w.done&^v.done == 0 && (v.done&^w.done)&^left == 0
}

// add adds a way. Of equal changes that were left, the first happen first.
func (m *counts) add(w countWay) {
	left := m.left()
	for k := range bitsOf(left & w.done) {
		for j := range bitsOf(left &^ w.done & (1<<k - 1)) {
			if a, b := &m.ops[j], &m.ops[k]; a.op == b.op && a.old == b.old && a.value == b.value {
				w.done ^= 1<<j | 1<<k
				break
			}
		}
	}
	if !slices.Contains(m.ways, w) {
		m.ways = append(m.ways, w)
	}
}
