package nemesis

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
)

// strike is one strike of a fault: when it comes, and what else the seed decides about it.
type strike struct {
	rule   int    // in the plan
	client int    // the request is one of this client
	nth    int    // that fits the rule
	write  bool   // and is a write
	salt   uint64 // for the rest
	done   bool
}

func (s *strike) String() string {
	what := "request"
	if s.write {
		what = "write"
	}
	return fmt.Sprintf("c%d's %s %d", s.client, what, s.nth)
}

// at identifies the request, for comparison.
func (s *strike) at() strike { return strike{client: s.client, nth: s.nth, write: s.write} }

// How many requests that fit, from the first one, a strike is drawn from.
const (
	anyRequests   = 10
	aimedRequests = 3 // at an operation or path, or writes
)

// drawTries bounds how often a part of a plan is drawn until it is not empty.
const drawTries = 64

// Draw draws the part of a plan for a seed, like the simulator, but never an empty part of a plan that is not empty.
// Rules that are left out stay in their places, with a budget of 0.
func Draw(p faults.Plan, seed uint64) faults.Plan {
	random := rand.NewPCG(seed, 0)
	for range drawTries {
		q, some := slices.Clone(p), false
		for i := range q {
			switch x := random.Uint64() >> 1; {
			case x&1 == 0:
				q[i].Budget = 0
			case q[i].Budget > 0:
				q[i].Budget = 1 + int(x>>1%uint64(q[i].Budget))
				some = true
			}
		}
		if some {
			return q
		}
	}
	return p
}

// Part returns the rules of a plan that have a budget.
func Part(p faults.Plan) (part faults.Plan) {
	for _, r := range p {
		if r.Budget > 0 {
			part = append(part, r)
		}
	}
	return part
}

// draw returns when the rules of a plan strike: at requests that clients make in the usual run, if that is known. Each
// rule has its own random numbers, so it strikes the same requests whatever other rules the plan has.
func draw(p faults.Plan, seed uint64, clients int, usual *history.History) []strike {
	var all []strike
	places := map[string]uint64{}
	for i, r := range p {
		word := r.Fault
		places[word]++ // of the rules of one fault
		random := rand.NewPCG(seed, faultNumber(word)<<8|places[word])
		taken, made := map[strike]bool{}, fitting(&r, clients, usual)
		for range r.Budget { // or until there are no more requests
			s := strike{rule: i}
			for range drawTries {
				s.client, s.nth, s.salt = pick(&r, clients, random, made), r.Aim.Nth, random.Uint64()
				if s.nth == 0 {
					// half of the strikes without an aim go to writes, which matter most
					n := made[s.client]
					s.write = r.Aim.Op == "" && s.salt>>40%2 == 0 && (n.all == 0 || n.writes > 0)
					s.nth = 1 + int(random.Uint64()%uint64(n.span(&r, s.write)))
				}
				if !taken[s.at()] {
					break
				}
			}
			if taken[s.at()] {
				break // there are no more
			}
			taken[s.at()] = true
			all = append(all, s)
		}
	}
	return all
}

// made is how many requests of a client fit a rule, and how many of these are writes; 0: none, or unknown.
type made struct{ all, writes int }

// fitting returns how many requests fit a rule in the usual run, by client. A rule may name a client that does not
// exist.
func fitting(r *faults.Rule, clients int, usual *history.History) []made {
	list := make([]made, max(clients, r.Aim.Client)+1)
	if usual == nil {
		return list
	}
	for i := range usual.Events {
		e := &usual.Events[i]
		if e.Kind != history.Call || int(e.Client) >= len(list) || !r.Aim.Fits(e.Op, e.Path) || e.Op == closing {
			continue
		}
		list[e.Client].all++
		if slices.ContainsFunc(writes, func(op model.Op) bool { return op.String() == e.Op }) {
			list[e.Client].writes++
		}
	}
	return list
}

// closing is the operation that no fault strikes.
var closing = model.OpCloseSession.String()

// span returns from how many requests a strike is drawn.
func (m made) span(r *faults.Rule, write bool) int {
	most, n := anyRequests, m.all
	if r.Aim.Op != "" || r.Aim.Path != "" || write {
		most = aimedRequests
	}
	if write {
		n = m.writes
	}
	if n > 0 {
		return min(n, most)
	}
	return most
}

// pick draws a client from those known to make requests that are struck, or from all if none is known.
func pick(r *faults.Rule, clients int, random *rand.PCG, made []made) int {
	var able []int
	for k := 1; k <= clients; k++ {
		if made[k].all >= max(r.Aim.Nth, 1) {
			able = append(able, k)
		}
	}
	x := random.Uint64()
	switch {
	case r.Aim.Client > 0:
		return r.Aim.Client
	case len(able) > 0:
		return able[x%uint64(len(able))]
	}
	return 1 + int(x%uint64(clients))
}

// faultNumber is the position of a fault among those of real ensembles.
func faultNumber(name string) uint64 {
	for i := range faults.RealTable {
		if faults.RealTable[i].Name == name {
			return uint64(i + 1)
		}
	}
	panic("nemesis: no fault named " + name)
}
