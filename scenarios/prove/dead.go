package prove

import (
	"maps"
	"slices"
	"sync"

	"zksim/faults"
	"zksim/model/history"
	"zksim/scenarios"
	"zksim/sim"
)

// deadWatches is where, in all of a search, watches were dropped that nobody hears (Reductions.Unheard), and
// where reads that leave one have waited for a connection: a client and a znode, as hashes. Only where both is
// true can a watch that was dropped make a difference, so that the search must do without that reduction.
// It may look at all of the search rather than at each run, since up to the first step at
// which it makes a difference a run is one of those that are explored.
type deadWatches struct {
	sync.Mutex
	dropped, awaited map[uint64]bool
}

// add takes note of what a step has done, and reports whether dropped watches still make no difference.
func (d *deadWatches) add(dropped, awaited []uint64) bool {
	if len(dropped)+len(awaited) == 0 {
		return true
	}
	d.Lock()
	defer d.Unlock()
	if d.dropped == nil {
		d.dropped, d.awaited = map[uint64]bool{}, map[uint64]bool{}
	}
	harmless := true
	for _, x := range dropped {
		d.dropped[x] = true
		harmless = harmless && !d.awaited[x]
	}
	for _, x := range awaited {
		d.awaited[x] = true
		harmless = harmless && !d.dropped[x]
	}
	return harmless
}

// lists returns what was taken note of, for add.
func (d *deadWatches) lists() [2][]uint64 {
	return [...][]uint64{slices.Sorted(maps.Keys(d.dropped)), slices.Sorted(maps.Keys(d.awaited))}
}

// dropsWatches reports whether the search may drop watches that nobody hears.
func (s *search) dropsWatches(p *past) bool {
	return s.reduce.Unheard && s.reduce.Forget && s.audit == nil && !s.needs.Watches && !s.scope.Interleave && s.scope.Servers == 1 &&
		!p.order.Sees(history.Notify) && !slices.ContainsFunc(s.scope.Faults, func(r faults.Rule) bool { return !slices.Contains(wholesale, r.Fault) })
}

// wholesale are the faults of which it makes no difference what a connection carries besides.
var wholesale = []string{"disconnect", "expire", "learn-late", "pause", "crash", "cancel", "sequence"}

// restore runs a schedule of the search, with the steps that belong to watches which it has dropped.
func (w *worker) restore(runner *scenarios.Runner, s *scenarios.Scenario, r sim.Replay) (scenarios.Result, error) {
	if !w.runner.Detail.Unheard {
		return runner.Explore(s, w.schedule, &r)
	}
	runner.Detail.Forget = true
	return runner.Explore(s, w.schedule, &restored{r})
}

// restored is a schedule with steps in between that only concern watches which nobody hears.
type restored struct{ sim.Replay }

// Choose implements [sim.Chooser].
func (r *restored) Choose(world *sim.World) (sim.Transition, bool, error) {
	if t, ok := world.Unheard(); ok {
		return t, true, nil
	}
	return r.Replay.Choose(world)
}
