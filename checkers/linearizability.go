package checkers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"zksim/model/history"
)

// Linearizability compares the answers of the lock's operations with those of a sequential lock: each operation must
// seem to happen at one moment between call and answer. Mutual exclusion is judged between clients. TryLock may refuse
// only while somebody else holds or awaits the lock. A holder whose session may have ended can lose the lock at any
// later moment. An attempt without an end, such as that of a client that has crashed, may have got the lock. So may one
// that has succeeded, if its client crashes before it can believe so.
type Linearizability struct{}

// Name implements [Checker].
func (Linearizability) Name() string { return "linearizability" }

// Doc implements [Checker].
func (Linearizability) Doc() string {
	return "the answers of Lock, TryLock and Unlock are those of a lock that does one operation after the other"
}

// Needs implements [Declaring].
func (Linearizability) Needs() Needs {
	attempt := func(e *history.Event) bool {
		return e.Kind == history.Invoke && (e.Op == "lock" || e.Op == "trylock")
	}
	return Needs{
		Txns: true,
		Words: slices.Concat(
			judged("waits for the lock", "lock"),
			judged("is refused, with OK and an error, only while another client has or awaits the lock", "trylock"),
			judged("gives it up; with an error perhaps, at any later moment", "unlock")),
		Seen: []Need{some("the operation lock or trylock", "record it with Object.Lock or Object.TryLock", attempt),
			acquired, contested(2)},
	}
}

type lockOp uint8

const (
	opAcquire lockOp = iota
	opRelease
	opRefuse // TryLock said no
	opEnter  // a znode joins the queue: known to the moment
	opLeave
	opPerhaps // an attempt without an end gets the lock if that is free; after all others it means nothing
)

// operation is one operation of the sequential lock.
type operation struct {
	span
	op lockOp
}

// Check implements [Checker].
func (l Linearizability) Check(h *history.History) Verdict {
	if inOrder(h) {
		return Verdict{}
	}
	switch search(h) {
	case Violated:
		i, what := blame(h)
		return violated(l, i, "no order of the operations explains %s", what)
	case Unknown:
		return tooLong(l)
	}
	return Verdict{}
}

// search looks for an order of the operations that the sequential lock accepts.
func search(h *history.History) Level {
	return linearizable(operations(h), lockState{}, lockState.step)
}

// operations translates a history. An operation that happens at an unknown later moment, or never, ends after the
// history.
func operations(h *history.History) []operation {
	var ops []operation
	end := len(h.Events) + 1
	begun := map[int32]int{}     // object -> Invoke of its call in progress
	open := map[int32]int{}      // the same for calls that may get the lock, or have got it, before Acquired
	holds := map[int32]int{}     // object -> index in ops of its pending release
	endings := map[int32][]int{} // client -> events that may have ended its session
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Invoke:
			if begun[e.Object] = i; e.Op == "lock" || e.Op == "trylock" {
				open[e.Object] = i
			}
		case history.Acquired:
			delete(open, e.Object)
			ops = append(ops, operation{span{e.Client, begun[e.Object], i}, opAcquire})
			holds[e.Object] = len(ops)
			free := firstSince(endings[e.Client], begun[e.Object], end) // during the call
			ops = append(ops, operation{span{e.Client, free, end}, opRelease})
		case history.Lost, history.Exceeded, history.Crashed:
			endings[e.Client] = append(endings[e.Client], i)
			for object, k := range holds { // order-free: each is set independently
				if ops[k].client == e.Client && (e.Kind != history.Lost || object == e.Object) {
					ops[k].call = min(ops[k].call, i)
				}
			}
		case history.Released:
			if k, ok := holds[e.Object]; ok {
				ops[k].call = min(ops[k].call, i)
			}
		case history.Return:
			if e.Err != nil && ofLock(e.Op) { // else Acquired follows, if nothing cuts it off
				delete(open, e.Object)
			}
			if k, ok := holds[e.Object]; ok && e.Op == "unlock" {
				if e.Err == nil {
					ops[k].ret = i
				}
				delete(holds, e.Object)
			}
			if e.Op == "trylock" && refused(e) {
				ops = append(ops, operation{span{e.Client, begun[e.Object], i}, opRefuse})
			}
		case history.Created:
			if e.Session != 0 {
				ops = append(ops, operation{span{e.Client, i, i}, opEnter})
			}
		case history.Deleted:
			if client, known := owner(h, e.Path, i); known && e.Session != 0 {
				ops = append(ops, operation{span{client, i, i}, opLeave})
			}
		}
	}
	for _, object := range slices.Sorted(maps.Keys(open)) {
		begin := open[object]
		client := h.Events[begin].Client
		ops = append(ops, operation{span{client, begin, end}, opPerhaps},
			operation{span{client, firstSince(endings[client], begin, end), end}, opRelease})
	}
	return drop(ops, func(o operation) bool { return o.op == opRelease && o.call >= end })
}

// ofLock reports whether an operation is one of a lock.
func ofLock(op string) bool { return op == "lock" || op == "trylock" || op == "unlock" }

// firstSince returns the first of some positions from begin on; end if there is none.
func firstSince(positions []int, begin, end int) int {
	if k, _ := slices.BinarySearch(positions, begin); k < len(positions) {
		return positions[k]
	}
	return end
}

// refused reports whether the answer to an operation was no, as when a TryLock found the lock taken. A call whose
// caller gave up may be recorded with OK too: it did nothing, and nobody has said no.
func refused(e *history.Event) bool { return e.Err != nil && e.OK && !gaveUp(e.Err) }

// gaveUp reports whether a call ended because its context did.
func gaveUp(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// owner returns the client that created the znode deleted at event i; false if that was before the
// history.
func owner(h *history.History, path string, i int) (client int32, known bool) {
	for ; i >= 0; i-- {
		if e := &h.Events[i]; e.Kind == history.Created && e.Path == path {
			return e.Client, true
		}
	}
	return 0, false
}

// lockState is the state of the sequential lock, with any number of clients. Of the queue it has only what is asked
// about it: how many znodes there are, and whose the only one is.
type lockState struct {
	holder int32
	queued int   // znodes
	owners int64 // sum of the numbers of their clients: with one znode, its client
}

func (s *lockState) count(client int32, d int) {
	s.queued += d
	s.owners += int64(d) * int64(client)
}

// contended reports whether there is a znode in the queue besides one of client.
func (s *lockState) contended(client int32) bool {
	return s.queued > 1 || s.queued == 1 && s.owners != int64(client)
}

func (s lockState) step(o operation) (bool, lockState) {
	switch o.op {
	case opAcquire:
		if s.holder != 0 && s.holder != o.client {
			return false, s
		}
		s.holder = o.client
	case opPerhaps:
		if s.holder == 0 {
			s.holder = o.client
		}
	case opRelease:
		if s.holder == o.client {
			s.holder = 0
		}
	case opRefuse:
		return s.holder != 0 && s.holder != o.client || s.contended(o.client), s
	case opEnter:
		s.count(o.client, 1)
	case opLeave:
		s.count(o.client, -1)
	}
	return true, s
}

func digits(n int32) string { return strconv.Itoa(int(n)) }

// inOrder tries the likely order. An acquisition happens when it is answered. A release happens when it is called or
// the lock is lost, whichever is first. A refusal happens at any moment of its call at which somebody else was there.
// If the sequential lock accepts this order, the history is linearizable and no search is needed.
func inOrder(h *history.History) bool {
	var s lockState
	type try struct {
		client, object int32
		justified      bool
	}
	var buf [8]try
	var buf2 [8]claim
	tries, held := buf[:0], buf2[:0]
	for i := range h.Events {
		e := &h.Events[i]
		ok := true
		switch e.Kind {
		case history.Invoke:
			if e.Op == "trylock" {
				tries = append(tries, try{client: e.Client, object: e.Object})
			}
		case history.Acquired:
			ok, s = s.step(operation{span{client: e.Client}, opAcquire})
			held = append(held, claim{caller: callerOf(e)})
		case history.Released, history.Lost, history.Exceeded, history.Crashed:
			before := len(held)
			held = drop(held, func(x claim) bool { return releases(e, x) })
			if len(held) < before {
				_, s = s.step(operation{span{client: e.Client}, opRelease})
			}
		case history.Created:
			if e.Session != 0 {
				s.count(e.Client, 1)
			}
		case history.Deleted:
			if client, known := owner(h, e.Path, i); known && e.Session != 0 {
				s.count(client, -1)
			}
		case history.Return:
			if e.Op == "trylock" {
				for _, t := range tries {
					ok = ok && (t.object != e.Object || t.justified || !refused(e))
				}
				tries = drop(tries, func(t try) bool { return t.object == e.Object })
			}
		default:
			continue
		}
		if !ok {
			return false
		}
		for k := range tries {
			t := &tries[k]
			t.justified = t.justified || s.holder != 0 && s.holder != t.client || s.contended(t.client)
		}
	}
	return true
}

// releases reports whether event e ends a hold. What concerns a whole client ends all holds of the client.
func releases(e *history.Event, x claim) bool {
	return x.object == e.Object || x.client == e.Client && (e.Kind == history.Exceeded || e.Kind == history.Crashed)
}

// blame finds the answer that no order explains, for the message. It is the last event of the shortest illegal prefix.
func blame(h *history.History) (int, string) {
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Acquired && e.Kind != history.Return {
			continue
		}
		prefix := *h
		prefix.Events = h.Events[:i+1]
		if inOrder(&prefix) {
			continue
		}
		if search(&prefix) == Violated {
			if e.Kind == history.Acquired {
				return i, fmt.Sprintf("that c%d holds the lock%s", e.Client, byPath(e.Path))
			}
			return i, fmt.Sprintf("the answer of c%d's %s", e.Client, e.Op)
		}
	}
	return -1, "the answers"
}
