package checkers

import (
	"slices"

	"zksim/model/history"
)

// Declaring is a checker that says what it needs. A checker that does not may judge anything: its scenarios may use any
// word, and nobody knows whether it has judged something.
type Declaring interface {
	Checker
	Needs() Needs
}

// Needs is what a checker judges in a history. docs/checkers.md is made from it.
type Needs struct {
	// Words are the operations that the checker knows by their names. An operation with any other name is not judged.
	// If it means anything at all, it is that its client has begun or ended something.
	Words []Word
	// Seen is what a run must have, all of it, for the checker to judge anything. Without it, the checker holds
	// whatever the recipe does. If it is empty, the checker judges every run.
	Seen []Need
	// Txns says that the checker depends on what was committed and on when sessions ended. A history without its txns,
	// such as that of a real ensemble whose logs nobody can read, is not judged.
	Txns bool
}

// Word is a name in [history.Event.Op] that programs record.
type Word struct {
	Op    string
	Class Class
	// Unjudged says that no verdict depends on its events. The word is known all the same, because programs that are
	// judged by this checker record it.
	Unjudged bool
	Doc      string // what it stands for, a phrase
}

// Class tells apart the words of different kinds of events.
type Class uint8

// The classes.
const (
	Operation Class = iota // of Invoke and Return
	Telling                // of Told
	Mode                   // of Acquired and Write, which need no word
	classes
)

// String returns the class as it is called in messages: "operation", "telling" or "mode".
func (c Class) String() string { return [...]string{"operation", "telling", "mode"}[c] }

// ClassOf returns the class of the words of events of kind k. ok is false if programs do not choose these words, as for
// calls and faults.
func ClassOf(k history.Kind) (c Class, ok bool) {
	switch k {
	case history.Invoke, history.Return:
		return Operation, true
	case history.Told:
		return Telling, true
	case history.Acquired, history.Write:
		return Mode, true
	}
	return 0, false
}

// Need is something that a run must have for a checker to judge anything.
type Need struct {
	What string // as it follows "it needs"
	Hint string // what its author can do about it
	// Simulated says that it depends on more than what the program records: on faults, on txns or on
	// what happens at the same time. A run on a real ensemble may lack it.
	Simulated bool
	In        func(h *history.History) bool
}

// Judges reports whether a checker can judge a history. A checker that needs txns cannot judge a history without them.
func Judges(c Checker, h *history.History) bool {
	d, declares := c.(Declaring)
	return h.Txns || !declares || !d.Needs().Txns
}

// Missing returns the needs that a history does not meet.
func (n Needs) Missing(h *history.History) (missing []Need) {
	for _, x := range n.Seen {
		if !x.In(h) {
			missing = append(missing, x)
		}
	}
	return missing
}

// judged makes words for operations.
func judged(doc string, ops ...string) []Word { return words(Operation, false, doc, ops) }

// unjudged makes words for operations that the checker need not know about.
func unjudged(doc string, ops ...string) []Word { return words(Operation, true, doc, ops) }

// tells makes words for what is told.
func tells(doc string, ops ...string) []Word { return words(Telling, false, doc, ops) }

// untells makes words for what is told and that the checker need not know about.
func untells(doc string, ops ...string) []Word { return words(Telling, true, doc, ops) }

func words(c Class, unjudged bool, doc string, ops []string) []Word {
	list := make([]Word, len(ops))
	for i, op := range ops {
		list[i] = Word{op, c, unjudged, doc}
	}
	return list
}

// some makes a need of an event that f picks.
func some(what, hint string, f func(e *history.Event) bool) Need {
	return ofClients(1, what, hint, f)
}

// ofClients makes a need of events that f picks, of n clients.
func ofClients(n int, what, hint string, f func(e *history.Event) bool) Need {
	return Need{What: what, Hint: hint, In: func(h *history.History) bool {
		var clients []int32
		for i := range h.Events {
			e := &h.Events[i]
			if !f(e) || slices.Contains(clients, e.Client) {
				continue
			}
			if clients = append(clients, e.Client); len(clients) == n {
				return true
			}
		}
		return false
	}}
}

// reaches reports whether a monitor comes to an event that f picks by what the monitor remembers then, or finds a
// violation before.
func reaches(h *history.History, m Monitor, f func(e *history.Event) bool) bool {
	for i := range h.Events {
		if !Sees(m, h.Events[i].Kind) {
			continue
		}
		if f(&h.Events[i]) || m.Step(h, i).Level != OK {
			return true
		}
	}
	return false
}

// during marks a need that depends on what happens in a run.
func (n Need) during() Need {
	n.Simulated = true
	return n
}
