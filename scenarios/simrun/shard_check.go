package simrun

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"zksim/internal/shard"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
)

// check refuses a file that no part can have left, such as an edited one.
func (x *shardFile) check() error {
	if x.Format != shardFormat || x.Index < 1 || x.Index > x.Of || x.Of > shard.Most {
		return errors.New("expected what check or prove leaves with -shard and -o")
	}
	part := shard.Part{Index: x.Index, Of: x.Of}
	for i := range x.Scenarios {
		s := &x.Scenarios[i]
		same := func(y shardSeeds) bool { return y.Name == s.Name }
		k := slices.IndexFunc(x.Parameters.Scenarios, same)
		if k < 0 || slices.ContainsFunc(x.Parameters.Scenarios[k+1:], same) {
			return fmt.Errorf("its parameters have the scenario %.80q not once", s.Name)
		}
		if slices.ContainsFunc(x.Scenarios[:i], func(y shardScenario) bool { return y.Name == s.Name }) {
			return fmt.Errorf("it has the scenario %.80q twice", s.Name)
		}
		if err := s.check(part, &x.Parameters.Scenarios[k]); err != nil {
			return fmt.Errorf("%.80q: %w", s.Name, err)
		}
	}
	for i := range x.Proofs {
		p := &x.Proofs[i]
		if p.Seconds < 0 || slices.ContainsFunc(x.Proofs[:i], func(y shardProof) bool {
			return reflect.DeepEqual(y.Certificate.Claim, p.Certificate.Claim)
		}) {
			return fmt.Errorf("it has a proof of %.80q twice, or one that took less than no time", p.Certificate.Scenario)
		}
		if p.Certificate.Outcome == prove.Holds && len(p.Certificate.Levels) == 0 {
			return fmt.Errorf("it has a proof of %.80q without a state", p.Certificate.Scenario)
		}
	}
	if sum, err := x.sum(); err != nil || sum != x.Checksum {
		return fmt.Errorf("its checksum is %.40q, expected %q: it is damaged, or was edited", x.Checksum, sum)
	}
	return nil
}

// check refuses numbers that the seeds of a part cannot give.
func (s *shardScenario) check(part shard.Part, seeds *shardSeeds) error {
	share := seeds.share(part)
	p := &s.Part
	counts := []int{p.Steps, p.Holders}
	runs := []int{p.Clocks}
	for _, r := range p.Rules {
		counts, runs = append(counts, r.Strikes), append(runs, r.On, r.Possible, r.Hit)
	}
	if slices.Min(counts) < 0 {
		return errors.New("it has counts below 0")
	}
	for _, g := range p.Goals {
		runs = append(runs, g.Runs)
	}
	failed := 0
	for _, f := range p.Failed {
		runs = append(runs, f.Runs)
		failed += f.Runs
	}
	for _, e := range s.Explained {
		runs = append(runs, e.Runs)
	}
	if p.Runs < 0 || uint64(p.Runs) > share || failed > p.Runs ||
		slices.ContainsFunc(runs, func(n int) bool { return n < 0 || n > p.Runs }) {
		return fmt.Errorf("it has counts that the %d seeds of part %v cannot come to", share, part)
	}
	for _, f := range s.Failures {
		if f.Seed < seeds.First || f.Seed > seeds.Last || f.Seed%part.Of != part.Remainder() {
			return fmt.Errorf("its seed %d is none of those of part %v", f.Seed, part)
		}
	}
	return nil
}

// complete refuses a scenario that lacks seeds, where none may be missing. A part ends with the first run that catches
// a mutant, and a part with a time has as many runs as that allows.
func (s *shardScenario) complete(x *engine.Scenario, part shard.Part, p *shardParameters) error {
	i := slices.IndexFunc(p.Scenarios, func(y shardSeeds) bool { return y.Name == s.Name })
	share := p.Scenarios[i].share(part)
	if p.For != "" || s.Cut != "" || s.Misuse != "" || s.Part.Doubt != nil || s.Part.Differs != nil ||
		x.Broken() && len(s.Failures) > 0 || uint64(s.Part.Runs) == share {
		return nil
	}
	return fmt.Errorf("%s has %d runs and does not say why, expected the %d seeds of part %v", s.Name, s.Part.Runs, share,
		part)
}

// share is how many of the seeds belong to a part.
func (x *shardSeeds) share(part shard.Part) uint64 {
	if x.First > x.Last {
		return 0
	}
	first := x.First + (part.Remainder()+part.Of-x.First%part.Of)%part.Of
	if first > x.Last || first < x.First {
		return 0
	}
	return (x.Last-first)/part.Of + 1
}
