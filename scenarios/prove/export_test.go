package prove

import "zksim/sim"

// Wanderer makes random runs of a scope.
type Wanderer struct{ w *wanderer }

// NewWanderer returns one that goes by a seed.
func NewWanderer(sc *Scope, seed uint64) *Wanderer { return &Wanderer{newWanderer(sc, seed)} }

// Begin begins a run.
func (x *Wanderer) Begin(run int) { x.w.begin(run) }

// Choose implements [sim.Chooser].
func (x *Wanderer) Choose(w *sim.World) (sim.Transition, bool, error) { return x.w.Choose(w) }
