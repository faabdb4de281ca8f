// Package recording makes a scenario of the requests that clients in any language have sent to a served ensemble
// (package serve). Each client gets a program that makes the same requests in the same order. In the schedule they come
// in the order of the recording, and the same faults strike them. So what was seen in another language can be replayed,
// shrunk and reported like a failure of ours.
//
// The package must not know where a recording comes from, or what a recipe is.
package recording

import (
	"fmt"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/scenarios/serve"
	"zksim/sim"
)

// Prefix begins the names of such scenarios; the file of the recording follows.
const Prefix = "recorded:"

// Load reads the recording in a file.
func Load(file string) (*engine.Scenario, engine.Schedule, error) {
	r, err := read(file)
	if err != nil {
		return nil, engine.Schedule{}, err
	}
	s, err := Scenario(Prefix+file, r)
	if err != nil {
		return nil, engine.Schedule{}, fmt.Errorf("%s: %w", file, err)
	}
	schedule, err := Schedule(s, r)
	if err != nil {
		return nil, schedule, fmt.Errorf("%s: %w", file, err)
	}
	return s, schedule, nil
}

// Scenario returns the scenario of a recording. It has as many rounds as the busiest client has requests; if a scenario
// cannot have so many, a round has several requests. With fewer rounds the last requests are left out. The safety phase
// may have twice as many steps as the recording, because code has to go on between these.
func Scenario(name string, r *serve.Recording) (*engine.Scenario, error) {
	lists := byClient(r)
	if len(lists) == 0 {
		return nil, fmt.Errorf("no client has asked for anything, expected requests")
	}
	most := 1
	for _, list := range lists {
		most = max(most, len(list))
	}
	part := (most + engine.MaxRounds - 1) / engine.MaxRounds
	s := &engine.Scenario{Name: name,
		Doc:     "what clients have asked " + history.Counted(r.Servers, "served server") + " for",
		Clients: len(lists), Rounds: (most + part - 1) / part, Servers: []int{r.Servers}, Like: r.Like,
		Faults:      plan(r, len(lists)),
		SafetySteps: max(sim.UsualSafetySteps, 2*len(r.Steps)), MaxSteps: max(sim.UsualMaxSteps, 4*len(r.Steps)),
		Checkers: []checkers.Checker{checkers.Steps{}}, Words: []string{toldAnswer}}
	if left := note(r); left != "" {
		*s = s.With(engine.Notes{Source: "left out, since no simulated code can ask for it: " + left})
	}
	leaves := leaving(r)
	s.Program = func(p *engine.Process) {
		if p.ID > len(lists) { // -clients asks for more; nobody knows what they would do
			return
		}
		list := lists[p.ID-1]
		play(p, list[:min(len(list), p.Rounds*part)], leaves[p.ID])
	}
	if len(r.Violations) > 0 {
		s.Finally = func(h *history.History) error { return again(r, h) }
	}
	return s, nil
}

// unplayed returns the operations of a recording that no code in the simulator can request, with how many of each there
// are.
func unplayed(r *serve.Recording) map[string]int {
	list := map[string]int{}
	for i := range r.Requests {
		if q := &r.Requests[i].Request; !serve.Played(q) && !librarys(q.Op) {
			list[unplayedName(q)]++
		}
	}
	return list
}

// unplayedName is the operation of such a request; for a multi, with the first part that cannot be requested.
func unplayedName(q *model.Request) string {
	if q.Op == model.OpMulti {
		if i := slices.IndexFunc(q.Ops, serve.Unplayed); i >= 0 {
			return "multi with " + sim.OpName(&q.Ops[i])
		}
	}
	return sim.OpName(q)
}

// byClient returns the requests of each client that a program can make, c1 first.
func byClient(r *serve.Recording) (lists [][]serve.Asked) {
	for _, x := range r.Requests {
		for len(lists) < x.Client {
			lists = append(lists, nil)
		}
		if serve.Played(&x.Request) {
			lists[x.Client-1] = append(lists[x.Client-1], x)
		}
	}
	return lists
}

// leaving returns the clients that have connected again and never set their watches again.
func leaving(r *serve.Recording) map[int]bool {
	list, connected := map[int]bool{}, map[int]bool{}
	for _, name := range r.Steps {
		if who := about(name); strings.HasPrefix(name, "connect ") {
			list[who], connected[who] = connected[who], true
		}
	}
	for i := range r.Requests {
		if x := &r.Requests[i]; librarys(x.Request.Op) {
			delete(list, x.Client)
		}
	}
	return list
}

// librarys reports whether the simulated library makes such requests by itself.
func librarys(op model.Op) bool {
	return op == model.OpSetWatches || op == model.OpSetWatches2 || op == model.OpPing
}

// about returns the number of the client that a step is about, or 0.
func about(step string) (client int) {
	_, who, _ := strings.Cut(step, " ")
	fmt.Sscanf(who, "c%d", &client)
	return client
}

// plan returns the faults that struck the first clients, those that have sent requests, as often as they struck.
func plan(r *serve.Recording, clients int) (p faults.Plan) {
	for _, name := range trimmed(r, clients) {
		word, _, _ := strings.Cut(name, " ")
		if !slices.ContainsFunc(faults.Table, func(f faults.Fault) bool { return f.Name == word }) {
			continue
		}
		x := faults.Rule{Fault: word, Budget: 1}
		x.Aim.Client = about(name)
		if i := slices.IndexFunc(p, func(y faults.Rule) bool { return y.Fault == word && y.Aim == x.Aim }); i >= 0 {
			p[i].Budget++
			continue
		}
		p = append(p, x)
	}
	return p
}
