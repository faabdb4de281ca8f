package recording

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"zksim/faults"
	"zksim/scenarios/engine"
	"zksim/scenarios/serve"
	"zksim/sim"
)

// Schedule returns the schedule in which the scenario of a recording goes like the recording, with the steps in between
// that only simulated clients make.
func Schedule(s *engine.Scenario, r *serve.Recording) (engine.Schedule, error) {
	runner := engine.NewRunner()
	defer runner.Close()
	p := s.NewSchedule(1)
	p.Servers, p.Faults = r.Servers, s.Faults
	result, err := runner.Explore(s, p, &follower{steps: trimmed(r, s.Clients)})
	if err != nil {
		return p, err
	}
	if result.Misuse != nil {
		return p, result.Misuse
	}
	runner.Names(&result)
	p = result.Schedule
	for i, name := range p.Names {
		if name == "calm" { // after that the run goes on by itself
			p.Names = p.Names[:i]
			break
		}
	}
	return p, nil
}

// trimmed returns the steps of a recording without some: those of a client that goes at the end, those on connections
// that sessions have left, and those of clients after the first ones, which sent no requests. A fault that sends a
// client to another server only ends the connection: a simulated client would be there at once, the recorded one
// connects when and where it likes.
func trimmed(r *serve.Recording, clients int) (steps []string) {
	// The last step of a client but the ends of its connections, and whether the answer to its last request is unknown.
	last, open := map[int]int{}, map[int]bool{}
	for i, name := range r.Steps {
		if !strings.HasPrefix(name, "disconnect ") {
			last[about(name)] = i
		}
	}
	for i := range r.Requests {
		if x := &r.Requests[i]; serve.Played(&x.Request) {
			open[x.Client] = x.Open
		}
	}
	for i, name := range r.Steps {
		who := about(name)
		gone := strings.HasPrefix(name, "disconnect ") && i > last[who] && !open[who]
		if gone || strings.Contains(name, ".") || who > clients {
			continue
		}
		switch verb, _, _ := strings.Cut(name, " "); verb {
		case "failover":
			name = fmt.Sprintf("reset c%d", who)
		case "late-commit":
			steps = append(steps, fmt.Sprintf("serve c%d", who))
			name = fmt.Sprintf("reset c%d", who)
		}
		steps = append(steps, name)
	}
	return steps
}

// follower chooses the steps of a recording, and between them the steps that lead to the next one.
type follower struct {
	steps []string
	helps int // steps since the last one of the recording
	rest  sim.Replay
}

// maxHelps is how many steps may lead to one of the recording. If that is still not possible, it is left out.
const maxHelps = 12

// Choose implements [sim.Chooser].
func (f *follower) Choose(w *sim.World) (sim.Transition, bool, error) {
	for len(f.steps) > 0 {
		name := f.steps[0]
		normal := w.Normal()
		if asked(w, name) {
			f.steps, f.helps = f.steps[1:], 0
			continue
		}
		for _, list := range [][]sim.Transition{normal, w.Faults()} {
			for _, t := range list {
				q := w.Of(t)
				if w.Name(t) != name || strikesLibrary(w, t) {
					continue
				}
				if q == nil || !librarys(q.Op) { // otherwise the recording has no step for it
					f.steps, f.helps = f.steps[1:], 0
				}
				return t, true, nil
			}
		}
		if t, ok := lead(w, normal, name); ok && f.helps < maxHelps {
			f.helps++
			return t, true, nil
		}
		f.steps, f.helps = f.steps[1:], 0
	}
	return f.rest.Choose(w)
}

// strikesLibrary reports whether a fault would strike a request of the library. A fault of the recording strikes none.
func strikesLibrary(w *sim.World, t sim.Transition) bool {
	c := w.Client(int(t.Client))
	if t.Kind < sim.FirstFault || c == nil {
		return false
	}
	q := faults.Table[t.Kind-sim.FirstFault].Struck(w, c)
	return q != nil && librarys(q.Op)
}

// asked reports whether a step of the recording is that a client asks for something, and its code in this run has done
// so. What happens next, as the end of the connection, may happen to that request.
func asked(w *sim.World, name string) bool {
	c := w.Client(about(name)) // nil if a file has a step of a client that has asked for nothing
	return c != nil && strings.HasPrefix(name, "ask ") && c.Calling()
}

// lead returns a step that may lead to one that is not possible yet: the client's code goes on, it connects, its
// library hears something or is served by itself, or the servers catch up. Before a znode is reaped its time must pass.
func lead(w *sim.World, list []sim.Transition, name string) (sim.Transition, bool) {
	verb, who, _ := strings.Cut(name, " ")
	who, _, _ = strings.Cut(who, " ")
	words, event := []string{"run ", "deliver ", "connect ", "round ", "serve "}, false
	switch verb {
	case "connect": // not before nobody waits for that in vain
		words = []string{"round ", "deliver ", "run ", "serve "}
	case "deliver", "watch-delay", "undelay": // the code does not go on for that: what it asks for next comes later
		words, event = []string{"serve ", "deliver "}, true
	case "reap":
		words = []string{"tick"}
	}
	for _, prefix := range append(words, "replicate") {
		if strings.HasSuffix(prefix, " ") {
			prefix += who
		}
		for _, t := range list {
			if q := w.Of(t); event && t.Client > 0 && (q == nil || !librarys(q.Op)) {
				continue
			}
			if x := w.Name(t); x == prefix || strings.HasPrefix(x, prefix+" ") || strings.HasPrefix(x, prefix+"/") {
				return t, true
			}
		}
	}
	return sim.Transition{}, false
}

// note says which operations of a recording are left out; "" if none are.
func note(r *serve.Recording) string {
	list := unplayed(r)
	var words []string
	for _, op := range slices.Sorted(maps.Keys(list)) {
		words = append(words, fmt.Sprintf("%d %s", list[op], op))
	}
	return strings.Join(words, ", ")
}
