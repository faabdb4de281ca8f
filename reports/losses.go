package reports

import "zksim/model/history"

// losses finds the events that end all calls of their clients without an answer. In a history from the wire, whose
// answers have zxids, nothing else tells of such an end.
type losses struct {
	wire    bool
	several map[int32]bool // clients with several connections: their calls may be on another
}

func newLosses(h *history.History) losses {
	l := losses{several: map[int32]bool{}}
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Kind == history.Reply && e.Zxid > 0:
			l.wire = true
		case e.Kind == history.Session && e.Version > 0:
			l.several[e.Client] = true
		}
	}
	return l
}

// at reports whether an event is such an end.
func (l *losses) at(e *history.Event) bool {
	return l.wire && e.Kind == history.Session && e.Op == "StateDisconnected" && !l.several[e.Client]
}

// isPart reports whether an event is a part of a multi, of which a history from the wire tells before the multi itself,
// and which has no answer of its own.
func isPart(e *history.Event) bool { return e.Kind == history.Call && e.Op == "multi" && e.Path != "" }
