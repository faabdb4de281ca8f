package checkers

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"zksim/model/history"
)

// game is a small world that makes a history at random. What it does next depends on
// its state and on the dice, not on how it came to be.
type game interface {
	move(dice *rand.Rand)
	// state describes all that counts in the game from now on, of what exhaustive
	// search knows it besides what the checkers remember: znodes, operations in
	// progress, and what was read and has not been told yet.
	state() string
	// history returns the history, as it is if the game ends here.
	history() *history.History
	// settle ends all whims.
	settle()
}

// past is what of a game's past does not show in its state: the zxids and the numbers of
// objects that it hands out, with gaps, and whims.
type past struct {
	whims   *rand.Rand
	settled bool
	zxids   changes
	object  int32
}

// whim returns a number below n, which only decides about what state does not show; 0 once
// the game has settled.
func (n *past) whim(below int) int {
	if n.settled {
		return 0
	}
	return n.whims.IntN(below)
}

func (n *past) settle() { n.settled = true }

func (n *past) zxid() int64 {
	last := int64(0)
	if len(n.zxids) > 0 {
		last = n.zxids[len(n.zxids)-1]
	}
	n.zxids = append(n.zxids, last+1+n.whims.Int64N(3))
	return n.zxids[len(n.zxids)-1]
}

func (n *past) next() int32 {
	n.object += 1 + n.whims.Int32N(2)
	return n.object
}

// rank is the place of a zxid, whatever its number.
func (n *past) rank(zxid int64) (rank int) {
	for _, z := range n.zxids {
		if z <= zxid {
			rank++
		}
	}
	return rank
}

// dice returns a source of chance.
func dice(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 7)) }

// played returns the game that begins with some moves and whims.
func played(start func(whims *rand.Rand) game, seed, moves, whims int) game {
	g, d := start(dice(-1-whims)), dice(seed)
	for range moves {
		g.move(d)
	}
	g.settle()
	return g
}

// remembered returns the hash of a monitor that has seen a history, and whether it has
// found nothing.
func remembered(h *history.History, m Monitor) (uint64, bool) {
	m.Reset()
	ok := follow(h, m).Level == OK
	return digest(m), ok
}

// shape is what happened, but for numbers and values.
func shape(h *history.History) string {
	var b strings.Builder
	for _, e := range h.Events {
		fmt.Fprintf(&b, "%v c%d %s %s %v,", e.Kind, e.Client, e.Op, e.Path, e.Err)
	}
	return b.String()
}

// whatIsForgottenDoesNotMatter plays games with many whims each, so that there are many pasts of the
// same state. Where a monitor remembers the same of two of them, they may go on in whatever way, if they
// go on alike: the verdict is the same.
func whatIsForgottenDoesNotMatter(t *testing.T, c Monitored, start func(whims *rand.Rand) game) {
	t.Helper()
	const games, variants, continuations = 1000, 16, 5
	pairs, levels, m := 0, map[Level]int{}, c.Monitor()
	for seed := range games {
		moves := 4 + seed%14
		groups := map[string][]int{}
		for whims := range variants {
			g := played(start, seed, moves, whims)
			if hash, ok := remembered(g.history(), m); ok {
				key := fmt.Sprint(hash, g.state())
				groups[key] = append(groups[key], whims)
			}
		}
		for _, all := range groups {
			for k, whims := range all[1:] {
				if shape(played(start, seed, moves, all[k]).history()) == shape(played(start, seed, moves, whims).history()) {
					continue
				}
				pairs++
				for i := range continuations {
					a, b := played(start, seed, moves, all[k]), played(start, seed, moves, whims)
					from, and := len(a.history().Events), len(b.history().Events)
					on := games + pairs*continuations + i
					d, e := dice(on), dice(on)
					for range 2 + 3*i {
						a.move(d)
						b.move(e)
					}
					got, want := c.Check(a.history()), c.Check(b.history())
					levels[want.Level]++
					if got.Level != want.Level {
						t.Fatalf("%s: %v after\n%s\nand %v after\n%s\nwhich go on alike from event %d and %d",
							c.Name(), got, listed(a.history()), want, listed(b.history()), from, and)
					}
				}
			}
		}
	}
	t.Logf("%s: %d pairs of beginnings, verdicts %v", c.Name(), pairs, levels)
	if pairs < 2000 || levels[Violated] < 500 || levels[OK] < 500 {
		t.Errorf("%s: %d pairs of beginnings and verdicts %v: too few to mean something", c.Name(), pairs, levels)
	}
}

// listed is a history for people.
func listed(h *history.History) string {
	var b strings.Builder
	for i, e := range h.Events {
		fmt.Fprintf(&b, "%d: %v o%d v%d s%d\n", i, e, e.Object, e.Value, e.Session)
	}
	return b.String()
}

// agrees compares the verdicts of a checker with those of its property said in another
// way.
func agrees(t *testing.T, c Checker, start func(whims *rand.Rand) game, said func(h *history.History) Level) {
	t.Helper()
	const games = 25_000
	levels := map[Level]int{}
	for seed := range games {
		h := played(start, seed, 4+seed%30, seed).history()
		got, want := c.Check(h), said(h)
		if got.Level != want {
			t.Fatalf("%s: %v, not %v, for\n%s", c.Name(), got, want, listed(h))
		}
		levels[want]++
	}
	t.Logf("%s: verdicts %v", c.Name(), levels)
	if levels[Violated] < games/50 || levels[OK] < games/50 {
		t.Errorf("%s: verdicts %v: too few of one sort", c.Name(), levels)
	}
}
