package checkers

import (
	"slices"

	"zksim/internal/hash"
)

// claimable are the deleted znodes that a call can still claim, because it had begun by then.
type claimable struct {
	callers []caller // the objects that have begun an operation
	list    []remnant
}

// remnant is a znode that was deleted.
type remnant struct {
	path    string
	client  int32     // that made it
	session int64     // that owned it
	led     [2]bool   // whether it was among the first then, for a writer and for a reader
	print   hash.Hash // of what it was
	// calls are the objects whose calls had begun by then. If there are none, the client has recorded no call: what such
	// a client waits for, it has waited for all the time.
	calls []int32
}

// by returns the latest znode of a path that a call of an object could still claim, or nil.
func (l *claimable) by(path string, of caller) *remnant {
	for k := len(l.list) - 1; k >= 0; k-- {
		if x := &l.list[k]; x.path == path && x.client == of.client &&
			(len(x.calls) == 0 || slices.Contains(x.calls, of.object)) {
			return x
		}
	}
	return nil
}

// begin notes that an object begins another operation. It can no longer claim what was deleted before.
func (l *claimable) begin(by caller) {
	if !slices.Contains(l.callers, by) {
		l.callers = append(l.callers, by)
	}
	for i := range l.list {
		x := &l.list[i]
		x.calls = drop(x.calls, func(object int32) bool { return object == by.object })
	}
	l.list = drop(l.list, func(x remnant) bool { return x.client == by.client && len(x.calls) == 0 })
}

// add notes that a znode is deleted.
func (l *claimable) add(x remnant) {
	for _, c := range l.callers {
		if c.client == x.client {
			x.calls = append(x.calls, c.object)
		}
	}
	if len(x.calls) == 0 { // no call will remove it, and only the last one of a path is looked up
		l.list = drop(l.list, func(y remnant) bool { return y.path == x.path && y.client == x.client })
	}
	l.list = append(l.list, x)
}

// reset forgets everything.
func (l *claimable) reset() { l.callers, l.list = l.callers[:0], l.list[:0] }

// print returns a hash of the znodes and of which calls can claim each.
func (l *claimable) print() (sum hash.Hash) {
	for _, x := range l.list { // in any order
		p := x.print
		for _, c := range l.callers { // in the order of each client
			if c.client == x.client && slices.Contains(x.calls, c.object) {
				p = p.Uint64(ordinal(l.callers, c))
			}
		}
		sum += p
	}
	return sum
}
