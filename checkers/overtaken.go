package checkers

import (
	"slices"

	"zksim/model/history"
)

// Overtaken says that an update of a configuration that is made step by step does not succeed when another one has
// begun meanwhile. So the last thing that a successful update has written to the znode in the Path of its Invoke is not
// the flag that says that an update goes on. Nothing is said of two updates of one client at the same time.
type Overtaken struct {
	Flag string // the data of that znode while an update goes on
}

// Name implements [Checker].
func (Overtaken) Name() string { return "overtaken" }

// Doc implements [Checker].
func (Overtaken) Doc() string { return "no update succeeds that another has overtaken" }

// Needs implements [Declaring].
func (o Overtaken) Needs() Needs {
	return Needs{
		Txns:  true,
		Words: configWords(judged("updates the znode in Path", "update")...),
		Seen: []Need{some("an update without an error", "record it with Object.Record", succeeds("update")),
			{What: "an update that changes the znode in its Path", Hint: "record it with Object.Record and its Path",
				In: func(h *history.History) bool {
					m := &flaggedUpdates{Overtaken: o}
					return reaches(h, m, func(e *history.Event) bool {
						return slices.ContainsFunc(m.open, func(u flaggedUpdate) bool { return u.changes(e) })
					})
				}}},
	}
}

// Check implements [Checker].
func (o Overtaken) Check(h *history.History) Verdict { return check(h, o.Monitor()) }

// Monitor implements [Monitored].
func (o Overtaken) Monitor() Monitor { return &flaggedUpdates{Overtaken: o} }

// flaggedUpdates is the monitor of Overtaken.
type flaggedUpdates struct {
	recipeEvents
	Overtaken
	open []flaggedUpdate
}

// flaggedUpdate is an update in progress.
type flaggedUpdate struct {
	caller
	path    string
	flagged bool // by the last change of path by its client
	another bool // an update of the same client goes on, so nobody knows whose changes are whose
}

// changes reports whether e changes the znode of the update.
func (u *flaggedUpdate) changes(e *history.Event) bool {
	return e.Kind == history.Changed && u.client == e.Client && u.path == e.Path
}

func (m *flaggedUpdates) Reset() { m.open = m.open[:0] }

func (m *flaggedUpdates) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch {
	case e.Kind == history.Invoke && e.Op == "update":
		u := flaggedUpdate{caller: callerOf(e), path: e.Path}
		for k := range m.open {
			if x := &m.open[k]; x.client == e.Client {
				x.another, u.another = true, true
			}
		}
		m.open = append(m.open, u)
	case e.Kind == history.Changed:
		for k := range m.open {
			if u := &m.open[k]; u.changes(e) {
				u.flagged = e.Data == m.Flag
			}
		}
	case e.Kind == history.Return && e.Op == "update":
		var u flaggedUpdate
		if m.open, u = take(m.open, e); e.Err == nil && u.flagged && !u.another {
			return violated(m, i, "the update of c%d succeeds, and the last that it has made of %s says that it goes on: "+
				"another has overtaken it", e.Client, u.path)
		}
	case e.Kind == history.Crashed:
		m.open = withoutClient(m.open, e.Client)
	}
	return Verdict{}
}
