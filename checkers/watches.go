package checkers

import (
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Watches is the promise of recipes about the memory that their watches take up, at the client and at the server.
// Watches cannot be taken back. So when nothing can happen any more, no client watches a znode that does not exist: its
// name never comes again, and the watch stays as long as the session. Nor does a client leave more than Each watches of
// one kind on one znode between one call of a recipe and the next that it begins. Calls that overlap are counted
// together. The count starts again when the session changes state: each change may cost another watch, since watches
// may be lost then. It is for clients with one connection: a history does not say on which of several a watch is.
type Watches struct {
	Each    int      // 0: any number
	Missing []string // path.Match patterns of znodes that may be watched all the same, as they may come again
}

// Name implements [Checker].
func (Watches) Name() string { return "watches" }

// Doc implements [Checker].
func (Watches) Doc() string {
	return "no client keeps a watch that nothing will ever fire, or many on one znode"
}

// Needs implements [Declaring]. It judges every run.
func (Watches) Needs() Needs { return Needs{} }

// Check implements [Checker].
func (c Watches) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored]. What is left is judged at the end.
func (c Watches) Monitor() Monitor { return &watchList{Watches: c} }

// watchList is the monitor of Watches.
type watchList struct {
	Watches
	all []watched
}

// watched is a watch that a client has left, or is about to.
type watched struct {
	client   int32
	path     string
	call     string // by which it is left
	answered bool   // the call has been answered
	latest   bool   // since then the session has not changed state and the client has begun no operation
}

// children reports whether the watch is one on the list of children.
func (w *watched) children() bool { return w.call == callChildren }

// The calls that leave watches, and the one that ends them all.
const (
	callData     = "getW"
	callExists   = "existsW"
	callChildren = "childrenW"
	callClose    = "closeSession"
)

func leavesWatch(call string) bool {
	return call == callData || call == callExists || call == callChildren
}

func (m *watchList) Reset() { m.all = m.all[:0] }

func (m *watchList) Sees(k history.Kind) bool {
	switch k {
	case history.Call, history.Reply, history.Notify, history.Session, history.Crashed:
		return true
	}
	return k == history.Invoke && m.Each > 0
}

// Hash implements [Monitor]. The world knows which znodes are watched, but not how many times.
func (m *watchList) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for _, w := range m.all {
		if !w.answered || w.latest && m.Each > 0 {
			sum += hash.Hash(w.client).String(w.path).String(w.call).Bool(w.answered)
		}
	}
	return uint64(sum)
}

func (m *watchList) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch e.Kind {
	case history.Call:
		if leavesWatch(e.Op) {
			m.all = append(m.all, watched{client: e.Client, path: e.Path, call: e.Op})
		} else if e.Op == callClose {
			m.all = outdate(m.all, e)
		}
	case history.Reply:
		if !leavesWatch(e.Op) {
			break
		}
		var n int
		if m.all, n = replied(m.all, e); m.Each > 0 && n > m.Each {
			return violated(m, i, "c%d watches %s %d times%s, and its session has not changed state in between; %d times "+
				"will do", e.Client, e.Path, n, whichList(e.Op), m.Each)
		}
	case history.Notify:
		m.all = drop(m.all, func(w watched) bool { return w.client == e.Client && w.path == e.Path && w.hears(e.Op) })
	case history.Session, history.Invoke, history.Crashed:
		m.all = outdate(m.all, e)
	}
	return Verdict{}
}

// replied notes the answer of a call that leaves a watch. It returns how many watches of that kind on the znode nothing
// excuses.
func replied(all []watched, e *history.Event) (now []watched, n int) {
	k := slices.IndexFunc(all, func(w watched) bool {
		return !w.answered && w.client == e.Client && w.path == e.Path && w.call == e.Op
	})
	if k < 0 {
		return all, 0 // it has fired already
	}
	w := all[k]
	all = slices.Delete(all, k, k+1)
	if e.Err != nil && !(e.Op == callExists && e.Err == zk.ErrNoNode) {
		return all, 0
	}
	w.answered, w.latest = true, true
	all = append(all, w)
	for k := range all {
		x := &all[k]
		if x.answered && x.latest && x.client == w.client && x.path == w.path && x.children() == w.children() {
			n++
		}
	}
	return all, n
}

// hears reports whether the watch, or the one that its call may leave, ends with a watch event.
func (w *watched) hears(op string) bool {
	switch {
	case !w.answered, op == "deleted":
		return true
	case op == "child":
		return w.children()
	}
	return !w.children()
}

// outdate notes that the session of a client changes state or ends, that the client begins an operation, or that it
// ends.
func outdate(all []watched, e *history.Event) []watched {
	over := e.Kind == history.Crashed || e.Kind == history.Call // also for calls that are answered on the way
	ended := over || e.Kind == history.Session && e.Op == zk.StateExpired.String()
	for k := range all {
		if all[k].client == e.Client {
			all[k].latest = false
		}
	}
	return drop(all, func(w watched) bool {
		return ended && w.client == e.Client && (w.answered || over)
	})
}

// left returns where the watch was left.
func (w *watched) left(h *history.History) int {
	for i, e := range slices.Backward(h.Events) {
		if e.Kind == history.Reply && e.Client == w.client && e.Path == w.path && e.Op == w.call {
			return i
		}
	}
	return 0
}

func whichList(call string) string {
	if call == callChildren {
		return " for its children"
	}
	return ""
}

// end judges what is still watched when nothing can happen any more.
func (m *watchList) end(h *history.History) Verdict {
	for _, w := range m.all {
		exists := slices.ContainsFunc(h.Tree, func(n history.Node) bool { return n.Path == w.path })
		if w.answered && !exists && !matches(m.Missing, w.path) && !closed(h, w.client) {
			return violated(m, w.left(h), "c%d still watches %s when nothing can happen any more, which does not exist",
				w.client, w.path)
		}
	}
	return Verdict{}
}

// closed reports whether a client has closed its connections, when nothing can happen any more: any other client is
// connected by then. A client that closes its connection while that is down makes no call which would show it.
func closed(h *history.History, client int32) bool {
	var down []int32 // by their numbers
	for _, e := range slices.Backward(h.Events) {
		if e.Kind != history.Session || e.Client != client || slices.Contains(down, e.Version) {
			continue
		}
		if e.Op == zk.StateHasSession.String() {
			return false
		}
		down = append(down, e.Version)
	}
	return len(down) > 0
}
