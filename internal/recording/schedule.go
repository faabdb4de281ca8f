package recording

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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
// that sessions have left, and those of clients after the first ones, which sent no requests.
func trimmed(r *serve.Recording, clients int) (steps []string) {
	last := map[string]int{} // where a client was served last
	for i, name := range r.Steps {
		if who, ok := strings.CutPrefix(name, "serve "); ok {
			last[who] = i
		}
	}
	for i, name := range r.Steps {
		who, gone := strings.CutPrefix(name, "disconnect ")
		if gone && i > last[who] || strings.Contains(name, ".") || about(name) > clients {
			continue
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
		if f.helps < maxHelps && f.early(w, normal) {
			if t, ok := lead(w, normal, name); ok {
				f.helps++
				return t, true, nil
			}
		}
		for _, list := range [][]sim.Transition{normal, w.Faults()} {
			for _, t := range list {
				if w.Name(t) != name {
					continue
				}
				if q := w.Of(t); q == nil || !librarys(q.Op) { // otherwise the recording has no step for it
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

// early reports whether the next step ends a connection on which the client has yet to send what is served after that.
func (f *follower) early(w *sim.World, list []sim.Transition) bool {
	who, ends := strings.CutPrefix(f.steps[0], "disconnect ")
	if !ends {
		return false
	}
	served, connects := "serve "+who, "connect "+who+" "
	i := slices.IndexFunc(f.steps, func(s string) bool { return s == served || strings.HasPrefix(s, connects) })
	return i >= 0 && f.steps[i] == served &&
		!slices.ContainsFunc(list, func(t sim.Transition) bool { return w.Name(t) == served })
}

// lead returns a step that may lead to one that is not possible yet: the client's code goes on, it connects, its
// library hears something or is served by itself, or the servers catch up. Before a znode is reaped its time must pass.
func lead(w *sim.World, list []sim.Transition, name string) (sim.Transition, bool) {
	verb, who, _ := strings.Cut(name, " ")
	who, _, _ = strings.Cut(who, " ")
	words := []string{"run ", "deliver ", "connect ", "round ", "serve "}
	switch verb {
	case "connect": // not before nobody waits for that in vain
		words = []string{"round ", "deliver ", "run ", "serve "}
	case "reap":
		words = []string{"tick"}
	}
	for _, prefix := range append(words, "replicate") {
		if strings.HasSuffix(prefix, " ") {
			prefix += who
		}
		for _, t := range list {
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
