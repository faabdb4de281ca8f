package checkers

import (
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// Passage is the progress of a barrier: a client that waits passes if the barrier was open at some moment since the
// client first looked, even if it is held again. When the faults are over, time passes only when nothing else can
// happen. So suppose that a release began and ended after the client had left its first watch and before it became
// impatient. If the client then gave up, it was waiting for what had happened. A watch on another znode than before
// counts as the first one: the client may have looked for something else, such as a folder. A look no longer counts
// when the session changes state, because the code may not have got the answer by then. Nor does the first request
// after that, because it may have been meant for the session before.
//
// The operations are those of [Barrier]. A client that is about to give up says so (impatient). Exhaustive search
// judges this in the runs that it makes to their end.
type Passage struct{}

// Name implements [Checker].
func (Passage) Name() string { return "passage" }

// Doc implements [Checker].
func (Passage) Doc() string {
	return "with the faults over, nobody gives up waiting for a barrier that has been open meanwhile"
}

// Needs implements [Declaring].
func (Passage) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("opens the barrier", "release"),
			judged("passes when it is open, or has been; an error says that it gave up", "wait"),
			tells("the client that waits is about to give up", "impatient"),
			unjudged("what is closed in the end is judged as what is open", "hold")),
		Seen: []Need{some("a release without an error", "record it with Object.Return", succeeds("release")),
			Need{What: "a wait that is going on when impatient is told, with the faults over",
				Hint: "let clients give up, or leave the checker out", In: func(h *history.History) bool {
					m := &passages{}
					return reaches(h, m, func(e *history.Event) bool {
						return m.calm && toldAs("impatient")(e) && find(m.waits, callerOf(e)) >= 0
					})
				}}.during()},
	}
}

// Check implements [Checker].
func (c Passage) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (Passage) Monitor() Monitor { return &passages{} }

// passages is the monitor of Passage.
type passages struct {
	Passage
	calm  bool
	open  []ongoing // operations in progress
	waits []passing
}

// passing is a wait in progress.
type passing struct {
	caller
	meant  bool     // its next request is certainly meant for the session that it has
	asked  bool     // such a request leaves a watch
	path   string   // on this znode
	looked bool     // that watch has been left
	since  []caller // releases in progress that have begun after that
	open   bool     // one of them has succeeded: the barrier was open
	due    bool     // the client became impatient after that
}

func (m *passages) Reset() { m.calm, m.open, m.waits = false, nil, nil }

func (m *passages) Sees(k history.Kind) bool {
	return k != history.Notify && k != history.Heard && k != history.Fault
}

func (m *passages) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	k := find(m.waits, callerOf(e))
	switch e.Kind {
	case history.Invoke, history.Return:
		x := ongoingOf(e)
		if m.open = drop(m.open, func(y ongoing) bool { return y == x }); e.Kind == history.Invoke {
			m.open = append(m.open, x)
		}
	}
	switch {
	case e.Kind == history.Calm:
		m.calm = true
	case e.Kind == history.Crashed:
		m.open = withoutClient(m.open, e.Client)
		m.waits = withoutClient(m.waits, e.Client)
	case e.Kind == history.Session || e.Kind == history.Call || e.Kind == history.Reply:
		m.looks(e)
	case e.Kind == history.Told && e.Op == "impatient" && k >= 0:
		m.waits[k].due = m.waits[k].open && m.calm
	case e.Op == "release" && (e.Kind == history.Invoke || e.Kind == history.Return):
		released(m.waits, e)
	case e.Op == "wait" && e.Kind == history.Invoke:
		m.waits = append(m.waits, passing{caller: callerOf(e), meant: true})
	case e.Op == "wait" && e.Kind == history.Return && k >= 0:
		if m.waits[k].due && e.Err != nil {
			return violated(m, i, "c%d gave up waiting, although the barrier had been open after it had looked", e.Client)
		}
		m.waits = forget(m.waits, callerOf(e))
	}
	return Verdict{}
}

// released notes that a release begins or ends.
func released(waits []passing, e *history.Event) {
	by := callerOf(e)
	for k := range waits {
		w := &waits[k]
		w.open = w.open || e.Kind == history.Return && e.Err == nil && slices.Contains(w.since, by)
		w.since = forget(w.since, by)
		if e.Kind == history.Invoke && w.looked {
			w.since = append(w.since, by)
		}
	}
}

// looks notes a request of a client that waits, the answer, or a change of state of its session.
func (m *passages) looks(e *history.Event) {
	n := 0
	for _, x := range m.open {
		if x.client == e.Client {
			n++
		}
	}
	for k := range m.waits {
		w := &m.waits[k]
		switch {
		case w.client != e.Client:
		case e.Kind == history.Session:
			*w = passing{caller: w.caller, since: w.since[:0]}
		case e.Kind == history.Call:
			if w.meant && n == 1 && leavesWatch(e.Op) && !(w.asked && w.path == e.Path) {
				*w = passing{caller: w.caller, asked: true, path: e.Path, since: w.since[:0]}
			}
			w.meant = true
		case w.path == e.Path && leavesWatch(e.Op) && (e.Err == nil || e.Op == callExists && e.Err == zk.ErrNoNode):
			w.looked = w.looked || w.asked
		}
	}
}
