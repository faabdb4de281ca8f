package scenarios

import (
	"fmt"
	"slices"
	"testing"
)

func TestFirst(t *testing.T) {
	r := NewRunner()
	for i := range All {
		s := &All[i]
		n := 20000
		if len(s.Caught) == 0 {
			n = 20000
		}
		var caught string
		goals := map[string]bool{}
		steps := 0
		for seed := uint64(1); seed <= uint64(n); seed++ {
			res := r.Seed(s, seed)
			steps += res.Steps
			for _, g := range s.Goals {
				if g.Reached(res.History) {
					goals[g.Name] = true
				}
			}
			if res.Verdict.Level != 0 && (len(s.Caught) == 0 || slices.Contains(s.Caught, res.Verdict.Checker)) {
				caught = fmt.Sprintf("%s at seed %d in %d steps: %s", res.Verdict.Checker, seed, res.Steps, res.Verdict.Message)
				break
			}
		}
		fmt.Println(s.Name, "|", caught, goals, steps/n)
	}
}
