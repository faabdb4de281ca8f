package prove

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"zksim/internal/hash"
	"zksim/model"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// sampler takes random steps of prompt code and notes what is possible in each state.
type sampler struct {
	random   *rand.Rand
	past     *past
	runner   *engine.Runner
	possible map[uint64]string // by state
	next     map[uint64]uint64 // by state and step: the state that it leads to
	by       uint64            // the latest state and step; 0: none
	again    int               // how often a state was met again, by whatever way
	twice    int               // how often a step was taken again from there
}

// Choose implements [sim.Chooser].
func (x *sampler) Choose(w *sim.World) (sim.Transition, bool, error) {
	if t, ok := w.Prompt(false); ok {
		return t, true, nil
	}
	if x.past.take(x.runner); x.past.violated() {
		return sim.Transition{}, false, nil
	}
	list := slices.Clone(w.Busy())
	faults := w.Faults()
	text := fmt.Sprint(list, faults)
	for _, c := range w.Clients() {
		text += fmt.Sprint(c.Session(), c.Connected(), c.Server(), c.Alive())
		for _, x := range c.Tasks() {
			text += fmt.Sprint(x.Name, x.Doing, x.Paths)
			if x.Request != nil {
				text += fmt.Sprint(x.Request.Op, x.Request.Path, x.Request.Version)
			}
		}
	}
	state := uint64(hash.Hash(pastOf(x.past.memories())).Uint64(w.Fingerprint()))
	if was, ok := x.next[x.by]; ok && x.by != 0 {
		x.twice++
		if was != state {
			return sim.Transition{}, false, fmt.Errorf("one state and one step, after which there are two states, after %v",
				w.Schedule())
		}
	}
	x.next[x.by] = state
	if was, ok := x.possible[state]; ok {
		x.again++
		if was != text {
			return sim.Transition{}, false, fmt.Errorf("one state, and possible is %s, and %s", was, text)
		}
	}
	x.possible[state] = text
	if len(faults) > 0 && x.random.IntN(8) == 0 {
		list = faults
	} else if len(list) == 0 {
		return sim.Transition{}, false, nil
	}
	t := list[x.random.IntN(len(list))]
	x.by = uint64(hash.Hash(state).String(w.Name(t)))
	return t, true, nil
}

// TestEqualStatesHaveEqualFutures meets states again by other ways, and takes the same steps from there.
func TestEqualStatesHaveEqualFutures(t *testing.T) {
	runs := budget(10, 20, 40)
	random := rand.New(rand.NewPCG(9, 9))
	r := engine.NewRunner()
	defer r.Close()
	again, twice := 0, 0
	for i, s := range examined(t) {
		if i%6 < 2 {
			s.Like = model.Keeper
		}
		sc := Scope{Scenario: s, Servers: smallest(s), Order: 1,
			Faults: plan(t, "disconnect=2 expire=1 crash=1 pause=1 cancel=1 lose-reply=1"), Most: -1}
		if i%3 == 0 {
			sc.Servers = 3
			sc.Faults = plan(t, "disconnect=2 expire=2 learn-late=1 watch-delay=2 failover=1 expiry-lag=1 stale-read=1 "+
				"late-commit=1 late-request=1 zombie=1")
		}
		q := newSearch(&sc, Every, sc.most())
		x := &sampler{random: random, past: newPast(q.scenario, true), runner: r, possible: map[uint64]string{},
			next: map[uint64]uint64{}}
		r.Detail = sim.Detail{DenseZxids: true}
		q.scenario.MaxSteps = 3000
		for range runs {
			x.past.reset()
			x.by = 0
			if _, err := r.Explore(q.scenario, q.schedule, x); err != nil {
				t.Errorf("%s: %v", s.Name, err)
				break
			}
		}
		again, twice = again+x.again, twice+x.twice
	}
	if t.Logf("%d times a state was met again, and %d times left by the same step", again, twice); again < 100*runs ||
		twice < 50*runs {
		t.Error("hardly ever was a state met again")
	}
}
