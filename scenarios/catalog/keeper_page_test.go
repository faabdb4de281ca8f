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
		{"recipes/waiting", 39, "`recipes/waiting` and `recipes/hearing`, seed 39: the same with a", "Queue.Put "},
		{"recipes/hearing", 39, "`recipes/hearing`, seed 39: the same with a `Queue.Put`", "Queue.Put "},
		{"recipes/rewatched", 58, "`recipes/rewatched`, seed 58, and", "Queue.Take "},
		{"recipes/settled", 1, "where that of a put or of a take is", "Queue.Put "},
		{"recipes/settled", 60, "`recipes/settled`, seed 60: with a `Take` and", "PriorityQueue.TryTake "},
		{"recipes/struck", 5459, "`recipes/struck`, seed 5459: the answer to a write of a `Downgrade`", "RWLock.Downgrade"},
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
