package nemesis

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"zksim/faults"
)

// strike is one blow of a fault: when it comes, and what else the seed decides about it.
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

// at is the request, for comparison.
func (s *strike) at() strike { return strike{client: s.client, nth: s.nth, write: s.write} }

// Where requests are drawn from: the first so many that fit.
const (
	anyRequests   = 10
	aimedRequests = 3 // at an operation or path, or writes
)

// drawTries bounds how often a part of a plan is drawn until it is not empty.
const drawTries = 64

// Draw draws the part of a plan that a seed has, as in the simulator, but never nothing of a plan that is not empty.
// The rules that are left out stay in their places, with a budget of 0.
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

// draw returns when the rules of a plan strike. Each rule has random numbers of its own, so that the same rule strikes
// the same requests in a plan with others.
func draw(p faults.Plan, seed uint64, clients int) []strike {
	var all []strike
	places := map[string]uint64{}
	for i, r := range p {
		word := r.Fault
		places[word]++ // of the rules of one fault
		random := rand.NewPCG(seed, faultNumber(word)<<8|places[word])
		taken := map[strike]bool{}
		for range r.Budget { // or until there are no more requests
			s := strike{rule: i}
			for range drawTries {
				s.client, s.nth, s.salt = pick(r, clients, random), r.Aim.Nth, random.Uint64()
				if s.nth == 0 {
					// half of what is aimed at nothing in particular is aimed at writes, which matter most
					s.write = r.Aim.Op == "" && s.salt>>40%2 == 0
					s.nth = 1 + int(random.Uint64()%uint64(span(r, s.write)))
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

func span(r faults.Rule, write bool) int {
	if r.Aim.Op != "" || r.Aim.Path != "" || write {
		return aimedRequests
	}
	return anyRequests
}

func pick(r faults.Rule, clients int, random *rand.PCG) int {
	k := 1 + int(random.Uint64()%uint64(clients))
	if r.Aim.Client > 0 {
		return r.Aim.Client
	}
	return k
}

// faultNumber is the place of a fault among those of real ensembles.
func faultNumber(name string) uint64 {
	for i := range faults.RealTable {
		if faults.RealTable[i].Name == name {
			return uint64(i + 1)
		}
	}
	panic("nemesis: no fault named " + name)
}
