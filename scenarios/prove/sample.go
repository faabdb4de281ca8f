package prove

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// usualSamples is how many random runs of a scope are judged before it is said to hold.
const usualSamples = 500

// maxSample is the length at which a random run is given up. The search finds endless runs; see hops.
const maxSample = 5000

// overlooked explains a violation that a search in the same scope has not found.
const overlooked = "a random run, of a scope in which the search has found nothing: so something that matters is in " +
	"no state, as what code keeps and does not say in Forget or Keep (-audit looks for that), what a monitor has " +
	"outside of its fields, a variable that clients share, or what is made of zxids or of the numbers of steps"

// unrepeatable explains such a violation that the same steps do not show again.
const unrepeatable = "the search has found nothing, random run %d of the same scope violates %s: %s, and the same " +
	"steps again do not; so runs hand on something to each other, as a variable that clients share does; the steps: %s"

// sample makes random runs of a scope in which the search has found nothing, and judges them as a whole, without any
// reduction. A violation becomes the result of the search. If there is none, checkers that had nothing to judge in any
// of them are added to the certificate.
func (p *prover) sample(s *search) error {
	n := p.Samples
	switch {
	case n < 0:
		return nil
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
			return err
		case res.History.Outcome == history.StepLimit:
			continue
		case v.Level == checkers.Violated && (!x.Broken() || x.Catches(v)):
			r.Names(&res)
			if !s.repeats(&res) {
				return fmt.Errorf("%s: "+unrepeatable, x.Name, i+1, v.Checker, v.Message,
					strings.Join(res.Schedule.Names, ", "))
			}
			res.History, s.refuted, s.most = nil, &res, w.used
			p.refuted(s)
			p.result.Why, p.result.Levels = overlooked, nil
			return nil
		}
		judged.Add(judged.Look(res.History))
	}
	for _, x := range judged.Idle() {
		p.result.Idle = append(p.result.Idle, x.Checker+" has nothing to judge here: "+x.Lacks)
		if p.result.Why == "" && !p.scope.elsewhere(r, x.Checker, n) {
			p.result.Why = fmt.Sprintf("%s judged nothing: %s", x.Checker, x.Lacks)
		}
	}
	return nil
}

// elsewhere reports whether a checker has something to judge in random runs of the whole scenario, with all its
// clients, rounds and faults. Then the scope is too small, and not the program at fault.
func (s *Scope) elsewhere(r *engine.Runner, checker string, runs int) bool {
	x := s.Scenario.Whole()
	x.Checkers = slices.DeleteFunc(slices.Clone(x.Checkers), func(c checkers.Checker) bool { return c.Name() != checker })
	judged := engine.NewJudged(x.Checkers)
	for seed := range uint64(runs) {
		res := r.Seed(&x, seed+1)
		judged.Add(judged.Look(res.History))
		if len(judged.Idle()) == 0 {
			return true
		}
	}
	return false
}

// repeats reports whether the steps of a run lead to the same verdict in a new world.
func (s *search) repeats(found *engine.Result) bool {
	r := engine.NewRunner()
	defer r.Close()
	res, err := r.Explore(s.scenario, s.schedule, &sim.Replay{Names: found.Schedule.Names, Then: over{}})
	return err == nil && res.Verdict.Level == checkers.Violated && res.Verdict.Checker == found.Verdict.Checker
}

// wanderer takes random steps within a scope. It shares no code with the search, and remembers no states.
type wanderer struct {
	scope  *Scope
	random *rand.Rand
	rarity int // a possible fault strikes at one of this many steps
	used   int // faults
	ticks  int // that had an alternative
	// In every other run, the more urgent of two possible things happens.
	urgent map[sim.Transition]int
}

func newWanderer(sc *Scope, seed uint64) *wanderer {
	return &wanderer{scope: sc, random: rand.New(rand.NewPCG(seed, seed))}
}

// begin starts a run.
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

// normal returns what can happen without a fault, and whether only time can pass. In that case the faults may also end.
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
