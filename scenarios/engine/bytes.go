package engine

import (
	"slices"

	"zksim/sim"
)

// circumstances is how many bytes say under what circumstances a run of Bytes happens. They come before those that say
// what happens.
const circumstances = 3

// Bytes runs the scenario with everything drawn from bytes. The first three give the size of the ensemble, the order of
// what ZooKeeper leaves open and the part of the fault plan that is on; each of the others makes one choice: see
// [sim.Bytes]. Missing bytes are zero. If the third is zero, all of the plan is on. The schedule of the result has no
// names yet; see Schedule.
func (r *Runner) Bytes(s *Scenario, data []byte) Result {
	var c [circumstances]byte
	r.bytes = sim.Bytes{Data: data[copy(c[:], data):]}
	return r.under(s, c, &r.bytes, data)
}

// under runs the scenario under circumstances.
func (r *Runner) under(s *Scenario, c [circumstances]byte, ch sim.Chooser, data []byte) Result {
	p := Schedule{Scenario: s.Name, Servers: 1, Order: uint64(c[1]), Like: s.Like}
	if len(s.Servers) > 0 {
		p.Servers = s.Servers[int(c[0])%len(s.Servers)]
	}
	if r.plan = append(r.plan[:0], s.Faults...); c[2] != 0 {
		var part sim.Random
		part.Seed(uint64(c[2]))
		r.plan = s.Faults.SwarmInto(r.plan[:0], p.Servers, part.Uint64)
	}
	p.Faults = r.plan
	return r.certain(s, &Order{By: ByBytes, Data: data, Schedule: p}, ch)
}

// Recorded returns bytes that a fuzzer may begin with: those of a run whose circumstances and choices a seed draws. It
// is not the run that Seed makes. Bytes makes the same choices, see [sim.Recorder], and goes calm after the last one.
func (r *Runner) Recorded(s *Scenario, seed uint64) []byte {
	random, ch := r.seeded(Portfolio, seed)
	random.FaultRate = 1 << (10 + random.Uint64()%6)
	c := [circumstances]byte{byte(seed), byte(random.Uint64()), byte(random.Uint64())}
	rec := &sim.Recorder{Chooser: ch}
	r.under(s, c, rec, nil)
	return append(slices.Clone(c[:]), rec.Data...)
}

// Novel is Bytes for Go's fuzzer, and shows the fuzzer what kinds of states the run reaches.
func (r *Runner) Novel(s *Scenario, data []byte) Result {
	var n novelty
	r.world.OnStep = func() { branch1(&n, r.world.Shape()) }
	defer func() { r.world.OnStep = nil }()
	return r.Bytes(s, data)
}
