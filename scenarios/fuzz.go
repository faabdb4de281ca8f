package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/sim"
)

// circumstances is how many bytes say under what circumstances a run of Bytes
// happens, before those that say what happens.
const circumstances = 3

// Bytes runs the scenario with everything drawn from bytes: the size of the
// ensemble, the order of what ZooKeeper leaves open and the part of the fault plan
// that is on from the first three, and each choice from one of the others; see
// [sim.Bytes]. What is missing is zero; with zeros in front all of the plan is on.
// The schedule of the result has no names yet; see Schedule.
func (r *Runner) Bytes(s *Scenario, data []byte) Result {
	var c [circumstances]byte
	r.bytes = sim.Bytes{Data: data[copy(c[:], data):]}
	return r.under(s, c, &r.bytes)
}

// under runs the scenario under circumstances.
func (r *Runner) under(s *Scenario, c [circumstances]byte, ch sim.Chooser) Result {
	p := Schedule{Scenario: s.Name, Servers: 1, Order: uint64(c[1])}
	if len(s.Servers) > 0 {
		p.Servers = s.Servers[int(c[0])%len(s.Servers)]
	}
	if r.plan = append(r.plan[:0], s.Faults...); c[2] != 0 {
		var part sim.Random
		part.Seed(uint64(c[2]))
		r.plan = s.Faults.SwarmInto(r.plan[:0], p.Servers, part.Uint64)
	}
	p.Faults = r.plan
	result, err := r.run(s, p, ch)
	if err != nil {
		panic("scenarios: bytes cannot fail: " + err.Error())
	}
	return result
}

// recorded returns the bytes of a run with choices by seed.
func (r *Runner) recorded(s *Scenario, seed uint64) []byte {
	ch := sim.Chooser(&r.random)
	random := &r.random
	if Portfolio.pct(seed) {
		random, ch = &r.pct.Random, &r.pct
		r.pct.Seed(seed)
	} else {
		r.random.Seed(seed)
	}
	random.FaultRate = 1 << (10 + random.Uint64()%6)
	c := [circumstances]byte{byte(seed), byte(random.Uint64()), byte(random.Uint64())}
	rec := &sim.Recorder{Chooser: ch}
	r.under(s, c, rec)
	return append(slices.Clone(c[:]), rec.Data...)
}

// F is what Fuzz needs of a *testing.F.
type F interface {
	Helper()
	Add(args ...any)
	Cleanup(f func())
	Fuzz(ff any)
	Fatalf(format string, args ...any)
}

// fuzzSeeds is how many recorded runs a fuzzer begins with.
const fuzzSeeds = 20

// Fuzz searches a scenario with Go's fuzzer, which chooses by bytes what happens
// next, and keeps and mutates the bytes that reach new code of the recipe or another
// kind of state:
//
//	func FuzzMyLock(f *testing.F) { scenarios.Fuzz(f, myLock) }
//
// and go test -fuzz FuzzMyLock. The test fails when something does not hold, with
// the verdict and the schedule, and the go command names the file and the command
// that repeat it; a broken recipe fails only by a checker that must find its flaw.
func Fuzz(f F, s Scenario) {
	f.Helper()
	if err := s.Accepts(s.Faults); err != nil {
		f.Fatalf("%v", err)
		return
	}
	r := NewRunner()
	f.Cleanup(r.Close)
	f.Add([]byte{})
	for seed := range uint64(fuzzSeeds) {
		f.Add(r.recorded(&s, seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { r.fuzz(t, &s, data) })
}

// fuzz runs one input.
func (r *Runner) fuzz(t T, s *Scenario, data []byte) {
	t.Helper()
	var n novelty
	r.world.OnStep = func() { n.note(r.world) }
	defer func() { r.world.OnStep = nil }()
	res := r.Bytes(s, data)
	if res.Misuse != nil {
		t.Fatalf("%s: %v", s.Name, res.Misuse)
	}
	words := checkers.VocabularyOf(s.Checkers, s.Words)
	if why := words.Unknown(res.History); why != "" {
		t.Fatalf("%s", s.strange(why))
		return
	}
	if res.Verdict.Level != checkers.Violated || s.Broken() && !s.Catches(res.Verdict) {
		return
	}
	r.Names(&res)
	res.Schedule.Checker = res.Verdict.Checker
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s: %s\n", s.Name, res.Verdict.Checker, res.Verdict.Message)
	b.WriteString("reproduce  with the command below, or save the following and  go test -run TEST -schedule FILE  with a TEST that calls Check\n\n")
	res.Schedule.Write(&b)
	t.Fatalf("%s", b.String())
}
