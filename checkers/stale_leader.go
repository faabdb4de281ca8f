package checkers

import (
	"slices"
	"strings"

	"zksim/model/history"
)

// StaleLeader is the fence of a master: a task is assigned only by the client that leads at the moment when the
// assignment is committed, whatever the assigning client believes. The leader is the author of the first candidate that
// is there; candidates are the ephemeral znodes in a folder "candidates". Assignments are the znodes below
// assign/WORKER.
type StaleLeader struct{}

// Name implements [Checker].
func (StaleLeader) Name() string { return "stale-leader" }

// Doc implements [Checker].
func (StaleLeader) Doc() string { return "nobody assigns a task after it was deposed" }

// Needs implements [Declaring].
func (StaleLeader) Needs() Needs {
	return Needs{Txns: true, Seen: []Need{Need{What: "an assignment, a znode below assign/WORKER",
		Hint: "let masters and workers get that far", In: func(h *history.History) bool {
			return slices.ContainsFunc(h.Events, func(e history.Event) bool { return assigns(&e) })
		}}.during()}}
}

// Check implements [Checker].
func (c StaleLeader) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (StaleLeader) Monitor() Monitor { return &candidates{} }

// candidates is the monitor of StaleLeader.
type candidates struct {
	recipeEvents
	StaleLeader
	list []znodeOf // in the order of their creation
}

func (m *candidates) Reset() { m.list = m.list[:0] }

// Hash implements [Monitor]. The world knows who is a candidate, and since when.
func (m *candidates) Hash() uint64 { return 0 }

func (m *candidates) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	if e.Kind != history.Created && e.Kind != history.Deleted {
		return Verdict{}
	}
	if strings.HasSuffix(parent(e.Path), "/candidates") {
		switch {
		case e.Kind == history.Created && e.Session != 0:
			m.list = append(m.list, znodeOf{e.Path, e.Client})
		case e.Kind == history.Deleted:
			m.list = drop(m.list, func(x znodeOf) bool { return x.path == e.Path })
		}
		return Verdict{}
	}
	folder, worker, task := place(e.Path)
	if e.Kind != history.Created || folder != "assign" || e.Client == 0 { // 0: it was there before the run
		return Verdict{}
	}
	if len(m.list) == 0 {
		return violated(m, i, "c%d assigned %s to %s while nobody led", e.Client, task, worker)
	}
	if leader := m.list[0]; leader.client != e.Client {
		return violated(m, i, "c%d assigned %s to %s while c%d led by %s", e.Client, task, worker, leader.client, leader.path)
	}
	return Verdict{}
}
