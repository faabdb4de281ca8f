package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// Answer is the result of a search.
type Answer struct {
	Schedule engine.Schedule // it has no names of transitions if none was found
	Runs     int
	// Whole says that the search has tried everything: there is no such run with these faults, servers and order.
	Whole bool
	// Got is how many of All sights the best run has, and Stuck the first one that it lacks.
	Got, All int
	Stuck    string
}

// Found reports whether there is such a run.
func (a *Answer) Found() bool { return a.Got == a.All }

// Search looks for a run of the scenario, in the circumstances of p, in which the clients see what the clients of h
// saw. It tries transitions depth first, beginning with those that h suggests, and gives up after that many runs. It
// fails if h has nothing that a client could see, or other clients than the scenario, and with a [*sim.Misuse].
func Search(ctx context.Context, s *engine.Scenario, p engine.Schedule, h *history.History, runs int) (*Answer, error) {
	w := newWanted(h)
	clients, _ := s.Size(&p)
	if w.total == 0 {
		return nil, errors.New("the history has nothing that a client does or sees")
	}
	if h.Clients > clients {
		return nil, fmt.Errorf("the history has %s, and the scenario %d", history.Counted(h.Clients, "client"), clients)
	}
	r := engine.NewRunner()
	defer r.Close()
	x := &search{wanted: w, known: map[state]bool{}, answer: Answer{All: w.total, Got: -1}}
	for x.answer.Runs < runs && ctx.Err() == nil {
		x.begin()
		res, err := r.Explore(s, p, x)
		x.answer.Runs++
		switch {
		case errors.Is(err, errFound):
			r.Names(&res)
			x.answer.Schedule = res.Schedule
			return &x.answer, nil
		case err != nil && !errors.Is(err, errDead):
			return nil, err
		case res.Misuse != nil:
			return nil, res.Misuse
		}
		if !x.back() {
			x.answer.Whole = true
			break
		}
	}
	return &x.answer, nil
}

var (
	errFound = errors.New("explain: all was seen")
	errDead  = errors.New("explain: something else was seen")
)

// state is a state of the world, with how much of what is wanted was seen on the way to it.
type state struct {
	world uint64
	seen  string
}

// search is a chooser. It repeats the path to where it left off, and goes on from there.
type search struct {
	*wanted
	path   []branch
	depth  int
	read   int             // events of the run in progress
	seen   []int           // by client
	unsent []history.Event // calls that wait for a connection: on the wire nobody would have heard them yet
	known  map[state]bool
	answer Answer
}

// branch is a point on the path, with what was possible there, the most promising first.
type branch struct {
	names []string
	at    int
}

func (x *search) begin() {
	x.depth, x.read, x.unsent = 0, 0, x.unsent[:0]
	x.seen = make([]int, len(x.byOne))
}

// back goes to the next path that was not tried; false: there is none.
func (x *search) back() bool {
	for len(x.path) > 0 {
		last := &x.path[len(x.path)-1]
		if last.at++; last.at < len(last.names) {
			return true
		}
		x.path = x.path[:len(x.path)-1]
	}
	return false
}

// Choose implements [sim.Chooser].
func (x *search) Choose(w *sim.World) (sim.Transition, bool, error) {
	if err := x.look(w); err != nil {
		return sim.Transition{}, false, err
	}
	list := append(slices.Clone(w.Normal()), w.Faults()...)
	if x.depth == len(x.path) {
		if x.visited(w) {
			return sim.Transition{}, false, errDead
		}
		names := x.order(w, list)
		if len(names) == 0 {
			return sim.Transition{}, false, errDead
		}
		x.path = append(x.path, branch{names: names})
	}
	b := &x.path[x.depth]
	x.depth++
	for _, t := range list {
		if w.Name(t) == b.names[b.at] {
			return t, true, nil
		}
	}
	panic("explain: a transition is gone on the same way: " + b.names[b.at])
}

// look compares what clients have seen since the last look with what is wanted.
func (x *search) look(w *sim.World) error {
	waiting := x.unsent
	x.unsent = nil
	for i := range waiting {
		if !x.called(w, &waiting[i]) {
			return errDead
		}
	}
	for ; x.read < len(w.History.Events); x.read++ {
		e := &w.History.Events[x.read]
		ok := true
		switch {
		case x.wire && e.Kind == history.Call:
			ok = x.called(w, e)
		case x.wire && e.Kind == history.Reply:
			ok = x.ended(e) && x.match(e)
		default:
			ok = x.match(e)
		}
		if !ok {
			return errDead
		}
	}
	return x.count()
}

// called matches a call if it was sent, otherwise keeps it until it is; false: something else is wanted.
func (x *search) called(w *sim.World, e *history.Event) bool {
	failed := slices.ContainsFunc(w.History.Events[x.read:], func(r history.Event) bool {
		return unanswered(&r) && r.Client == e.Client && r.Op == e.Op && r.Path == e.Path
	})
	if failed { // its coroutine now does something else
		x.unsent = append(x.unsent, *e)
		return true
	}
	for _, t := range w.Client(int(e.Client)).Tasks() {
		if q := t.Request; q != nil && t.Doing != sim.Unsent && sim.OpName(q) == e.Op && q.Path == e.Path {
			return x.match(e)
		}
	}
	x.unsent = append(x.unsent, *e)
	return true
}

// ended forgets the call that has this end, if it was kept; false: it was answered, and something else is wanted.
func (x *search) ended(e *history.Event) bool {
	i := slices.IndexFunc(x.unsent, func(c history.Event) bool {
		return c.Client == e.Client && c.Op == e.Op && strings.HasPrefix(e.Path, c.Path)
	})
	if i < 0 {
		return true
	}
	call := x.unsent[i]
	x.unsent = slices.Delete(x.unsent, i, i+1)
	return unanswered(e) || x.match(&call)
}

// match reports whether an event is what its client should see next.
func (x *search) match(e *history.Event) bool {
	s, ok := see(e)
	switch {
	case !ok:
		return true
	case int(s.client) >= len(x.byOne):
		return false
	}
	n := x.seen[s.client]
	if n == len(x.byOne[s.client]) {
		return true // the record ends before
	}
	x.seen[s.client]++
	return x.byOne[s.client][n] == s
}

// count notes how much was seen; errFound: everything.
func (x *search) count() error {
	got := 0
	for _, n := range x.seen {
		got += n
	}
	if got > x.answer.Got {
		x.answer.Got = got
		if i := x.next(); i < len(x.h.Events) {
			x.answer.Stuck = x.h.Events[i].String()
		}
	}
	if got == x.total {
		return errFound
	}
	return nil
}

// next is the position in the history of the first event that was not seen yet.
func (x *search) next() int {
	first := len(x.h.Events)
	for c, n := range x.seen {
		if n < len(x.place[c]) {
			first = min(first, x.place[c][n])
		}
	}
	return first
}

// visited reports whether the search was in this state before: then it is useless to go on.
func (x *search) visited(w *sim.World) bool {
	k := state{w.Fingerprint(), fmt.Sprint(x.seen)}
	if x.known[k] {
		return true
	}
	x.known[k] = true
	return false
}

// order returns the names of what is possible, beginning with what the history suggests.
func (x *search) order(w *sim.World, list []sim.Transition) []string {
	type ranked struct {
		name string
		rank int
	}
	hints := x.hints()
	var all []ranked
	for _, t := range list {
		name := w.Name(t)
		rank := len(hints)
		for i, h := range hints {
			if name == h || strings.HasPrefix(name, h+" ") || strings.HasPrefix(name, h+"/") {
				rank = i
				break
			}
		}
		if rank == len(hints) {
			rank += cost(t)
		}
		all = append(all, ranked{name, rank})
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return a.rank - b.rank })
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].name
	}
	return names
}

// cost ranks transitions that change more after those that change less.
func cost(t sim.Transition) int {
	switch {
	case t.Kind >= sim.FirstFault:
		return 3
	case t.Kind == sim.Tick || t.Kind == sim.Calm:
		return 2
	case t.Kind == sim.Replicate:
		return 0
	}
	return 1
}

// hints are prefixes of the names of transitions that lead to what the history has next, and to what was committed and
// struck before that.
func (x *search) hints() (list []string) {
	end := x.next()
	begin := 0
	for c, n := range x.seen {
		if n > 0 {
			begin = max(begin, x.place[c][n-1]+1)
		}
	}
	for i := min(begin, end); i <= end && i < len(x.h.Events); i++ {
		e := &x.h.Events[i]
		who := fmt.Sprintf(" c%d", e.Client)
		switch e.Kind {
		case history.Fault:
			list = append(list, e.Op)
		case history.Created, history.Changed, history.Deleted:
			if e.Client > 0 {
				list = append(list, "serve"+who)
			} else {
				list = append(list, "expire")
			}
		case history.Session:
			list = append(list, "connect"+who)
		case history.Calm:
			list = append(list, "calm")
		}
	}
	if end < len(x.h.Events) {
		who := fmt.Sprintf(" c%d", x.h.Events[end].Client)
		if k := x.h.Events[end].Kind; k == history.Reply || k == history.Notify {
			list = append(list, "deliver"+who, "serve"+who, "run"+who)
		} else {
			list = append(list, "run"+who, "deliver"+who, "serve"+who)
		}
		list = append(list, "connect"+who)
	}
	return list
}
