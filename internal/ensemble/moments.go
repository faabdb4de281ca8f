//zksim:ignore only on a real ensemble
package ensemble

import (
	"zksim/checkers"
	"zksim/model/history"
)

// moment is a firing of a timer of a program after the faults.
type moment struct {
	at    int  // number of events before it
	still bool // nothing went on, as far as was known then
}

// count returns how many events there are.
func (h *liveHost) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.history.Events)
}

// moment records that a timer fires, and the events in told, if there are still n events and no program is in a step.
// It reports whether that is so.
func (h *liveHost) moment(n int, told []history.Event) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.history.Events) != n || h.working > 0 {
		return false
	}
	h.moments = append(h.moments, moment{n, true})
	for _, e := range told {
		h.add(e)
	}
	return true
}

// hurries records that a timer fires although something may be going on.
func (h *liveHost) hurries() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.moments = append(h.moments, moment{len(h.history.Events), false})
}

// hindsight is what is known about a history only when it has ended.
type hindsight struct {
	moved bool         // the calm begins somewhere else
	calm  int          // before this event; -1: never
	void  map[int]bool // events of programs that were not at rest
}

// lookBack finds the moments at which a notification was on its way. This is only known later, because nobody can tell
// what a server has not sent yet. Checkers assume that from the calm on time passes only when nothing else can happen.
// So the calm begins at the first moment after the last one at which that is not true, and a program that rested at
// such a moment was not at rest.
func lookBack(h *liveHost, groups []group) hindsight {
	past := hindsight{void: map[int]bool{}}
	events, since := h.history.Events, sent(h.history.Events, groups)
	for _, m := range h.moments {
		switch {
		case !m.still || since[m.at] <= m.at:
			past.moved, past.calm = true, -1
			if m.at < len(events) && events[m.at].Op == checkers.ToldRest {
				past.void[m.at] = true
			}
		case past.moved && past.calm < 0:
			past.calm = m.at
		}
	}
	return past
}

// sent returns, for each event and for the end, how many events come before the first change that a notification from
// there on is about.
func sent(events []history.Event, groups []group) []int {
	place := map[int64]int{}
	for i := range groups {
		place[groups[i].txn.Zxid] = groups[i].present
	}
	since := make([]int, len(events)+1)
	since[len(events)] = len(events) + 1
	for i := len(events) - 1; i >= 0; i-- {
		since[i] = since[i+1]
		if e := &events[i]; e.Kind == history.Notify {
			since[i] = min(since[i], place[e.Zxid]) // 0 for an unknown change: it has always been on its way
		}
	}
	return since
}

// before returns the events to add before event i, and whether to leave out event i.
func (p *hindsight) before(i int, e *history.Event) (more []history.Event, void bool) {
	if p.moved && i == p.calm {
		more = []history.Event{{Kind: history.Calm}}
	}
	return more, p.void[i] || p.moved && e.Kind == history.Calm
}
