package sim

import (
	"cmp"
	"slices"

	"zksim/internal/hash"
)

// PCT chooses by priorities. Of all that can move, the one with the highest priority moves, until it cannot or until
// one of a few moments, drawn beforehand, at which it falls behind all others. This finds orders that uniform choices
// hardly ever make: one actor far ahead of all others at just the wrong moment. An actor is whatever makes the
// transitions of one name: a coroutine, a client's link in one direction, a follower, the clock.
//
// After Burckhardt, Kothari, Musuvathi and Nagarakatte, A Randomized Scheduler with Probabilistic Guarantees of Finding
// Bugs (ASPLOS 2010). Its bound does not hold here, because the number of steps is not known beforehand, faults strike
// as in [Random], and no actor may move forever while others could.
type PCT struct {
	Random
	ranks   uint64       // seed of the priorities
	changes []int        // steps at which the mover falls behind, in order
	fallen  []Transition // actors that fell behind; the last is behind all others
	last    Transition   // the choice of the step before
	inARow  int
}

// maxChanges is the largest number of priority changes per run; stamina is how many steps an actor may make in a row
// while others could move.
const (
	maxChanges = 6
	stamina    = 40
)

// Seed makes the choices a function of seed.
func (p *PCT) Seed(seed uint64) {
	p.Random.Seed(seed)
	p.ranks = p.next()
	p.changes, p.fallen, p.inARow = p.changes[:0], p.fallen[:0], 0
	length := 32 << (p.next() % 5) // runs are of very different lengths
	for range p.next() % (maxChanges + 1) {
		p.changes = append(p.changes, below(p.next(), length))
	}
	slices.Sort(p.changes)
}

// Choose implements [Chooser].
func (p *PCT) Choose(w *World) (Transition, bool, error) {
	if w.calm || w.choosing != nil { // a number is not an actor
		return p.Random.Choose(w)
	}
	if t, strikes := p.strike(w, p.next()); strikes {
		return t, true, nil
	}
	all := w.Normal()
	list := all[:actors(all)]
	if len(list) == 0 {
		return Transition{}, false, nil
	}
	best := slices.MaxFunc(list, p.compare)
	p.inARow++
	if best != p.last {
		p.inARow = 0
	}
	for len(p.changes) > 0 && w.Step() >= p.changes[0] || p.inARow > stamina {
		if p.inARow <= stamina {
			p.changes = p.changes[1:]
		}
		p.fallen = append(slices.DeleteFunc(p.fallen, func(t Transition) bool { return t == best }), best)
		p.inARow = 0
		best = slices.MaxFunc(list, p.compare)
	}
	p.last = best
	return p.tick(all, slices.Index(list, best)), true, nil
}

// compare orders transitions by the priorities of their actors.
func (p *PCT) compare(t, u Transition) int { return cmp.Compare(p.priority(t), p.priority(u)) }

func (p *PCT) priority(t Transition) uint64 {
	if i := slices.Index(p.fallen, t); i >= 0 {
		return uint64(len(p.fallen) - i)
	}
	return hash.Mix(p.ranks^uint64(t.Kind)<<32^uint64(t.Client&0xffff)<<16^uint64(t.Client>>16)<<40^uint64(t.Arg)) | 1<<63
}
