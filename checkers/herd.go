package checkers

import "zksim/model/history"

// Herd bounds the fan-out: one change of one znode notifies at most PerEvent
// clients other than its author. Notifications that answer a reconnect are not
// counted, no live change fired them.
type Herd struct{ PerEvent int }

// Name implements [Checker].
func (Herd) Name() string { return "herd" }

// Doc implements [Checker].
func (c Herd) Doc() string { return "one change of a znode wakes only the client that can go on" }

// Check implements [Checker].
func (c Herd) Check(h *history.History) Verdict {
	type change struct {
		path string
		zxid int64
	}
	counts := map[change]int{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Notify || e.Zxid == 0 {
			continue
		}
		if e.Client == author(h, e, i) {
			continue
		}
		k := change{e.Path, e.Zxid}
		counts[k]++
		if counts[k] > c.PerEvent {
			n, wasted := c.measure(h, e.Path, e.Zxid)
			return violated(c, i, "one change of %s notified %d clients, %d of them in vain; at most %d may be", e.Path, n, wasted, c.PerEvent)
		}
	}
	return Verdict{}
}

// author returns the client that made the change behind a notification.
func author(h *history.History, n *history.Event, i int) int32 {
	for ; i >= 0; i-- {
		if e := &h.Events[i]; (e.Kind == history.Deleted || e.Kind == history.Created) && e.Zxid == n.Zxid && e.Path == n.Path {
			return e.Client
		}
	}
	return 0
}

// measure counts the notifications of a change, and those after which the client
// left another watch without having got the lock.
func (c Herd) measure(h *history.History, path string, zxid int64) (total, wasted int) {
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Notify || e.Zxid != zxid || e.Path != path || e.Client == author(h, e, i) {
			continue
		}
		total++
		if inVain(h, e.Client, i) {
			wasted++
		}
	}
	return total, wasted
}

func inVain(h *history.History, client int32, i int) bool {
	for _, e := range h.Events[i+1:] {
		if e.Client != client {
			continue
		}
		switch {
		case e.Kind == history.Acquired:
			return false
		case e.Kind == history.Call && len(e.Op) > 0 && e.Op[len(e.Op)-1] == 'W':
			return true
		}
	}
	return true
}
