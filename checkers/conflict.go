package checkers

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Conflict says that an update of a configuration is refused only if another was made at the same time. A refusal is a
// legal error of "update". An update that has not ended, or has ended with an error that leaves its outcome open, may
// be made at any later time.
//
// An update that is refused was not made, and never will be. What it writes begins with its number and a slash; no txn
// of its client writes that, unless the update is made step by step.
type Conflict struct {
	// Flag is the data of the configuration's znode while an update is made step by step. If it is "", nothing is said
	// about what a refused update has done.
	Flag string
}

// Name implements [Checker].
func (Conflict) Name() string { return "conflict" }

// Doc implements [Checker].
func (Conflict) Doc() string {
	return "an update is refused only while another is made; a refused update is not made then or later"
}

// Needs implements [Declaring].
func (Conflict) Needs() Needs {
	return Needs{
		Words: configWords(judged("makes update Value of the configuration in Path; refused, with OK and an error, only "+
			"while another is made", "update")...),
		Seen: []Need{some("an update that is refused",
			"let updates collide, and record the refusal by Return with OK", func(e *history.Event) bool {
				return e.Kind == history.Return && e.Op == "update" && refused(e)
			}).during()},
	}
}

// Check implements [Checker].
func (c Conflict) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (c Conflict) Monitor() Monitor { return &updates{Conflict: c} }

// updates is the monitor of Conflict.
type updates struct {
	recipeEvents
	Conflict
	open  []caller // that are making an update
	alone bool     // there is one update, and there has been no other since it began
	ever  bool     // one may be made at any later time, so alone no longer matters
	steps []attempt
	never []attempt // that were refused
}

// attempt is an update in progress, and what it has done.
type attempt struct {
	caller
	path   string // of the configuration
	number int64
	made   bool // one of its values was written
	flag   bool // it is made step by step
}

func (m *updates) Reset() {
	m.open, m.alone, m.ever = m.open[:0], false, false
	m.steps, m.never = m.steps[:0], m.never[:0]
}

// Hash implements [Monitor]. The updates being made are operations in progress of live clients.
func (m *updates) Hash() uint64 {
	steps := hash.Hash(0) // in any order
	for _, u := range m.steps {
		steps += printOf(m.steps, u.caller).String(u.path).Uint64(uint64(u.number)).Bool(u.made).Bool(u.flag)
	}
	for _, u := range m.never {
		steps += hash.Hash(u.client).String(u.path).Uint64(uint64(u.number))
	}
	return uint64(steps.Bool(m.alone).Bool(m.ever))
}

func (m *updates) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	if m.Flag != "" {
		if v := m.look(i, e); v.Level != OK {
			return v
		}
	}
	o := callerOf(e)
	begun := find(m.open, o) >= 0
	if e.Kind == history.Crashed {
		begun = slices.ContainsFunc(m.open, func(x caller) bool { return x.client == e.Client })
	} else if e.Op != "update" {
		return Verdict{}
	}
	switch {
	case m.ever:
	case e.Kind == history.Invoke && !begun:
		m.alone = len(m.open) == 0
		m.open = append(m.open, o)
	case e.Kind == history.Return && begun && (e.Err == nil || e.OK):
		if refused(e) && m.alone {
			return violated(m, i, "the update of c%d was refused although no other was in progress", e.Client)
		}
		m.open, m.alone = forget(m.open, o), false
	case begun: // it has not ended, or its outcome is unknown
		m.open, m.alone, m.ever = m.open[:0], false, true
	}
	return Verdict{}
}

// look notes what updates do, and judges one that was refused.
func (m *updates) look(i int, e *history.Event) Verdict {
	switch {
	case e.Kind == history.Created || e.Kind == history.Changed:
		for k := range m.steps {
			if u := &m.steps[k]; u.client == e.Client {
				u.flag = u.flag || e.Path == u.path && e.Data == m.Flag
				u.made = u.made || u.writes(e)
			}
		}
		for k := range m.never {
			if u := &m.never[k]; u.client == e.Client && u.writes(e) {
				return violated(m, i, "update %d of c%d was refused, but was made after that", u.number, e.Client)
			}
		}
	case e.Kind == history.Crashed:
		m.steps = withoutClient(m.steps, e.Client)
	case e.Op == "update" && e.Kind == history.Invoke:
		m.steps = append(m.steps, attempt{caller: callerOf(e), path: e.Path, number: e.Value})
	case e.Op == "update" && e.Kind == history.Return:
		var u attempt
		m.steps, u = take(m.steps, e)
		switch {
		case e.Err == nil || !e.OK || u.flag || u.client == 0:
		case u.made:
			return violated(m, i, "update %d of c%d was refused, but was made", u.number, e.Client)
		default:
			m.never = append(m.never, u)
		}
	}
	return Verdict{}
}

// writes reports whether a txn writes a value of the update.
func (u *attempt) writes(e *history.Event) bool {
	return path.Dir(e.Path) == u.path && strings.HasPrefix(e.Data, fmt.Sprint(u.number, "/"))
}
