package prove

import (
	"path/filepath"
	"slices"
	"testing"

	"zksim/scenarios/engine"
)

// TestAResumedSearchKnowsWhatTheFirstPieceHasSeen has a sentence that only schedules without a fault reach. The next
// level takes these from the memo, so the code says it once, in the first piece.
func TestAResumedSearchKnowsWhatTheFirstPieceHasSeen(t *testing.T) {
	sc := tiny{name: "says", faults: "lose-request=1@client=c1,op=create,nth=1 deliver-slow=1@op=setWatches",
		program: func(p *engine.Process) {
			if p.ID == 1 {
				if _, err := p.Conn.Create("/d/first", nil, 0, world); err == nil {
					p.Conn.Create("/d/last", nil, 0, world)
				}
				return
			}
			if last, _, _ := p.Conn.Exists("/d/last"); last {
				p.Sometimes("c1 is not done", false)
			}
		}}.scope(t)
	search := func(file string, states int) Result {
		return certify(t, sc, Options{Reductions: Every, Workers: 1, Reverse: true, Checkpoint: file, States: states})
	}
	whole := search("", 0)
	if len(whole.Never) != 1 || len(whole.Unstruck) != 1 {
		t.Fatalf("never %q, not struck %q, expected one of each", whole.Never, whole.Unstruck)
	}
	limited := 0
	for states := 1; states < whole.Last.States; states++ {
		file := filepath.Join(t.TempDir(), "checkpoint")
		if first := search(file, states); !first.Limited {
			continue // what is left leads to known states
		}
		limited++
		r := search(file, 0)
		if !slices.Equal(r.Never, whole.Never) || !slices.Equal(r.Unstruck, whole.Unstruck) {
			t.Errorf("resumed after %d states: never %q, not struck %q, expected %q and %q", states, r.Never, r.Unstruck,
				whole.Never, whole.Unstruck)
		}
	}
	if limited < whole.Last.States/2 {
		t.Errorf("%d of %d searches were resumed, expected most", limited, whole.Last.States)
	}
}

// TestASearchWithChoicesIsResumed has choices on the way to all that is left, and, in some pieces, choices left.
func TestASearchWithChoicesIsResumed(t *testing.T) {
	sc := tiny{name: "chooses", program: func(p *engine.Process) {
		n := p.Choose(3)
		p.Conn.Exists("/d")
		p.Sometimes("they are 2 and 4", n == 2 && p.Choose(5) == 4)
	}}.scope(t)
	search := func(file string, states int) Result {
		return certify(t, sc, Options{Reductions: Every, Workers: 1, Checkpoint: file, States: states})
	}
	whole, limited := search("", 0), 0
	for states := 5; states < whole.Last.States; states += 5 {
		file := filepath.Join(t.TempDir(), "checkpoint")
		if first := search(file, states); !first.Limited {
			continue
		}
		limited++
		r := search(file, 0)
		if why := r.Certificate.Differs(&whole.Certificate); why != "" || len(r.Never) > 0 {
			t.Errorf("resumed after %d states: %s, never %q", states, why, r.Never)
		}
	}
	if limited < whole.Last.States/10 {
		t.Errorf("%d pieces of %d states", limited, whole.Last.States)
	}
}
