package checkers

import (
	"zksim/internal/hash"
	"zksim/model/history"
)

// Monitor judges a history while it grows. It remembers everything of the past that its later verdicts depend on, so
// exhaustive search can take two runs for the same if their monitors remember the same.
//
// A monitor remembers in its fields, which share no memory with anything: numbers, strings, and slices, arrays, maps
// and structs of these. Exhaustive search reads them by reflection, and refuses a monitor with a field that it cannot
// read, unless that is a [Constant]. It takes a nil slice or map for an empty one, and ignores spare capacity.
type Monitor interface {
	// Step judges event i of h. It has been given all events before it that it sees, but looks at them only to word a
	// violation. Of event i it remembers only what comes before what. After a violation the monitor may not be used. A
	// checker that judges how a run ends may leave that to Check. In a search h has the events that the monitor sees,
	// without their steps and with other numbers of objects, and how many clients there are.
	Step(h *history.History, i int) Verdict
	// Reset forgets everything.
	Reset()
}

// Digest is a monitor that knows which differences in what it remembers make no difference, such as the order of a list
// that is a set. That makes for fewer states.
type Digest interface {
	Monitor
	// Hash returns a hash of what the monitor remembers. If it is the same for two histories, in worlds in which the
	// same can happen, and both go on in the same way, Check says the same of both.
	Hash() uint64
}

// Selective is a monitor that is shown only events of some kinds. Other monitors are shown all.
type Selective interface {
	Monitor
	// Sees reports whether the monitor is shown events of a kind.
	Sees(k history.Kind) bool
}

// Sees reports whether a monitor is to be shown events of a kind.
func Sees(m Monitor, k history.Kind) bool {
	s, ok := m.(Selective)
	return !ok || s.Sees(k)
}

// recipeEvents is embedded in monitors that are shown neither what client libraries do nor the faults.
type recipeEvents struct{}

func (recipeEvents) Sees(k history.Kind) bool {
	switch k {
	case history.Call, history.Reply, history.Notify, history.Session, history.Heard, history.Fault:
		return false
	}
	return true
}

// sessionEvents is embedded in monitors that are also shown what becomes of sessions.
type sessionEvents struct{ recipeEvents }

func (x sessionEvents) Sees(k history.Kind) bool {
	return k == history.Session || x.recipeEvents.Sees(k)
}

// atEnd is the monitor of checkers that judge only how a run ends.
type atEnd struct{}

func (atEnd) Step(*history.History, int) Verdict { return Verdict{} }

func (atEnd) Reset() {}

func (atEnd) Sees(history.Kind) bool { return false }

// Monitored is a checker whose verdicts are those of a monitor.
type Monitored interface {
	Checker
	// Monitor returns a new one each time.
	Monitor() Monitor
}

// follow has a monitor judge the events of a history.
func follow(h *history.History, m Monitor) Verdict {
	for i := range h.Events {
		if !Sees(m, h.Events[i].Kind) {
			continue
		}
		if v := m.Step(h, i); v.Level != OK {
			return v
		}
	}
	return Verdict{}
}

// finisher is a monitor that leaves some things to the end.
type finisher interface {
	Monitor
	// end judges a run that has come to rest, when Step has found nothing.
	end(h *history.History) Verdict
}

// check has a monitor judge a whole history, and its end if it has come to rest.
func check(h *history.History, m Monitor) Verdict {
	v := follow(h, m)
	if f, ok := m.(finisher); ok && v.Level == OK && h.Outcome == history.Quiet {
		return f.end(h)
	}
	return v
}

// recall returns the element of a list that meant picks. If there is none, it appends fresh and returns that. The
// pointer is valid until the list grows.
func recall[T any](list *[]T, meant func(*T) bool, fresh T) *T {
	for k := range *list {
		if x := &(*list)[k]; meant(x) {
			return x
		}
	}
	*list = append(*list, fresh)
	return &(*list)[len(*list)-1]
}

func (c claim) print() hash.Hash {
	return hash.Hash(c.client).String(c.path).Bool(c.shared)
}

// Said appends to a hash all that an event says, except its step; for errors see [history.HashError].
func Said(h hash.Hash, e *history.Event) hash.Hash {
	h = h.Int(int64(e.Kind)).Bool(e.OK).Bool(e.Proposed).Int(int64(e.Client)).Int(int64(e.Object)).Int(int64(e.Version)).
		Int(e.Zxid).Int(e.Value).Int(e.Session).String(e.Op).String(e.Path).String(e.Data).String(e.Task).Bool(e.Err == nil)
	if e.Err != nil {
		h = history.HashError(h, e.Err)
	}
	return h
}
