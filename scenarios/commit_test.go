package scenarios

import (
	"context"
	"testing"

	"zksim/recipes/broken"
)

// What is caught is the flaw and nothing else: without it the same code holds.
func TestABrokenTransactionHoldsWithoutItsFlaw(t *testing.T) {
	for _, s := range commitScenarios {
		if !s.Broken() {
			continue
		}
		s.Program, s.Caught = transactions(1, newBrokenTransaction(broken.Flaw(0))), nil
		if rep, err := Run(context.Background(), &s, Options{Seeds: Range{1, 500}}); err != nil || !unharmed(rep) {
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
		if rep, err := Run(context.Background(), &s, Options{Seeds: Range{1, 300}}); err != nil || !unharmed(rep) {
			t.Errorf("%s: %+v, %s, %v", s.Name, rep.Failure.Verdict, rep.Why, err)
		}
	}
}
