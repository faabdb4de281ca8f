package checkers

import (
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// ToldDoubt is what a watcher tells about whether what it has told may be out of date: OK if it may be.
const ToldDoubt = "doubt"

// Suspicion is the promise of watchers that tell whether what they have told may be out of date. They say in turn that
// it may be and that it is not, beginning with the former. They have read again before they say that it is not. They
// tell what they have to tell before that, so they read again before they tell anything later. When a watcher is
// stopped after a rest that began after the faults, with its client connected, it has no doubts. It has had some if,
// after it first told something, its code was told that the connection is lost. A connection that is there again before
// the code looks need not be noticed.
type Suspicion struct{}

// Name implements [Checker].
func (Suspicion) Name() string { return "suspicion" }

// Doc implements [Checker].
func (Suspicion) Doc() string {
	return "a watcher that has lost its connection says that what it told may be out of date, until it has read again"
}

// Needs implements [Declaring].
func (Suspicion) Needs() Needs {
	return Needs{
		Words: slices.Concat(judged(watcherDoc, watchKinds...),
			judged("begins a time in which everything settles, if the faults are over", Rest),
			judged("what was told must be up to date", Stop),
			tells(stateDoc, ToldData, ToldChildren, ToldGone),
			tells("what was told may be out of date, if OK, or is not", ToldDoubt)),
		Seen: []Need{Need{What: "a doubt that a watcher tells", Hint: "record it as Told, with the object of the watcher",
			In: func(h *history.History) bool {
				m := &doubters{}
				return reaches(h, m, func(e *history.Event) bool { return toldAs(ToldDoubt)(e) && find(m.all, callerOf(e)) >= 0 })
			}}.during()},
	}
}

// Check implements [Checker].
func (s Suspicion) Check(h *history.History) Verdict { return check(h, s.Monitor()) }

// Monitor implements [Monitored].
func (Suspicion) Monitor() Monitor { return &doubters{} }

// doubters is the monitor of Suspicion.
type doubters struct {
	Suspicion
	all  []doubter
	calm bool
	away []int32 // clients without a connection
}

// doubter is a watcher.
type doubter struct {
	caller
	path   string
	task   string // the goroutine that tells
	told   bool   // something
	doubts bool
	down   bool // it was told that it has no connection, and nothing else since
	lost   bool // it was told that twice in a row, both times without doubts
	sure   bool // it has said that it has no doubts, and has read nothing since
	blind  bool // it has said that it has doubts, and nothing was read since
	rested bool
}

func (m *doubters) Reset() { m.all, m.calm, m.away = m.all[:0], false, m.away[:0] }

func (m *doubters) Sees(k history.Kind) bool {
	switch k {
	case history.Reply, history.Session, history.Heard, history.Invoke, history.Return, history.Told, history.Calm,
		history.Crashed:
		return true
	}
	return false
}

func (m *doubters) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch e.Kind {
	case history.Calm:
		m.calm = true
	case history.Session:
		m.session(e)
	case history.Heard:
		m.heard(e)
	case history.Reply:
		for k := range m.all {
			if d := &m.all[k]; d.client == e.Client {
				d.sure, d.blind = d.sure && unanswered(e.Err), d.blind && unanswered(e.Err)
			}
		}
	case history.Crashed:
		m.all = withoutClient(m.all, e.Client)
	case history.Return:
		if isWatch(e.Op) {
			m.all = forget(m.all, callerOf(e))
		}
	case history.Invoke:
		if isWatch(e.Op) {
			m.all = append(forget(m.all, callerOf(e)), doubter{caller: callerOf(e), path: e.Path})
			break
		}
		fallthrough
	case history.Told:
		if k := find(m.all, callerOf(e)); k >= 0 {
			return m.judge(h, i, &m.all[k])
		}
	}
	return Verdict{}
}

// session notes whether a client has a connection.
func (m *doubters) session(e *history.Event) {
	m.away = drop(m.away, func(c int32) bool { return c == e.Client })
	if e.Op != "StateHasSession" {
		m.away = append(m.away, e.Client)
	}
}

// heard notes that a watcher was told whether it has a connection. It must be told twice in a row that it has none: an
// event may be older than the connection, and is recorded with the state at the time when it is received.
func (m *doubters) heard(e *history.Event) {
	for k := range m.all {
		if d := &m.all[k]; d.client == e.Client && d.task == e.Task && e.Op != "" {
			down := e.Op == history.Disconnected
			d.lost = d.lost || down && d.down && d.told && !d.doubts
			d.down = down
		}
	}
}

// judge judges what a watcher tells, and how things stand when it is stopped.
func (m *doubters) judge(h *history.History, i int, d *doubter) Verdict {
	e := &h.Events[i]
	switch {
	case e.Kind == history.Told && e.Op == ToldDoubt:
		if e.OK == d.doubts {
			if m.first(h, i) {
				return violated(m, i, "c%d was told %s, and not before that it may not be", e.Client, doubtText(e.OK))
			}
			return violated(m, i, "c%d was told twice in a row %s", e.Client, doubtText(e.OK))
		}
		if !e.OK && d.blind {
			return violated(m, i, "c%d was told that what it knows of %s is up to date again, and nothing was read since it "+
				"was told that it may not be", e.Client, d.path)
		}
		d.doubts, d.sure, d.blind, d.task = e.OK, !e.OK, e.OK, e.Task
		d.lost, d.down = d.lost && !e.OK, d.down && e.OK // to have no doubts it has read, over a connection
	case tellsState(e):
		if d.sure {
			return violated(m, i, "c%d was told that what it knows of %s is up to date, and then, before anything else was "+
				"read, what had changed", e.Client, d.path)
		}
		d.told, d.task = true, e.Task
	case e.Op == Rest:
		d.rested = m.calm
	case e.Op == Stop && d.rested && !slices.Contains(m.away, e.Client):
		switch {
		case d.lost:
			return violated(m, i, "c%d was not told that what it knows of %s may be out of date, and has heard that the "+
				"connection is lost",
				e.Client, d.path)
		case d.doubts:
			return violated(m, i, "c%d was told that what it knows of %s may be out of date, and not that it is up to date "+
				"again", e.Client, d.path)
		}
	}
	return Verdict{}
}

// first reports whether event i is the first in which its watcher says whether it has doubts.
func (m *doubters) first(h *history.History, i int) bool {
	of := callerOf(&h.Events[i])
	for _, e := range slices.Backward(h.Events[:i]) {
		switch {
		case callerOf(&e) != of:
		case e.Kind == history.Told && e.Op == ToldDoubt:
			return false
		case e.Kind == history.Invoke && isWatch(e.Op):
			return true
		}
	}
	return true
}

// unanswered reports whether an error says that no server has answered.
func unanswered(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) || errors.Is(err, zk.ErrSessionExpired)
}

// doubtText says what a watcher has said.
func doubtText(doubts bool) string {
	if doubts {
		return "that what it knows may be out of date"
	}
	return "that what it knows is up to date"
}
