package checkers

import (
	"slices"
	"strings"

	"zksim/model/history"
)

// The properties of some checkers said once more: these look back, from each event that
// can show a violation, at the whole history before it, or ahead.

// before returns the position of the last event before i that f picks, -1 if there is none.
func before(h *history.History, i int, f func(e *history.Event) bool) int {
	for i--; i >= 0; i-- {
		if f(&h.Events[i]) {
			break
		}
	}
	return i
}

// invoked returns where the operation began that ends at event i.
func invoked(h *history.History, i int) int {
	return before(h, i, func(e *history.Event) bool {
		return e.Kind == history.Invoke && e.Object == h.Events[i].Object
	})
}

func naiveRefusal(c Monitored, h *history.History) Level {
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind == history.Return && refused(e) && strings.HasPrefix(e.Op, "try") &&
			inTheWay(h, invoked(h, i), i) < max(c.(Refusal).Leases, 1) {
			return Violated
		}
	}
	return OK
}

// inTheWay counts the znodes that can explain the refusal at event i of a call that
// began at event begin.
func inTheWay(h *history.History, begin, i int) (n int) {
	own := int64(-1) // zxid of the contender that was refused
	for k := begin; k < i; k++ {
		if e := &h.Events[k]; e.Kind == history.Created && e.Client == h.Events[i].Client {
			own = e.Zxid
		}
	}
	for k := range i {
		e := &h.Events[k]
		if e.Kind != history.Created || e.Session == 0 || e.Zxid == own || h.Events[i].Op == "tryrlock" &&
			ofReader(e.Path) {
			continue
		}
		if deletion(h, e.Path, k, i) > begin {
			n++
		}
	}
	return n
}

func naiveTaken(_ Monitored, h *history.History) Level {
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Return || e.Op != Join || !refused(e) {
			continue
		}
		begin, excused := invoked(h, i), false
		failed := before(h, i, func(x *history.Event) bool {
			return x.Kind == history.Return && x.Op == Join && x.Client == e.Client && x.Err != nil && !x.OK
		})
		for k := range i {
			x := &h.Events[k]
			if x.Kind == history.Created && x.Path == e.Path && deletion(h, x.Path, k, i) > begin {
				own := x.Client == e.Client && k > begin && failed < 0 && !moves(h.Events[:i], k)
				excused = excused || !own
			}
		}
		if !excused {
			return Violated
		}
	}
	return OK
}

// moves reports whether the session that has made the ephemeral znode of event k is, after these events, not that of
// its client, as far as that is known.
func moves(events []history.Event, k int) bool {
	last := int64(0)
	for _, e := range events {
		if e.Kind == history.Session && e.Client == events[k].Client && e.Session != 0 {
			last = e.Session
		}
	}
	return events[k].Session != 0 && last != 0 && last != events[k].Session
}

func naiveLostRevoke(c Monitored, h *history.History) Level {
	calm := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.Kind == history.Calm })
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind == history.Return && (e.Op == "revoke" || e.Op == "break") && e.Err == nil {
			created := before(h, invoked(h, i), func(x *history.Event) bool {
				return x.Kind == history.Created && x.Path == e.Path
			})
			done := before(h, i, func(x *history.Event) bool {
				return x.Path == e.Path && (x.Kind == history.Deleted || x.Kind == history.Changed && e.Op == "revoke")
			})
			if created > done {
				return Violated
			}
		}
		if e.Kind != history.Return || e.Op != "hold" || e.Err == nil || calm < 0 || invoked(h, i) < calm {
			continue
		}
		last := func(kind history.Kind, op string) int {
			return before(h, i, func(x *history.Event) bool {
				return x.Kind == kind && (op == "" || x.Op == op) && x.Err == nil && x.Path == e.Path && !ofAnother(h, x)
			})
		}
		created := last(history.Created, "")
		if last(history.Return, "break") > created ||
			last(history.Return, "revoke") > created && last(history.Told, "revoked") <= created {
			return Violated
		}
	}
	return OK
}

// ofAnother reports whether e ends a revoke or break of a znode that went in the meantime, and another of the path has
// come since.
func ofAnother(h *history.History, e *history.Event) bool {
	end := before(h, len(h.Events), func(x *history.Event) bool { return x == e })
	begin := invoked(h, end)
	made := func(i int) int {
		return before(h, i, func(x *history.Event) bool { return x.Kind == history.Created && x.Path == e.Path })
	}
	first, last := made(begin), made(end)
	return e.Kind == history.Return && first >= 0 && first != last && deletion(h, e.Path, first, end) > begin &&
		deletion(h, e.Path, last, end) > end
}

func naiveAcknowledged(c Monitored, h *history.History) Level {
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Return || e.Op != "leader" || e.Err != nil && !e.OK {
			continue
		}
		asked, named := invoked(h, i), false
		for k := range i {
			x := &h.Events[k]
			if x.Op != "acknowledge" || x.Err != nil {
				continue
			}
			created := before(h, k, func(y *history.Event) bool { return y.Kind == history.Created && y.Path == x.Path })
			end := deletion(h, x.Path, created, i)
			if x.Kind == history.Return && k < asked && (e.Err != nil && end > i || e.Err == nil && x.Value > e.Value) {
				return Violated
			}
			if x.Kind == history.Invoke && x.Value == e.Value && end > max(asked, k) {
				named = true
			}
		}
		if e.Err == nil && !named {
			return Violated
		}
	}
	return OK
}

func naiveHerd(c Monitored, h *history.History) Level {
	limit := c.(Herd)
	for i := range h.Events {
		x := &h.Events[i]
		n := 0
		for k := range h.Events {
			e := &h.Events[k]
			if e.Kind != history.Notify || e.Zxid == 0 || e.Zxid != x.Zxid || e.Path != x.Path {
				continue
			}
			author := slices.ContainsFunc(h.Events, func(y history.Event) bool {
				return (y.Kind == history.Created || y.Kind == history.Deleted) && y.Zxid == e.Zxid && y.Path == e.Path &&
					y.Client == e.Client
			})
			if !author && (!limit.InVain || !goesOn(h, k)) {
				n++
			}
		}
		if n > limit.PerEvent {
			return Violated
		}
	}
	return OK
}

// goesOn reports whether what comes first after notification i is that its client gets the lock.
func goesOn(h *history.History, i int) bool {
	next := slices.IndexFunc(h.Events[i+1:], func(e history.Event) bool {
		return e.Client == h.Events[i].Client &&
			(e.Kind == history.Acquired || e.Kind == history.Notify || e.Kind == history.Return && e.Err != nil)
	})
	return next >= 0 && h.Events[i+1+next].Kind == history.Acquired
}

func naiveStaleLeader(c Monitored, h *history.History) Level {
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Created || !strings.Contains(e.Path, "/assign/w/") {
			continue
		}
		leader := int32(-1)
		for k := i - 1; k >= 0; k-- {
			if x := &h.Events[k]; x.Kind == history.Created && strings.Contains(x.Path, "/candidates/") &&
				deletion(h, x.Path, k, i) > i {
				leader = x.Client
			}
		}
		if leader != e.Client {
			return Violated
		}
	}
	return OK
}

func naiveOverdue(c Monitored, h *history.History) Level {
	said := map[told]bool{}
	for _, e := range h.Events {
		if e.Kind != history.Told {
			continue
		}
		held := slices.IndexFunc(h.Events, func(x history.Event) bool { return x.Kind == history.Return && x.Path == e.Path })
		if said[toldOf(&e)] || held >= 0 && h.Events[held].Value < e.Value {
			return Violated
		}
		said[toldOf(&e)] = true
	}
	return OK
}
