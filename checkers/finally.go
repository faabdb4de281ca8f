package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Finally is the oracle of a scenario: a function that judges each run that has come to rest. Exhaustive search then
// takes runs for different if they differ in the order of any events; see [FinallyOf].
type Finally struct {
	// Judge returns an error that says what is wrong with a run, or nil. It must depend on h only, and not on the Step
	// of any event. Of the numbers of objects, it may use only which are the same: they follow the order in which
	// clients have registered the objects, which is in no state of a search.
	Judge func(h *history.History) error
}

// Name implements [Checker].
func (Finally) Name() string { return "finally" }

// Doc implements [Checker].
func (Finally) Doc() string {
	return "when a run has come to rest, the scenario's Finally finds nothing wrong"
}

// Check implements [Checker].
func (f Finally) Check(h *history.History) Verdict {
	if h.Outcome != history.Quiet {
		return Verdict{}
	}
	if err := f.Judge(h); err != nil {
		return violated(f, -1, "%v", err)
	}
	return Verdict{}
}

// Needs implements [Declaring].
func (Finally) Needs() Needs {
	return Needs{Seen: []Need{atRest}}
}

// FinallyOf is a Finally that looks only at some events and at how the run ends. Exhaustive search takes runs for the
// same if they differ only in the order of other events.
type FinallyOf struct {
	Finally
	Heeds Heeds
}

// Heeds are operations, by [history.Event.Op], and kinds of events, by their names.
type Heeds []string

func (x Heeds) has(e *history.Event) bool {
	return slices.Contains(x, e.Op) || slices.Contains(x, e.Kind.String())
}

// Doc implements [Checker].
func (FinallyOf) Doc() string {
	return "when a run has come to rest, the scenario's Finally finds nothing wrong in what it heeds"
}

// Needs implements [Declaring].
func (f FinallyOf) Needs() Needs {
	seen := []Need{atRest}
	if len(f.Heeds) > 0 {
		seen = append(seen, some("an event that it heeds", "see Heeds of the scenario", f.Heeds.has))
	}
	return Needs{Seen: seen}
}

// Check implements [Checker]. Judge sees the other events, the steps and the real numbers of objects only to word a
// violation. Otherwise objects are numbered in the order in which they come.
func (f FinallyOf) Check(h *history.History) Verdict {
	heeded, objects := *h, map[int32]int32{0: 0}
	heeded.Events, heeded.Steps = nil, 0
	for _, e := range h.Events {
		if f.Heeds.has(&e) {
			if _, known := objects[e.Object]; !known {
				objects[e.Object] = int32(len(objects))
			}
			e.Step, e.Object = 0, objects[e.Object]
			heeded.Events = append(heeded.Events, e)
		}
	}
	v := f.Finally.Check(&heeded)
	if v.Level == Violated {
		if whole := f.Finally.Check(h); whole.Level == Violated {
			return whole
		}
	}
	return v
}

// Monitor implements [Monitored]. What is heeded is judged at the end.
func (f FinallyOf) Monitor() Monitor { return &heeding{heeds: ConstantOf(f.Heeds)} }

// heeding remembers some events in their order.
type heeding struct {
	heeds Constant[Heeds]
	Line  hash.Hash
}

// Step implements [Monitor].
func (m *heeding) Step(h *history.History, i int) Verdict {
	if e := &h.Events[i]; m.heeds.Value().has(e) {
		m.Line = Said(m.Line, e)
	}
	return Verdict{}
}

// Reset implements [Monitor].
func (m *heeding) Reset() { m.Line = 0 }
