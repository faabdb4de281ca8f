package catalog

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// A run of two clients and one round is for exhaustive search. It is much shorter than
// the usual one, and yet clients do all that they do there.
func TestBriefRunsHaveEveryKindOfOperation(t *testing.T) {
	for i := range All {
		s := &All[i]
		recipe, _, _ := strings.Cut(s.Name, "/")
		if s.Broken() || s.Rounds == 0 || !slices.Contains([]string{"cache", "config", "master", "members", "watch"},
			recipe) {
			continue
		}
		small, err := s.Sized(2, 1)
		if err != nil {
			t.Error(err)
			continue
		}
		usual, most := operations(s)
		brief, fewest := operations(&small)
		if !slices.Equal(brief, usual) {
			t.Errorf("%s: %v, usually %v", s.Name, brief, usual)
		}
		if len(brief) < 4 || fewest > most/2 {
			t.Errorf("%s: %v, %d steps, usually %d", s.Name, brief, fewest, most)
		}
	}
}

// operations returns what clients do in runs without faults, and how many steps these have on
// the average.
func operations(s *engine.Scenario) (ops []string, steps int) {
	r := engine.NewRunner()
	defer r.Close()
	x := *s
	x.Faults = nil
	known := map[string]bool{}
	const seeds = 500
	for seed := range uint64(seeds) {
		res := r.Seed(&x, seed)
		steps += res.Steps
		for _, e := range res.History.Events {
			told := e.Kind == history.Told && e.Op != checkers.ToldRest // which is no doing of the client
			if e.Kind == history.Invoke || e.Kind == history.Return || told {
				known[e.Kind.String()+" "+e.Op] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(known)), steps / seeds
}
