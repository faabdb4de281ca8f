package sim

import (
	"fmt"
	"strings"
)

// Replay chooses what a schedule says. After the last name it goes calm and then
// takes clients and servers in turn until nothing is left to happen, so a
// shortened schedule is a complete run.
type Replay struct {
	Names []string
	next  int
	buf   []byte
	turn  int
}

// NotEnabledError says that a schedule does not fit: the transition at Index of
// the names was not possible.
type NotEnabledError struct {
	Index   int
	Name    string
	Enabled []string
}

// Error names the transition and what would have been possible.
func (e *NotEnabledError) Error() string {
	return fmt.Sprintf("step %d: %q is not possible here; possible: %s", e.Index+1, e.Name, strings.Join(e.Enabled, ", "))
}

// Choose implements [Chooser].
func (r *Replay) Choose(w *World) (Transition, bool, error) {
	if r.next >= len(r.Names) {
		return r.complete(w)
	}
	name := r.Names[r.next]
	if name == verbs[Calm] && !w.calm { // always possible
		r.next++
		return Transition{Kind: Calm}, true, nil
	}
	normal, faults := w.Normal(), w.Faults()
	for _, list := range [][]Transition{normal, faults} {
		for _, t := range list {
			if r.buf = w.AppendName(r.buf[:0], t); string(r.buf) == name {
				r.next++
				return t, true, nil
			}
		}
	}
	if len(normal) == 0 && len(faults) == 0 {
		return Transition{}, false, &NotEnabledError{r.next, name, []string{"nothing, the run is over"}}
	}
	e := &NotEnabledError{Index: r.next, Name: name}
	for _, t := range normal {
		e.Enabled = append(e.Enabled, w.Name(t))
	}
	for _, t := range faults {
		e.Enabled = append(e.Enabled, w.Name(t))
	}
	return Transition{}, false, e
}

// complete is the fair scheduler for what a schedule leaves open.
func (r *Replay) complete(w *World) (Transition, bool, error) {
	list := w.Normal()
	if len(list) == 0 {
		return Transition{}, false, nil
	}
	if !w.calm {
		return Transition{Kind: Calm}, true, nil
	}
	r.turn++
	return list[r.turn%len(list)], true, nil
}
