package sim

import "zksim/internal/hash"

// Chooser decides what happens next.
type Chooser interface {
	// Choose returns one of w.Normal() or w.Faults(), or Calm. It returns false when nothing can happen, and an error to
	// stop the run.
	Choose(w *World) (t Transition, more bool, err error)
}

// Random chooses uniformly, and now and then strikes with a fault. What is slow in a run is drawn with its seed and
// rarely chosen, so that some runs have long pauses, others servers that lag far behind, others a client that hardly
// moves.
type Random struct {
	state uint64 // of splitmix64
	// FaultRate is the chance of a fault in a step where one is possible, in units of 1/65536.
	FaultRate uint32
	// SlowKinds and SlowClients are bit masks of what is rarely chosen while there is anything else.
	SlowKinds, SlowClients uint64
}

// reluctance is how many times the choice is repeated while it is a slow transition.
const reluctance = 6

// Seed makes the choices a function of seed, and draws what is slow.
func (r *Random) Seed(seed uint64) {
	r.state = seed
	r.next()
	const candidates = 1<<Resume | 1<<Undelay | 1<<Thaw | 1<<Replicate | 1<<Connect | 1<<Deliver | 1<<Tick | 1<<Round |
		1<<Lapse
	x := r.next()
	r.SlowKinds = x & (x >> 20) & candidates
	if x>>60 > 3 { // a deposed leader needs several steps to do anything
		r.SlowKinds |= 1 << StepDown
	}
	if x>>56&15 > 3 { // late requests should be late by several steps
		r.SlowKinds |= 1 << Late
	}
	x = r.next()
	r.SlowClients = x & (x >> 20) & (x >> 40)
}

// next is splitmix64 (Steele, Lea and Flood, OOPSLA 2014). It is quick, and good enough for choices.
func (r *Random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return hash.Mix(r.state)
}

// Uint64 returns the next random number of the seed. The caller may derive options of the run from it.
func (r *Random) Uint64() uint64 { return r.next() }

// below returns a number less than n, made from the upper half of x. Its bias is below n/2^32.
func below(x uint64, n int) int { return int((x >> 32) * uint64(n) >> 32) }

func (r *Random) slow(t Transition) bool {
	return r.SlowKinds>>t.Kind&1 != 0 || r.SlowClients>>(t.Client&63)&1 != 0 && t.Client > 0
}

// Choose implements [Chooser].
func (r *Random) Choose(w *World) (Transition, bool, error) {
	x := r.next()
	if t, strikes := r.strike(w, x); strikes {
		return t, true, nil
	}
	list := w.Normal()
	n := actors(list)
	if n == 0 {
		return Transition{}, false, nil
	}
	i := below(x, n)
	for k := 0; k < reluctance && n > 1 && !w.calm && r.slow(list[i]); k++ {
		i = below(r.next(), n)
	}
	return r.tick(list, i), true, nil
}

// actors returns how many transitions of a list of [World.Normal] to choose from. The ticks at its end, of several
// clients for one moment, count as one: time does not pass faster because there are more clients.
func actors(list []Transition) int {
	n := len(list)
	for n > 1 && list[n-1].Kind == Tick && list[n-2].Kind == Tick {
		n--
	}
	return n
}

// tick returns the i-th of a list; if that is the first of its ticks, it returns any of them.
func (r *Random) tick(list []Transition, i int) Transition {
	if list[i].Kind == Tick && i+1 < len(list) {
		i += below(r.next(), len(list)-i)
	}
	return list[i]
}

// strike returns the fault, if any, that the random number x makes happen.
func (r *Random) strike(w *World, x uint64) (Transition, bool) {
	if w.calm || uint32(x&0xffff) >= r.FaultRate {
		return Transition{}, false
	}
	list := w.Faults()
	if len(list) == 0 {
		return Transition{}, false
	}
	return list[below(x, len(list))], true
}
