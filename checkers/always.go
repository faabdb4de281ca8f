package checkers

import "zksim/model/history"

// What programs tell by Process.Always and Process.Sometimes. The sentence is in Path.
const (
	// ToldBroken: the sentence does not hold. If a call that has ended with an error is the reason, Err is that error.
	// Data, if not empty, is the kind of what is broken, whatever the sentence names.
	ToldBroken    = "always"
	ToldSometimes = "sometimes" // OK: it holds
)

// Always is the promise of a program's own assertions, Process.Always and Process.Ends: all of them hold. It judges
// every run, even if it is not among the checkers of the scenario.
type Always struct{}

// Name implements [Checker].
func (Always) Name() string { return "always" }

// Doc implements [Checker].
func (Always) Doc() string { return "every condition of Process.Always holds" }

// Check implements [Checker].
func (a Always) Check(h *history.History) Verdict {
	for i := range h.Events { // of every run there is: faster than by the monitor
		if e := &h.Events[i]; isBroken(e) {
			return a.Broken(e, i)
		}
	}
	return Verdict{}
}

// isBroken reports whether an event says that a sentence does not hold.
func isBroken(e *history.Event) bool { return e.Kind == history.Told && e.Op == ToldBroken }

// Monitor implements [Monitored].
func (Always) Monitor() Monitor { return assertions{} }

// assertions is the monitor of Always, which remembers nothing.
type assertions struct {
	recipeEvents
	Always
}

func (assertions) Reset() {}

func (m assertions) Step(h *history.History, i int) Verdict {
	if e := &h.Events[i]; isBroken(e) {
		return m.Broken(e, i)
	}
	return Verdict{}
}

// Broken returns the verdict on an event that says that a sentence does not hold, at position i.
func (a Always) Broken(e *history.Event, i int) Verdict {
	if e.Client == 0 { // said of all
		return violated(a, i, "%s", e.Path)
	}
	if e.Err != nil {
		return violated(a, i, "%q does not hold for c%d, where it ends with %q", e.Path, e.Client, e.Err)
	}
	return violated(a, i, "%q does not hold for c%d", e.Path, e.Client)
}

// Needs implements [Declaring].
func (Always) Needs() Needs {
	return Needs{Words: append(tells("the sentence in Path does not hold", ToldBroken),
		untells("the sentence in Path holds, if OK: a goal", ToldSometimes)...)}
}
