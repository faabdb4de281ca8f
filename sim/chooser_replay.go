package sim

import (
	"fmt"
	"strings"

	"zksim/internal/edit"
	"zksim/internal/hash"
)

// Replay chooses what a schedule says. After the last name it goes calm and then takes clients and servers in turn
// until nothing is left to happen, so that a shortened schedule is also a complete run.
type Replay struct {
	Names []string
	// Loose skips names that are not possible, instead of failing. Taken is then how many of the names happened; they are
	// the first of the run.
	Loose bool
	Taken int
	// Then, if not nil, chooses after the last name.
	Then Chooser

	next int
	buf  []byte
	turn int
}

// NotEnabledError says that a schedule does not fit: the transition at Index of its names was not possible.
type NotEnabledError struct {
	Index   int
	Name    string
	Enabled []string
}

// Error names the transition and what was possible.
func (e *NotEnabledError) Error() string {
	text := fmt.Sprintf("step %d: %.200q is not possible here; possible: %s", e.Index+1, e.Name,
		strings.Join(e.Enabled, ", "))
	if nearest := e.nearest(); nearest != "" {
		text += "; nearest: " + nearest
	}
	return text
}

// nearest returns the possible transition that the name may have meant: the one that needs the fewest changes of
// letters, where the same verb counts in its favor.
func (e *NotEnabledError) nearest() string {
	verb, _, _ := strings.Cut(e.Name, " ")
	best, fewest := "", len(verb)/2+1
	for _, name := range e.Enabled {
		n := edit.Distance(name, e.Name)
		if strings.HasPrefix(name, verb+" ") {
			n /= 2
		}
		if n < fewest {
			best, fewest = name, n
		}
	}
	if len(e.Enabled) < 2 {
		return ""
	}
	return best
}

// Choose implements [Chooser].
func (r *Replay) Choose(w *World) (Transition, bool, error) {
	for ; r.next < len(r.Names); r.next++ {
		if t, ok := r.find(w, r.Names[r.next]); ok {
			r.next++
			r.Taken++
			return t, true, nil
		}
		if !r.Loose {
			return Transition{}, false, r.misfit(w)
		}
	}
	if r.Then != nil {
		return r.Then.Choose(w)
	}
	return r.complete(w)
}

// find returns the possible transition with that name.
func (r *Replay) find(w *World, name string) (Transition, bool) {
	if name == verbs[Calm] && !w.calm { // always possible
		return Transition{Kind: Calm}, true
	}
	for _, list := range [...][]Transition{w.Normal(), w.Faults()} {
		for _, t := range list {
			if r.buf = w.AppendName(r.buf[:0], t); string(r.buf) == name {
				return t, true
			}
		}
	}
	return Transition{}, false
}

func (r *Replay) misfit(w *World) error {
	e := &NotEnabledError{Index: r.next, Name: r.Names[r.next]}
	for _, list := range [...][]Transition{w.Normal(), w.Faults()} {
		for _, t := range list {
			e.Enabled = append(e.Enabled, w.Name(t))
		}
	}
	if e.Enabled == nil {
		e.Enabled = []string{"nothing, the run is over"}
	}
	return e
}

// complete is the fair scheduler of what a schedule leaves open.
func (r *Replay) complete(w *World) (Transition, bool, error) {
	list := w.Normal()
	if len(list) == 0 {
		return Transition{}, false, nil
	}
	if !w.calm {
		return Transition{Kind: Calm}, true, nil
	}
	r.turn++
	if w.choosing != nil { // a loop that asks once in so many steps would always get the same number
		return list[hash.Mix(uint64(r.turn))%uint64(len(list))], true, nil
	}
	return list[r.turn%len(list)], true, nil
}
