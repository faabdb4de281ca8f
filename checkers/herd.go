package checkers

import "zksim/model/history"

// Herd bounds the fan-out: one change of one znode notifies at most PerEvent clients, other than the one that has
// created or deleted it. The author of a change of data is counted. So is the author of a change of a list of children.
// Notifications that answer a reconnect are not counted: no live change fired them.
type Herd struct {
	PerEvent int
	InVain   bool // count only those in vain: readers that all can go on are no herd
}

// Name implements [Checker].
func (Herd) Name() string { return "herd" }

// Doc implements [Checker].
func (c Herd) Doc() string { return "one change of a znode wakes only the client that can go on" }

// Needs implements [Declaring].
func (Herd) Needs() Needs {
	return Needs{Txns: true, Seen: []Need{Need{What: "a client that is notified of what another has changed",
		Hint: "let clients wait for each other", In: func(h *history.History) bool {
			for i := range h.Events {
				if _, counted := changeOf(h, i); counted {
					return true
				}
			}
			return false
		}}.during()}}
}

// Check implements [Checker].
func (c Herd) Check(h *history.History) Verdict {
	counts := map[change]int{}
	for i := range h.Events {
		e := &h.Events[i]
		k, counted := changeOf(h, i)
		if !counted || c.InVain && !inVain(h, h.Events[i].Client, i) {
			continue
		}
		counts[k]++
		if counts[k] > c.PerEvent {
			total, wasted := measure(h, k)
			return violated(c, i, "one change of %s caused %s, %d of them in vain; at most %d may be",
				e.Path, history.Counted(total, "notification"), wasted, c.PerEvent)
		}
	}
	return Verdict{}
}

// change is what fires watches: a txn on a znode.
type change struct {
	path string
	zxid int64
}

// changeOf returns the change behind event i, and whether i is a notification of
// somebody else's change.
func changeOf(h *history.History, i int) (change, bool) {
	e := &h.Events[i]
	if e.Kind != history.Notify || e.Zxid == 0 {
		return change{}, false
	}
	return change{e.Path, e.Zxid}, e.Client != author(h, i)
}

// author returns the client that created or deleted the znode behind notification i. It returns 0 if the change was one
// of data or of a list of children.
func author(h *history.History, i int) int32 {
	n := &h.Events[i]
	for ; i >= 0; i-- {
		e := &h.Events[i]
		switch e.Kind {
		case history.Deleted, history.Created:
			if e.Zxid == n.Zxid && e.Path == n.Path {
				return e.Client
			}
		}
	}
	return 0
}

// measure counts the notifications of a change, and those in vain.
func measure(h *history.History, k change) (total, wasted int) {
	for i := range h.Events {
		if x, counted := changeOf(h, i); counted && x == k {
			total++
			if inVain(h, h.Events[i].Client, i) {
				wasted++
			}
		}
	}
	return total, wasted
}

// Wasted reports whether event i notified a client in vain of somebody else's change.
func Wasted(h *history.History, i int) bool {
	_, counted := changeOf(h, i)
	return counted && inVain(h, h.Events[i].Client, i)
}

// inVain reports whether the client that was notified at event i did not get the lock before it was notified again,
// gave up, or the run came to rest. If the run was stopped before that, nobody knows, and inVain returns false.
func inVain(h *history.History, client int32, i int) bool {
	for _, e := range h.Events[i+1:] {
		if e.Client != client {
			continue
		}
		switch {
		case e.Kind == history.Acquired:
			return false
		case e.Kind == history.Notify, e.Kind == history.Return && e.Err != nil:
			return true
		}
	}
	return h.Outcome == history.Quiet
}
