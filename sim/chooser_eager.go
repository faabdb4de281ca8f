package sim

// Eager makes things happen as soon as they can, for worlds of remote clients, in which time is real. The cost of a
// step does not depend on the number of clients.
type Eager struct {
	// Strike, if not nil, is asked before each step which of the possible faults strikes; false: none.
	Strike func(faults []Transition) (Transition, bool)
	// Hold, if not nil, reports whether a transition must wait. It is asked again each time.
	Hold func(t Transition) bool
	// Next, if not nil, is called before each step, and Step after it.
	Next, Step func(t Transition)

	held []*Client // that have a transition on hold
	due  []string  // containers and ttl znodes to be deleted, from the last look at all of them
}

// Begin makes the world track its clients' changes. Call it after [World.Reset] and before any client joins.
func (e *Eager) Begin(w *World) {
	w.tracks, e.held, e.due = true, e.held[:0], nil
}

// Settle makes steps until nothing more can happen now. Time does not pass, and faults do not end.
func (e *Eager) Settle(w *World) {
	for _, c := range e.held {
		c.invalidate()
	}
	e.held = e.held[:0]
	for e.strike(w) || e.serve(w) || e.replicate(w) || e.reap(w) {
	}
}

func (e *Eager) perform(w *World, t Transition) bool {
	if e.Next != nil {
		e.Next(t)
	}
	w.perform(t)
	if e.Step != nil {
		e.Step(t)
	}
	return true
}

func (e *Eager) holds(t Transition) bool { return e.Hold != nil && e.Hold(t) }

func (e *Eager) strike(w *World) bool {
	if e.Strike == nil {
		return false
	}
	list := w.Faults()
	if len(list) == 0 {
		return false
	}
	t, strikes := e.Strike(list)
	return strikes && e.perform(w, t)
}

// serve makes the next step of a client that has changed.
func (e *Eager) serve(w *World) bool {
	for len(w.invalidated) > 0 {
		c := w.invalidated[0]
		c.moves = c.enabled(c.moves[:0])
		for _, t := range c.moves {
			if !e.holds(t) {
				return e.perform(w, t)
			}
		}
		if len(c.moves) > 0 {
			e.held = append(e.held, c)
		}
		c.invalidated = false
		w.invalidated = w.invalidated[1:]
	}
	w.invalidated = w.invalidated[:0]
	return false
}

// replicate makes one server that is behind apply its next txn.
func (e *Eager) replicate(w *World) bool {
	if len(w.servers) == 1 {
		return false
	}
	for _, t := range w.appendServers(w.normal[:0]) {
		if !e.holds(t) {
			return e.perform(w, t)
		}
	}
	return false
}

// reap makes the leader delete the next container or ttl znode. It looks at all of them only when none is left from the
// last look, and not while Hold forbids it.
func (e *Eager) reap(w *World) bool {
	t := Transition{Kind: Reap}
	if e.holds(t) {
		return false
	}
	if len(e.due) == 0 {
		e.due = w.leader().store.Reapable(w.wall())
	}
	if len(e.due) == 0 {
		return false
	}
	w.dying, e.due = e.due[0], e.due[1:]
	return e.perform(w, t)
}
