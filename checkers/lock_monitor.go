package checkers

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Monitor implements [Monitored].
func (Linearizability) Monitor() Monitor {
	m := &orders{}
	m.Reset()
	return m
}

// orders is the monitor of Linearizability. It keeps every way in which what was answered so far can be put in order
// (Lowe, Testing for linearizability, 2017). An operation in progress may have happened in some of these ways and not
// in others.
type orders struct {
	recipeEvents
	Linearizability
	ways   []way
	ops    []lockCall // at most maxOps
	used   uint64     // which places of ops are in use
	znodes []znodeOf
	queue  lockState // only who is queued
	unsure string    // why nothing more can be said
}

// How many operations a monitor follows at once, including those that have no known outcome, and how many orders of
// them. Each operation without a known outcome can double the orders. With more, the verdict is Unknown from then on.
const (
	maxOps    = 64
	maxOrders = 2000
)

// lockCall is an attempt to get the lock and all that follows from it.
type lockCall struct {
	client, object int32
	try            bool
	held           bool // Acquired
	ends           bool // its lock may be released from now on
	left           bool // unlock has failed: released at any later moment, or never
}

// way is one order of what has happened. The sets are of operations, by bit.
type way struct {
	holder   int32
	acquired uint64
	released uint64
	excused  uint64 // there was a moment at which a TryLock could be refused
}

type znodeOf struct {
	path   string
	client int32
}

func (m *orders) Reset() {
	m.ways, m.ops, m.znodes = append(m.ways[:0], way{}), m.ops[:0], m.znodes[:0]
	m.used, m.queue, m.unsure = 0, lockState{}, ""
}

func (m *orders) Hash() uint64 {
	if m.unsure != "" { // whatever follows
		return 1
	}
	var marks [maxOps]hash.Hash // of each operation, whatever its place
	sum := hash.Hash(0)
	for k := range bitsOf(m.used) {
		o := &m.ops[k]
		p := hash.Hash(o.client).Uint64(uint64(m.ordinal(k))).Bool(o.try).Bool(o.held).Bool(o.ends).Bool(o.left)
		marks[k] = p
		sum += p
	}
	set := func(x uint64, tag uint64) (s hash.Hash) {
		for k := range bitsOf(x) {
			s += marks[k].Uint64(tag)
		}
		return s
	}
	ways := hash.Hash(0)
	for _, w := range m.ways {
		ways += hash.Hash(w.holder).Uint64(uint64(set(w.acquired, 1) + set(w.released, 2) + set(w.excused, 3)))
	}
	for _, x := range m.znodes {
		sum += hash.Hash(x.client).Uint64(1)
	}
	return uint64(sum.Uint64(uint64(ways)))
}

// bitsOf yields the bits of a set, the lowest first.
func bitsOf(set uint64) iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; set != 0; set &= set - 1 {
			if !yield(bits.TrailingZeros64(set)) {
				return
			}
		}
	}
}

// ordinal tells the operations of one client apart by the numbers of their objects, which a client assigns in its own
// order. Operations of one object are told apart by their state.
func (m *orders) ordinal(k int) (n int) {
	for j := range bitsOf(m.used) {
		if m.ops[j].client == m.ops[k].client && m.ops[j].object < m.ops[k].object {
			n++
		}
	}
	return n
}

// find returns the object's operation that is in progress or holds the lock.
func (m *orders) find(object int32) (int, bool) {
	for k := range bitsOf(m.used) {
		if m.ops[k].object == object && !m.ops[k].left {
			return k, true
		}
	}
	return 0, false
}

func (m *orders) Step(h *history.History, i int) Verdict {
	if m.unsure != "" {
		return m.unknown(i, m.unsure)
	}
	e := &h.Events[i]
	k, open := m.find(e.Object)
	bit := uint64(1) << k
	what := ""
	switch e.Kind {
	case history.Invoke:
		if e.Op != "lock" && e.Op != "trylock" { // what else a holder does says nothing of the lock
			return Verdict{}
		}
		if open {
			m.forget(k)
		}
		if m.used == 1<<maxOps-1 {
			return m.unknown(i, fmt.Sprintf("too many attempts to get the lock, more than %d, are in progress or have no known "+
				"end", maxOps))
		}
		if k = bits.TrailingZeros64(^m.used); k == len(m.ops) {
			m.ops = append(m.ops, lockCall{})
		}
		m.used |= 1 << k
		m.ops[k] = lockCall{client: e.Client, object: e.Object, try: e.Op == "trylock"}
	case history.Acquired:
		if !open {
			return m.unknown(i, "c"+digits(e.Client)+" holds the lock by an operation that is neither lock nor trylock")
		}
		what = "that c" + digits(e.Client) + " holds the lock" + byPath(e.Path)
		m.ops[k].held, m.ops[k].try = true, false
		m.keep(func(w way) bool { return w.acquired&bit != 0 })
	case history.Lost, history.Exceeded, history.Crashed:
		for j := range bitsOf(m.used) {
			o := &m.ops[j]
			if o.client == e.Client && (!o.held || e.Kind != history.Lost || o.object == e.Object) {
				o.ends = true
			}
		}
	case history.Released:
		if open && m.ops[k].held {
			m.ops[k].ends = true
		}
	case history.Return:
		what = "the answer of c" + digits(e.Client) + "'s " + e.Op
		m.ended(e, k, open)
	case history.Created:
		if e.Session != 0 {
			m.znodes = append(m.znodes, znodeOf{e.Path, e.Client})
			m.queue.count(e.Client, 1)
		}
	case history.Deleted:
		if e.Session != 0 {
			m.leave(e.Path)
		}
	default:
		return Verdict{}
	}
	if len(m.ways) == 0 {
		return violated(m, i, "no order of the operations explains %s", what)
	}
	if m.goOn(); len(m.ways) > maxOrders {
		return m.unknown(i, fmt.Sprintf("more than %d orders of the attempts to get the lock are possible", maxOrders))
	}
	return Verdict{}
}

// unknown returns the verdict from an event on that cannot be followed.
func (m *orders) unknown(i int, why string) Verdict {
	m.unsure = why
	return Verdict{Unknown, m.Name(), why, i}
}

// ended takes the end of an operation into account.
func (m *orders) ended(e *history.Event, k int, open bool) {
	if !open {
		return
	}
	o, bit := &m.ops[k], uint64(1)<<k
	switch {
	case !ofLock(e.Op):
	case o.held && e.Op == "unlock":
		if e.Err != nil || !o.ends {
			o.left = true
			break
		}
		m.keep(func(w way) bool { return w.released&bit != 0 })
		m.free(k)
	case o.held || e.Err == nil: // Acquired follows
	case e.Op == "trylock" && refused(e):
		m.keep(func(w way) bool { return w.excused&bit != 0 })
		m.forget(k)
	default:
		m.forget(k)
	}
}

// leave takes a znode out of the queue.
func (m *orders) leave(path string) {
	for k := len(m.znodes) - 1; k >= 0; k-- {
		if m.znodes[k].path == path {
			m.queue.count(m.znodes[k].client, -1)
			m.znodes = slices.Delete(m.znodes, k, k+1)
			return
		}
	}
}

func (m *orders) keep(f func(w way) bool) {
	m.ways = drop(m.ways, func(w way) bool { return !f(w) })
}

// forget drops an operation that has not succeeded, with the ways in which it has happened.
func (m *orders) forget(k int) {
	bit := uint64(1) << k
	if o := &m.ops[k]; o.held { // never unlocked, and tried again
		o.left = true
		return
	}
	m.keep(func(w way) bool { return (w.acquired|w.released)&bit == 0 })
	m.free(k)
}

// free gives the place of an operation that is over to the next one.
func (m *orders) free(k int) {
	bit := uint64(1) << k
	m.used, m.ops[k] = m.used&^bit, lockCall{}
	for i := range m.ways {
		w := &m.ways[i]
		w.acquired &^= bit
		w.released &^= bit
		w.excused &^= bit
	}
	m.unique()
}

func (m *orders) unique() {
	kept := m.ways[:0]
	for _, w := range m.ways {
		if !slices.Contains(kept, w) {
			kept = append(kept, w)
		}
	}
	m.ways = kept
}

// goOn adds the ways in which operations in progress happen now, until there are too many.
func (m *orders) goOn() {
	for i := range m.ways {
		m.excuse(&m.ways[i])
	}
	m.unique()
	for i := 0; i < len(m.ways) && len(m.ways) <= maxOrders; i++ {
		w := m.ways[i]
		for k := range bitsOf(m.used) {
			o, bit := &m.ops[k], uint64(1)<<k
			if next := w; !o.held && w.acquired&bit == 0 && (w.holder == 0 || w.holder == o.client) {
				next.holder, next.acquired = o.client, w.acquired|bit
				m.add(next)
			}
			if next := w; o.ends && w.released&bit == 0 {
				next.released |= bit
				if w.holder == o.client {
					next.holder = 0
				}
				m.add(next)
			}
		}
	}
}

func (m *orders) add(w way) {
	m.excuse(&w)
	if !slices.Contains(m.ways, w) {
		m.ways = append(m.ways, w)
	}
}

// excuse notes which TryLocks in progress could be refused at this moment.
func (m *orders) excuse(w *way) {
	s := m.queue
	for k := range bitsOf(m.used) {
		if o := &m.ops[k]; o.try && (w.holder != 0 && w.holder != o.client || s.contended(o.client)) {
			w.excused |= 1 << k
		}
	}
}
