package checkers

import h "zksim/model/history"

// What the verdict of each checker depends on. That nothing is forgotten is
// tested with histories from which other events are removed, and in which
// neighbours are swapped whose order is said not to matter.

// Order implements [Ordered]. A claim can also end one: a writer becomes a reader. What
// a session's state tells its own client concerns no other.
func (Belief) Order() Order {
	o := Order{}.between(of(h.Acquired), of(h.Acquired, h.Invoke, h.Released, h.Lost, h.Exceeded, h.Crashed))
	o[h.Session] |= seen
	return o
}

// Order implements [Ordered]. A claim can also end one: a writer becomes a reader.
func (Ownership) Order() Order {
	changes := of(h.Created, h.Deleted)
	return sequence(changes...).between(changes, of(h.Invoke)).
		between(of(h.Acquired), of(h.Acquired, h.Created, h.Deleted, h.Released, h.Lost, h.Crashed))
}

// Order implements [Ordered]. Znodes are compared by zxid.
func (Fenced) Order() Order {
	o := sequence(h.Write)
	for _, k := range of(h.Acquired, h.Released, h.Created, h.Deleted) {
		o[k] |= seen
	}
	return o
}

// Order implements [Ordered]. What can begin an operation of the sequential lock
// stands against what can end one; znodes come and go at known moments.
func (Linearizability) Order() Order {
	begin := of(h.Invoke, h.Released, h.Lost, h.Exceeded, h.Crashed)
	end := of(h.Acquired, h.Return)
	moment := of(h.Created, h.Deleted)
	return sequence(moment...).between(begin, end).between(moment, begin).between(moment, end)
}

// Order implements [Ordered]. (Where txns are not recorded, more matters; but such runs
// are not searched.)
func (Acknowledged) Order() Order {
	return intervals(h.Deleted).between(of(h.Created), of(h.Deleted))
}

// Order implements [Ordered]. A commit is judged by the votes that have begun, and beside
// a no or an abort is wrong in any order.
func (Atomicity) Order() Order {
	o := Order{}.between(of(h.Invoke), of(h.Told))
	o[h.Return] |= seen
	return o
}

// Order implements [Ordered]. A release can have its effect at any time after its
// client has crashed, as before.
func (Barrier) Order() Order { return intervals() }

// Order implements [Ordered].
func (Conflict) Order() Order { return intervals() }

// Order implements [Ordered]. What was told is compared with how things are in the end.
func (Convergence) Order() Order {
	o := Order{}.between(of(h.Invoke), of(h.Calm, h.Changed, h.Created, h.Deleted))
	o[h.Return] |= seen
	o[h.Told] |= seen
	return o
}

// Order implements [Ordered].
func (Counter) Order() Order { return intervals() }

// Order implements [Ordered].
func (Departure) Order() Order {
	return sequence(h.Created, h.Deleted).between(of(h.Deleted), of(h.Invoke, h.Return, h.Told)).between(of(h.Return), of(h.Return))
}

// Order implements [Ordered].
func (DoubledEffect) Order() Order { return intervals() }

// Order implements [Ordered].
func (DoubledItem) Order() Order { return intervals() }

// Order implements [Ordered]. Who is inside at one time also depends on the order of
// those who come and those who go.
func (Entry) Order() Order {
	o := sequence(h.Invoke).between(of(h.Invoke), of(h.Return))
	o[h.Session] |= seen
	return o
}

// Order implements [Ordered]. (Where txns are not recorded, more is looked at; but such
// runs are not searched.)
func (Exit) Order() Order { return intervals().between(of(h.Deleted), of(h.Invoke, h.Return)) }

// Order implements [Ordered].
func (FIFO) Order() Order { return intervals() }

// Order implements [Ordered].
func (Gather) Order() Order {
	return sequence(h.Return).between(of(h.Return), of(h.Invoke)).between(of(h.Told), of(h.Calm, h.Crashed, h.Invoke, h.Return))
}

// Order implements [Ordered]. A notification carries the zxid of the change that
// fired it; who goes on after it is a matter of one client. (Where txns are not
// recorded, more matters; but such runs are not searched.)
func (Herd) Order() Order {
	var o Order
	for _, k := range of(h.Acquired, h.Changed, h.Created, h.Deleted, h.Notify, h.Return) {
		o[k] = seen
	}
	return o
}

// Order implements [Ordered].
func (Liveness) Order() Order { return Order{} }

// Order implements [Ordered].
func (LostItem) Order() Order {
	var o Order
	o[h.Invoke], o[h.Return] = seen, seen
	return o
}

// Order implements [Ordered].
func (LostRevoke) Order() Order {
	return sequence(h.Created, h.Return).between(of(h.Calm), of(h.Invoke))
}

// Order implements [Ordered].
func (Monotone) Order() Order {
	o := Order{}.between(of(h.Deleted), of(h.Told))
	o[h.Invoke] |= seen
	o[h.Return] |= seen
	return o
}

// Order implements [Ordered].
func (Names) Order() Order { return intervals() }

// Order implements [Ordered].
func (Overdue) Order() Order {
	var o Order
	o[h.Return], o[h.Told] = seen, seen
	return o
}

// Order implements [Ordered].
func (Presence) Order() Order {
	o := sequence(h.Created, h.Deleted).between(of(h.Invoke), of(h.Calm, h.Created, h.Deleted))
	o[h.Return] |= seen
	o[h.Told] |= seen
	return o
}

// Order implements [Ordered].
func (PriorityOrder) Order() Order { return intervals() }

// Order implements [Ordered].
func (Quiescence) Order() Order { return Order{} }

// Order implements [Ordered]. A change belongs to an update of its own client.
func (Recency) Order() Order {
	o := Order{}.between(of(h.Invoke), of(h.Return, h.Told))
	o[h.Changed] |= seen
	return o
}

// Order implements [Ordered].
func (Refusal) Order() Order {
	changes := of(h.Created, h.Deleted)
	return sequence(changes...).between(changes, of(h.Invoke, h.Return))
}

// Order implements [Ordered], as that of Exit. Of two who enter, each would be the one
// too many.
func (Rounds) Order() Order { return Exit{}.Order() }

// Order implements [Ordered].
func (StaleLeader) Order() Order { return sequence(h.Created, h.Deleted) }

// Order implements [Ordered].
func (Steps) Order() Order { return Order{} }

// Order implements [Ordered].
func (Tasks) Order() Order {
	return sequence(h.Changed, h.Created, h.Deleted, h.Invoke, h.Return, h.Told)
}

// Order implements [Ordered].
func (Torn) Order() Order {
	var o Order
	o[h.Return], o[h.Told] = seen, seen
	return o
}

// Order implements [Ordered].
func (Tree) Order() Order { return Order{} }

// Order implements [Ordered]. A reason comes before who learns of an abort, and votes
// before who decides. (Where txns are not recorded, notifications are looked at; but
// such runs are not searched.)
func (Validity) Order() Order {
	return Order{}.between(of(h.Told), of(h.Deleted, h.Invoke, h.Return)).between(of(h.Created), of(h.Changed, h.Invoke))
}

// Order implements [Ordered].
func (Znodes) Order() Order { return intervals(h.Changed, h.Created, h.Deleted) }
