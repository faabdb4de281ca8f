package ensemble

import (
	"zksim/checkers"
	"zksim/model/history"
)

// moment is when a timer of a program has fired, with the faults over.
type moment struct {
	at    int  // how many events were before it
	still bool // nothing went on, as far as anybody knew
}

// count returns how many events there are.
//
//zksim:ignore only on a real ensemble
func (h *liveHost) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.history.Events)
}

// moment takes note that a timer fires, and of what is told then, if there are still n events and no program is in a
// step; it reports whether that is so.
//
//zksim:ignore only on a real ensemble
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

// hurries takes note that a timer fires although something may be going on.
//
//zksim:ignore only on a real ensemble
func (h *liveHost) hurries() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.moments = append(h.moments, moment{len(h.history.Events), false})
}

// hindsight is what is seen of a history only when it has ended.
type hindsight struct {
	moved bool         // the calm begins elsewhere
	calm  int          // before this event; -1: never
	void  map[int]bool // events of those that were not at rest
}

// lookBack finds the moments at which a notification was on its way: nobody can tell earlier what a server has not sent
// yet. Checkers take it that from the calm on time passes only when nothing else can happen. So the calm begins at the
// first moment after those at which that is not true, and who was at rest at such a moment was not.
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

// sent returns for each event, and for the end, how many events were before the first of the changes that
// notifications are about which come there or later.
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
			since[i] = min(since[i], place[e.Zxid]) // of a change that nobody knows of: it has always been on its way
		}
	}
	return since
}

// before returns what comes before event i beside it, and whether it is to be left out.
func (p *hindsight) before(i int, e *history.Event) (more []history.Event, void bool) {
	if p.moved && i == p.calm {
		more = []history.Event{{Kind: history.Calm}}
	}
	return more, p.void[i] || p.moved && e.Kind == history.Calm
}
