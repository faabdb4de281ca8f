package main

import (
	"context"
	"fmt"
	"regexp"

	"zksim/scenarios"
	"zksim/scenarios/prove"
)

// The third part of the portfolio searches all schedules of a scope that is as small as
// those of most failures: as many states as take some tenths of a second.
const (
	exhaustClients = 2
	exhaustStates  = 5000
)

// finding says where a failure comes from.
type finding struct {
	at     string // as "at seed 17"
	where  string // as "seed 17"
	folder string // of the report
	again  string // the arguments of simrun that find it again
}

// bySeed is the finding of a seed.
func (c *checkFlags) bySeed(s *scenarios.Scenario, seed uint64) finding {
	again := fmt.Sprintf("check -run %s -seeds %d%s", exactly(s), seed, c.circumstances())
	if s.Broken() {
		again += " -v"
	}
	return finding{fmt.Sprintf("at seed %d", seed), fmt.Sprintf("seed %d", seed), fmt.Sprint(seed) + c.variant(), again}
}

// byProof is the finding of exhaustive search.
func (c *checkFlags) byProof(s *scenarios.Scenario) finding {
	p := c.proof(s)
	again := fmt.Sprintf("prove -run %s -clients %d -rounds %d", exactly(s), p.clients, p.rounds)
	if p.plan != "" {
		again += " -faults " + quote(p.plan)
	}
	return finding{"in exhaustive search", "exhaustive search", "prove" + c.variant(), again}
}

// exactly is the pattern of one scenario.
func exactly(s *scenarios.Scenario) string { return quote("^" + regexp.QuoteMeta(s.Name) + "$") }

// proof returns the scope of the exhaustive part.
func (c *checkFlags) proof(s *scenarios.Scenario) proveFlags {
	return proveFlags{clients: min(exhaustClients, s.Clients), rounds: 1, plan: c.plan, most: -1, order: 1}
}

// exhaust searches all schedules of the small scope, if that is part of the strategy and the
// seeds have found nothing. It puts a violation into the report, and else returns what is
// certain now, in words. If ctx is done before it comes to its end, the report is cut short.
func (c *checkFlags) exhaust(ctx context.Context, s *scenarios.Scenario, o scenarios.Options, rep *scenarios.Report) (proved string, by finding, err error) {
	by = c.bySeed(s, rep.Failure.Schedule.Seed)
	if o.Strategy != scenarios.Portfolio || o.Shard > 0 || rep.Status != scenarios.Held && rep.Status != scenarios.Escaped {
		return "", by, nil
	}
	p := c.proof(s)
	sc, err := p.scope(s)
	if err != nil {
		return "", by, err
	}
	r, err := prove.Prove(ctx, sc, prove.Options{Reductions: prove.Every, Workers: 1, States: exhaustStates})
	switch {
	case err != nil:
		return "", by, err
	case r.Outcome == prove.Violated:
		rep.Cut = false
		rep.Failure, rep.Status = *r.Counterexample, scenarios.Violation
		if s.Broken() {
			rep.Status = scenarios.Caught
		}
		return "", c.byProof(s), nil
	}
	rep.Cut = rep.Cut || r.Outcome == prove.Inconclusive && ctx.Err() != nil
	if len(r.Levels) == 0 {
		return "", by, nil
	}
	most := ""
	if len(r.Levels) > 1 {
		most = "at most "
	}
	return fmt.Sprintf("; every schedule of %d clients with %s%s", sc.Scenario.Clients, most, faultsText(len(r.Levels)-1)), by, nil
}

// faultsText says how many faults there are.
func faultsText(n int) string {
	switch n {
	case 0:
		return "no fault"
	case 1:
		return "1 fault"
	}
	return fmt.Sprintf("%d faults", n)
}
