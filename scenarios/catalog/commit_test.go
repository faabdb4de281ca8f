package catalog

import (
	"context"
	"testing"

	"zksim/internal/mutants"
	"zksim/scenarios/engine"
)

// What is caught is the flaw and nothing else: without it the same code holds.
func TestABrokenTransactionHoldsWithoutItsFlaw(t *testing.T) {
	for _, s := range commitScenarios {
		if !s.Broken() {
			continue
		}
		s.Program, s.Caught = transactions(1, newBrokenTransaction(mutants.Flaw(0))), nil
		if rep, err := engine.Run(context.Background(), &s,
			engine.Options{Seeds: engine.Range{First: 1, Last: 500}}); err != nil || !unharmed(rep) {
			t.Errorf("%s: %+v, %s, %v", s.Name, rep.Failure.Verdict, rep.Why, err)
		}
	}
}

// More of everything than the scenarios have: sites, transactions and faults.
func TestTransactionsHoldInACrowd(t *testing.T) {
	for _, s := range commitScenarios {
		if s.Broken() {
			continue
		}
		s.Faults = append(s.Faults[:0:0], s.Faults...)
		for i := range s.Faults {
			s.Faults[i].Budget *= 2
		}
		s.Clients = 6
		if rep, err := engine.Run(context.Background(), &s,
			engine.Options{Seeds: engine.Range{First: 1, Last: 300}}); err != nil || !unharmed(rep) {
			t.Errorf("%s: %+v, %s, %v", s.Name, rep.Failure.Verdict, rep.Why, err)
		}
	}
}
