package sim

import "slices"

// What exhaustive search must know about transitions that concern only one client.

// Busy returns the same as [World.Normal], except that time passes only when nothing else can happen, and that the
// faults may also end then.
func (w *World) Busy() []Transition {
	list := w.Normal()
	if len(list) > 0 && list[0].Kind == Tick {
		if !w.calm {
			list = append(list, Transition{Kind: Calm})
			w.normal = list
		}
		return list
	}
	for n := len(list); n > 0 && list[n-1].Kind == Tick; n-- {
		list = list[:n-1]
	}
	return list
}

// Ticks returns the ways in which time can pass although something else can happen; none once faults are over.
func (w *World) Ticks() []Transition {
	if w.calm {
		return nil
	}
	return w.appendTicks(nil)
}

// Timed reports whether a timer of the client's code is pending.
func (c *Client) Timed() bool {
	return slices.ContainsFunc(c.w.timers, func(t *timer) bool { return t.owner() == c })
}

// Opening returns the ways in which the first client that never had a connection can get one; none if there is no such
// client.
func (w *World) Opening() (list []Transition) {
	for _, c := range w.clients {
		if c.sessions > 0 || c.closed || c != c.host { // another connection belongs to a program that has begun
			continue
		}
		for _, t := range w.Normal() {
			if t.Kind == Connect && int(t.Client) == c.id {
				list = append(list, t)
			}
		}
		if len(list) > 0 {
			break
		}
	}
	return list
}

// Local reports whether t, which must be one of w.Normal(), changes only its client, that client's connection, and what
// client code writes to the history. With several servers a connection is not local: where it is possible depends on
// what the servers have applied.
func (w *World) Local(t Transition) bool {
	switch t.Kind {
	case Run, Deliver, Round, Resume, Undelay, Choose:
		return true
	case Connect:
		return len(w.servers) == 1
	}
	return false
}

// Served reports whether a server has taken a request of the client.
func (c *Client) Served() bool { return c.served }

// Prompt returns the next step of code that continues at once: the step of the oldest coroutine that can continue, of
// the first client that has one. A program begins when it likes. Code that has stopped of its own accord, by
// Env.Yield, Env.Now or a sleep of no time, also continues when it likes. Code is that quick if its steps take no time
// compared to messages. With slowWakes, code woken by an event, the end of its context, or a lost connection also
// continues when it likes.
func (w *World) Prompt(slowWakes bool) (Transition, bool) {
	if w.choosing != nil {
		return Transition{}, false
	}
	for _, c := range w.clients {
		if c.paused {
			continue
		}
		for _, g := range c.coroutines {
			if g.status == runnable && !g.slow && !(slowWakes && g.woken) {
				return Transition{Run, uint32(c.id), uint16(g.name)}, true
			}
		}
	}
	return Transition{}, false
}
