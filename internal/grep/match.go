package grep

import (
	"fmt"
	"slices"
	"strings"

	"zksim/model/history"
)

// Moment is something that happened in a run: an event of its history, or a transition.
type Moment struct {
	Step   int
	Client int32          // 0: none
	Verb   string         // of a transition or a fault
	Arg    string         // ... its server or number; "": none
	Name   string         // of a transition
	Event  *history.Event // nil: it is a transition
}

// String says what happened, with the step if there is one.
func (m Moment) String() string {
	text := m.Name
	if m.Event != nil {
		text = m.Event.String()
	}
	if m.Step > 0 {
		return fmt.Sprintf("step %d: %s", m.Step, text)
	}
	return text
}

// Moments returns a run in order: its transitions, if there are any, and its events. They are valid as long as h is.
func Moments(h *history.History, names []string) []Moment {
	list := make([]Moment, 0, len(h.Events)+len(names))
	next := 0
	for step := 0; step <= len(names); step++ {
		if step > 0 && !struck(h.Events[next:], step) {
			list = append(list, transition(step, names[step-1]))
		}
		for ; next < len(h.Events) && (int(h.Events[next].Step) <= step || len(names) == 0); next++ {
			e := &h.Events[next]
			m := Moment{Step: int(e.Step), Client: e.Client, Event: e}
			if e.Kind == history.Fault {
				x := transition(m.Step, e.Op)
				m.Verb, m.Arg = x.Verb, x.Arg
			}
			list = append(list, m)
		}
	}
	return list
}

// struck reports whether an event tells of the transition of a step: a fault, or calm.
func struck(events []history.Event, step int) bool {
	for i := 0; i < len(events) && int(events[i].Step) <= step; i++ {
		if k := events[i].Kind; int(events[i].Step) == step && (k == history.Fault || k == history.Calm) {
			return true
		}
	}
	return false
}

// transition returns the transition of a step.
func transition(step int, name string) Moment {
	verb, rest, _ := strings.Cut(name, " ")
	m := Moment{Step: step, Verb: verb, Name: name}
	fmt.Sscanf(rest, "c%d", &m.Client)
	if last := rest[strings.LastIndexByte(rest, ' ')+1:]; argumentOf(last) != nothing {
		m.Arg = last
	}
	return m
}

// Find returns the moments of the first place at which a pattern is found, or nil: one for each clause, except those
// with before.
func (p *Pattern) Find(run []Moment) []Moment {
	x := &search{Pattern: p, run: run, clients: make([]int32, len(p.clients)+1), dead: map[place]bool{}}
	if !x.from(0, 0) {
		return nil
	}
	var found []Moment
	for _, i := range x.found {
		found = append(found, run[i])
	}
	return found
}

// search is a Find in progress.
type search struct {
	*Pattern
	run     []Moment
	clients []int32 // what variables stand for; 0: nothing yet
	found   []int
	dead    map[place]bool // where the rest is not found; without it many clauses take exponential time
}

// place is everything that the rest of a search depends on.
type place struct {
	clause, at, first int // first is 0 if no clause looks back to where the search began
	clients           string
}

// from finds the clauses from the i-th on, after the moments that were found.
func (x *search) from(i, at int) bool {
	here := place{clause: i, at: at, clients: fmt.Sprint(x.clients)}
	if len(x.found) > 0 && slices.ContainsFunc(x.clauses, func(c clause) bool { return c.before }) {
		here.first = x.found[0]
	}
	if x.dead[here] {
		return false
	}
	x.dead[here] = !x.rest(i, at)
	return !x.dead[here]
}

// rest is from, without a remembered result.
func (x *search) rest(i, at int) bool {
	for i < len(x.clauses) && x.clauses[i].before {
		i++
	}
	if i == len(x.clauses) {
		return x.nothingBefore()
	}
	c := &x.clauses[i].what
	for k := at; k < len(x.run); k++ {
		if c.is(&x.run[k]) && x.take(c, i, k) {
			return true
		}
		if len(x.found) > 0 && x.ruledOut(k) {
			return false
		}
	}
	return false
}

// take takes a moment for clause i, and finds the rest after it.
func (x *search) take(c *event, i, k int) bool {
	bound, ok := x.bind(c, x.run[k].Client)
	if !ok {
		return false
	}
	x.found = append(x.found, k)
	if x.from(i+1, k+1) {
		return true
	}
	x.found = x.found[:len(x.found)-1]
	if bound {
		x.clients[c.variable] = 0
	}
	return false
}

// bind reports whether a client is the one in an event, and whether a variable now stands for it.
func (x *search) bind(e *event, client int32) (bound, ok bool) {
	switch {
	case e.variable == 0:
		return false, e.client == 0 || e.client == client
	case x.clients[e.variable] != 0:
		return false, x.clients[e.variable] == client
	case client == 0:
		return false, false
	}
	if slices.Contains(x.clients, client) { // another variable stands for it
		return false, false
	}
	x.clients[e.variable] = client
	return true, true
}

// nothingBefore reports whether nothing in the clauses with before has happened, now that all clients are known.
func (x *search) nothingBefore() bool {
	first, last := x.found[0], x.found[len(x.found)-1]
	for k := first + 1; k < last; k++ {
		if x.ruledOut(k) {
			return false
		}
	}
	return true
}

// ruledOut reports whether a clause with before excludes a moment. A variable that stands for nobody yet rules nothing
// out.
func (x *search) ruledOut(k int) bool {
	for i := range x.clauses {
		c := &x.clauses[i]
		who := c.what.client
		if c.what.variable > 0 {
			who = x.clients[c.what.variable]
		}
		if c.before && (who != 0 || c.what.variable == 0) && c.what.is(&x.run[k]) && (who == 0 || who == x.run[k].Client) {
			return true
		}
	}
	return false
}

// is reports whether a moment is what an event says, apart from the client.
func (e *event) is(m *Moment) bool {
	if !slices.ContainsFunc(e.words, func(p primary) bool { return p.is(m) }) {
		return false
	}
	v := m.Event
	if e.arg != "" && e.arg != m.Arg {
		return false
	}
	if v == nil {
		return e.op == "" && e.path == "" && !e.failed
	}
	if e.failed && v.Err == nil && (v.Kind != history.Write || v.OK) {
		return false
	}
	return e.sameOp(v) && (e.path == "" || like(e.path, v.Path))
}

// sameOp reports whether an event has the operation in the pattern.
func (e *event) sameOp(v *history.Event) bool {
	op := v.Op
	switch v.Kind {
	case history.Session:
		op = stateName(op)
	case history.Fault:
		op, _, _ = strings.Cut(op, " ")
	}
	return e.op == "" || e.op == op
}

// is reports whether a moment is what a word says.
func (p *primary) is(m *Moment) bool {
	v := m.Event
	switch p.class {
	case kindWord:
		return v != nil && v.Kind == p.kind
	case faultWord:
		return v != nil && v.Kind == history.Fault && m.Verb == p.name
	case stateWord:
		return v != nil && v.Kind == history.Session && stateName(v.Op) == p.name
	case transitionWord:
		return v == nil && m.Verb == p.name
	}
	return false
}

// like reports whether a text matches a pattern, in which * is any text.
func like(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	if len(parts) == 1 {
		return text == pattern
	}
	text = text[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		_, rest, ok := strings.Cut(text, part)
		if !ok {
			return false
		}
		text = rest
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}
