package checkers

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

var watchesFamilies = []workload{
	{name: "watches", checker: Watches{Each: 1}, next: nextWatch, end: endOfWatches, world: watchesKnown,
		naive: func(h *history.History) Level { return watchesForNothing(h, 1) }},
	{name: "watches, two of each", checker: Watches{Each: 2}, next: nextWatch, end: endOfWatches, world: watchesKnown,
		naive: func(h *history.History) Level { return watchesForNothing(h, 2) }},
}

// watchLeft is a call that leaves a watch, or is about to: where it began, where it was answered, -1 if it was not, and
// where the watch was gone, the end of the history if it was not.
type watchLeft struct {
	call, reply, gone int
	left              bool
}

// watchesLeft returns the calls that leave watches in a history, each with its own answer: the first that no other has.
func watchesLeft(events []history.Event) (all []watchLeft) {
	answers := map[int]bool{}
	for i, e := range events {
		if e.Kind != history.Call || !leavesWatch(e.Op) {
			continue
		}
		x := watchLeft{call: i, reply: -1, gone: len(events)}
		for k := i + 1; k < len(events) && x.reply < 0; k++ {
			y := events[k]
			if same := y.Client == e.Client && y.Path == e.Path && y.Op == e.Op; same && y.Kind == history.Reply && !answers[k] {
				x.reply, answers[k] = k, true
				x.left = y.Err == nil || e.Op == callExists && y.Err == zk.ErrNoNode
			}
			if goneWith(&e, &y, false) {
				break
			}
		}
		if x.left {
			for k := x.reply + 1; k < len(events); k++ {
				if goneWith(&e, &events[k], true) {
					x.gone = k
					break
				}
			}
			all = append(all, x)
		}
	}
	return all
}

// goneWith reports whether event y ends the watch that call e has left, or is to leave.
func goneWith(e, y *history.Event, left bool) bool {
	switch {
	case y.Client != e.Client:
	case y.Kind == history.Crashed || y.Kind == history.Call && y.Op == callClose:
		return true
	case y.Kind == history.Session:
		return left && y.Op == zk.StateExpired.String()
	case y.Kind == history.Notify && y.Path == e.Path:
		return !left || y.Op == "deleted" || (y.Op == "child") == (e.Op == callChildren)
	}
	return false
}

// watchesForNothing is Watches said over whole histories.
func watchesForNothing(h *history.History, each int) Level {
	all := watchesLeft(h.Events)
	for _, x := range all {
		e, n := h.Events[x.reply], 0
		for _, y := range all {
			f := h.Events[y.reply]
			same := f.Client == e.Client && f.Path == e.Path && (f.Op == callChildren) == (e.Op == callChildren)
			if same && y.reply <= x.reply && y.gone > x.reply && !excused(h.Events[y.reply:x.reply], e.Client) {
				n++
			}
		}
		if each > 0 && n > each {
			return Violated
		}
		exists := slices.ContainsFunc(h.Tree, func(n history.Node) bool { return n.Path == e.Path })
		if h.Outcome == history.Quiet && x.gone == len(h.Events) && !exists && !cutOff(h.Events, e.Client) {
			return Violated
		}
	}
	return OK
}

// excused reports whether the session of a client changes state, or a call of a recipe begins.
func excused(events []history.Event, client int32) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool {
		return e.Client == client && (e.Kind == history.Session || e.Kind == history.Invoke)
	})
}

// cutOff reports whether a client has had connections, and has none now.
func cutOff(events []history.Event, client int32) bool {
	up := map[int32]bool{}
	for _, e := range events {
		if e.Kind == history.Session && e.Client == client {
			up[e.Version] = e.Op == zk.StateHasSession.String()
		}
	}
	return len(up) > 0 && !slices.Contains(slices.Collect(maps.Values(up)), true)
}

// watchesKnown says which watches there are, for the clients and the servers, which calls are in progress, and who is
// connected.
func watchesKnown(h *history.History) string {
	known := map[string]bool{}
	for _, x := range watchesLeft(h.Events) {
		if e := h.Events[x.reply]; x.gone == len(h.Events) {
			known[fmt.Sprint(e.Client, e.Path, e.Op)] = true
		}
	}
	return fmt.Sprint(known, callsOpen(h.Events), cutOff(h.Events, 1), cutOff(h.Events, 2), cutOff(h.Events, 3))
}

// callsOpen returns the calls in progress of clients that have not crashed.
func callsOpen(events []history.Event) (open []string) {
	for i, e := range events {
		if e.Kind != history.Call || crashedIn(events, e.Client) {
			continue
		}
		calls, replies := 0, 0
		for k, y := range events {
			if same := y.Client == e.Client && y.Path == e.Path && y.Op == e.Op; same {
				calls += one(y.Kind == history.Call && k <= i)
				replies += one(y.Kind == history.Reply)
			}
		}
		if calls > replies {
			open = append(open, fmt.Sprint(e.Client, " ", e.Op, " ", e.Path))
		}
	}
	slices.Sort(open)
	return open
}

func crashedIn(events []history.Event, client int32) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool {
		return e.Kind == history.Crashed && e.Client == client
	})
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// nextWatch makes histories of calls that leave watches.
func nextWatch(r *rand.Rand, h *history.History) history.Event {
	c := 1 + r.Int32N(2)
	if crashedIn(h.Events, c) {
		return history.Event{Kind: history.Calm}
	}
	e := history.Event{Client: c, Path: []string{"/a", "/a", "/b"}[r.IntN(3)]}
	switch k := r.IntN(24); {
	case k < 9:
		e.Kind, e.Op = history.Call, []string{callData, callExists, callChildren, "create"}[r.IntN(4)]
	case k < 18:
		for _, x := range h.Events {
			open := slices.Contains(callsOpen(h.Events), fmt.Sprint(c, " ", x.Op, " ", x.Path))
			if x.Kind == history.Call && x.Client == c && x.Op != callClose && open {
				e.Kind, e.Op, e.Path = history.Reply, x.Op, x.Path
				if k = r.IntN(8); k < 3 {
					e.Err = []error{zk.ErrNoNode, zk.ErrNoNode, zk.ErrConnectionClosed}[k]
				}
				return e
			}
		}
		return history.Event{Kind: history.Calm}
	case k < 21:
		e.Kind, e.Op = history.Notify, []string{"created", "changed", "deleted", "child"}[r.IntN(4)]
	case k == 21:
		e.Kind, e.Path = history.Session, ""
		e.Op = []string{"StateDisconnected", "StateHasSession", "StateExpired"}[r.IntN(3)]
	case k == 22 && r.IntN(2) == 0:
		e = history.Event{Kind: history.Invoke, Client: c, Object: c, Op: "lock"}
		if progress(h, c) != nil {
			e.Kind = history.Return
		}
	case k == 22 && r.IntN(2) == 0:
		e.Kind, e.Op, e.Path = history.Call, callClose, ""
	case k == 23 && r.IntN(4) == 0:
		return history.Event{Kind: history.Crashed, Client: c}
	default:
		return history.Event{Kind: history.Calm}
	}
	return e
}

// endOfWatches says which znodes there are in the end.
func endOfWatches(r *rand.Rand, h *history.History) {
	h.Tree = nil
	for _, path := range []string{"/a", "/b"} {
		if r.IntN(5) > 0 {
			h.Tree = append(h.Tree, history.Node{Path: path})
		}
	}
	if h.Outcome = history.Quiet; r.IntN(3) == 0 {
		h.Outcome = history.Stopped
	}
}
