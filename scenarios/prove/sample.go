package prove

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// usualSamples is how many random runs of a scope are judged before it is said to hold.
const usualSamples = 500

// maxSample is the length at which a random run is given up. What has no end is found by the search.
const maxSample = 5000

// OverlookedError says that a random run of a scope violates a checker although the search has come to the end of the
// scope and found nothing, so that what the search took for granted is not so.
type OverlookedError string

// Error implements error.
func (e OverlookedError) Error() string { return string(e) }

// sample makes random runs of a scope in which the search has found nothing, and judges them as a whole and without
// any reduction. It returns the checkers that had nothing to judge in any of them.
func (p *prover) sample(s *search) ([]engine.Idle, error) {
	n := p.Samples
	switch {
	case n < 0:
		return nil, nil
	case n == 0:
		n = usualSamples
	}
	r := engine.NewRunner()
	defer r.Close()
	x := *s.scenario
	x.MaxSteps = maxSample
	w := newWanderer(&p.scope, 1)
	judged := engine.NewJudged(x.Checkers)
	for i := range n {
		w.begin(i)
		res, err := r.Explore(&x, s.schedule, w)
		switch v := res.Verdict; {
		case err != nil:
			return nil, err
		case res.History.Outcome == history.StepLimit:
			continue
		case v.Level == checkers.Violated && (!x.Broken() || x.Catches(v)):
			return nil, overlooked(s, i+1, v, r.World().Schedule())
		}
		judged.Add(judged.Look(res.History))
	}
	return judged.Idle(), nil
}

// overlooked says what a random run has shown, and what may be behind that.
func overlooked(s *search, run int, v checkers.Verdict, names []string) error {
	why := "so something that matters is in no state: what code keeps and does not say in Forget or Keep (an audit looks " +
		"for that), a variable that clients share, what a monitor has outside of its fields, or what is made of zxids"
	again := engine.NewRunner()
	defer again.Close()
	res, err := again.Explore(s.scenario, s.schedule, &sim.Replay{Names: names, Then: over{}})
	if err != nil || res.Verdict.Level != checkers.Violated || res.Verdict.Checker != v.Checker {
		why = "and the same steps again do not, so runs hand on something to each other, such as a variable that clients share"
	}
	return OverlookedError(fmt.Sprintf("%s: the search has found nothing, and random run %d of the same scope violates "+
		"%s: %s; %s; the steps: %s", s.scenario.Name, run, v.Checker, v.Message, why, strings.Join(names, ", ")))
}

// wanderer takes random steps within a scope. It shares no code with the search, and remembers nothing of states.
type wanderer struct {
	scope  *Scope
	random *rand.Rand
	rarity int // a fault that is possible strikes at one of so many steps
	used   int // faults
	ticks  int // that had an alternative
	// In every other run, of two things that are possible what is more urgent happens.
	urgent map[sim.Transition]int
}

func newWanderer(sc *Scope, seed uint64) *wanderer {
	return &wanderer{scope: sc, random: rand.New(rand.NewPCG(seed, seed))}
}

// begin begins a run.
func (x *wanderer) begin(run int) {
	x.used, x.ticks, x.rarity = 0, 0, 2<<x.random.IntN(5)
	if x.urgent = nil; run%2 == 0 {
		x.urgent = map[sim.Transition]int{}
	}
}

// Choose implements [sim.Chooser].
func (x *wanderer) Choose(w *sim.World) (sim.Transition, bool, error) {
	if !x.scope.Interleave {
		if t, ok := w.Prompt(x.scope.SlowWakes); ok {
			return t, true, nil
		}
	}
	list, idle := x.normal(w)
	if x.used < x.scope.most() && (len(list) == 0 || x.random.IntN(x.rarity) == 0) {
		if faults := w.Faults(); len(faults) > 0 {
			list = faults
		}
	}
	if first := w.Opening(); len(first) > 0 && !x.scope.Offline {
		list = first
	}
	if len(list) == 0 {
		return sim.Transition{}, false, nil
	}
	t := x.pick(list)
	if t.Kind >= sim.FirstFault {
		x.used++
	}
	if t.Kind == sim.Tick && !idle {
		x.ticks++
	}
	return t, true, nil
}

// normal returns what can happen without a fault, and whether that is only that time passes. Instead of that the
// faults may be over.
func (x *wanderer) normal(w *sim.World) (list []sim.Transition, idle bool) {
	all := w.Normal()
	idle = len(all) > 0 && all[0].Kind == sim.Tick
	for _, t := range all {
		if t.Kind != sim.Tick || idle || x.ticks < x.scope.Ticks {
			list = append(list, t)
		}
	}
	if idle && !w.Calm() {
		list = append(list, sim.Transition{Kind: sim.Calm})
	}
	return list, idle
}

func (x *wanderer) pick(list []sim.Transition) sim.Transition {
	best := list[x.random.IntN(len(list))]
	if x.urgent == nil || x.random.IntN(8) == 0 {
		return best
	}
	for _, t := range list {
		if _, known := x.urgent[t]; !known {
			x.urgent[t] = x.random.IntN(1000)
		}
		if x.urgent[t] > x.urgent[best] {
			best = t
		}
	}
	return best
}
