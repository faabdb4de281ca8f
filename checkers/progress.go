package checkers

import (
	"slices"

	"zksim/model/history"
)

// Steps is the limit against livelock: with the faults over, a run comes to rest.
type Steps struct{}

// Name implements [Checker].
func (Steps) Name() string { return "steps" }

// Doc implements [Checker].
func (Steps) Doc() string { return "with the faults over, the run comes to rest" }

// Needs implements [Declaring]. It judges every run.
func (Steps) Needs() Needs { return Needs{} }

// Monitor implements [Monitored].
func (Steps) Monitor() Monitor { return atEnd{} }

// Check implements [Checker].
func (s Steps) Check(h *history.History) Verdict {
	if h.Outcome != history.StepLimit {
		return Verdict{}
	}
	return violated(s, -1, "still busy at the step limit: %s", busiest(h))
}

// busiest names the last call in the last tenth of the run, or else a client that has not ended.
func busiest(h *history.History) string {
	for i := len(h.Events) - 1; i >= 0 && 10*int(h.Events[i].Step) >= 9*h.Steps; i-- {
		if e := &h.Events[i]; e.Kind == history.Call && !h.Finished[e.Client] {
			return "c" + digits(e.Client) + " goes on with " + e.Op + " " + e.Path
		}
	}
	var busy []int32
	for c := int32(1); int(c) <= h.Clients; c++ {
		crashed := slices.ContainsFunc(h.Events,
			func(e history.Event) bool { return e.Kind == history.Crashed && e.Client == c })
		if !h.Finished[c] && !crashed {
			busy = append(busy, c)
		}
	}
	if len(busy) == 1 {
		return "c" + digits(busy[0]) + " goes on without a request"
	}
	return "a client goes on without a request"
}

// Liveness is the promise that no workload is given up: with the faults over,
// every operation of a recipe succeeds in the end.
type Liveness struct{}

// Name implements [Checker].
func (Liveness) Name() string { return "liveness" }

// Doc implements [Checker].
func (Liveness) Doc() string { return "no operation fails for good" }

// Needs implements [Declaring].
func (Liveness) Needs() Needs {
	return Needs{Seen: []Need{some("a client that calls or records anything",
		"let the program do something; a loop over Process.Rounds needs Rounds of the scenario", active)}}
}

// active reports whether an event shows that the code of a client does something. The kinds of what code does come
// before those of what happens to it.
func active(e *history.Event) bool {
	return e.Kind <= history.Reply || e.Kind == history.Heard
}

// Monitor implements [Monitored].
func (Liveness) Monitor() Monitor { return atEnd{} }

// Check implements [Checker].
func (l Liveness) Check(h *history.History) Verdict {
	for c := int32(1); int(c) <= h.Clients; c++ {
		if why, ok := h.Failed[c]; ok {
			return violated(l, -1, "c%d gave up: %s", c, why)
		}
	}
	return Verdict{}
}
