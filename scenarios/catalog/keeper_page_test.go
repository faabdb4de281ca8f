package catalog_test

import (
	"os"
	"strings"
	"testing"

	"zksim/model"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// What docs/keeper.md says of the scenarios of one client that break there, by the seeds that it names.
func TestThePageOfKeeperSaysWhatBreaks(t *testing.T) {
	page, err := os.ReadFile("../../docs/keeper.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	r := engine.NewRunner()
	defer r.Close()
	r.Strategy = engine.Random
	for _, x := range []struct {
		name   string
		seed   uint64
		page   string // what it says
		begins string // how the sentence begins that does not hold
	}{
		{"recipes/waiting", 19, "`recipes/waiting` and `recipes/hearing`, seed 19: the same with a", "Queue.Put "},
		{"recipes/hearing", 19, "`recipes/hearing`, seed 19: the same with a `Queue.Put`", "Queue.Put "},
		{"recipes/rewatched", 3, "`recipes/rewatched`, seed 3, and", "Queue.Take "},
		{"recipes/settled", 23, "`recipes/settled`, seed 23: with a `Take` and", "PriorityQueue.TryTake "},
		{"recipes/struck", 12, "`recipes/struck`, seed 12: the connection is cut within a `Downgrade`", "RWLock.Downgrade"},
	} {
		if !strings.Contains(text, x.page) {
			t.Errorf("docs/keeper.md does not say %q", x.page)
		}
		s := *catalog.Named(x.name)
		s.Like = model.Keeper
		if v := r.Seed(&s, x.seed).Verdict; v.Checker != "always" || !strings.HasPrefix(v.Message, `"`+x.begins) {
			t.Errorf("%s, seed %d: %v", x.name, x.seed, v)
		}
	}
}
