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
	// state describes all that counts in the game from now on, as far as exhaustive
	// search knows it besides what the checkers remember: znodes, operations in
	// progress, and what was read and has not been told yet.
	state() string
	// history returns the history, as it is if the game ends here.
	history() *history.History
}

// numbers hands out zxids and the numbers of objects, with gaps of its own, and
// remembers the former.
type numbers struct {
	gaps   *rand.Rand
	zxids  changes
	object int32
}

func (n *numbers) zxid() int64 {
	last := int64(0)
	if len(n.zxids) > 0 {
		last = n.zxids[len(n.zxids)-1]
	}
	n.zxids = append(n.zxids, last+1+n.gaps.Int64N(3))
	return n.zxids[len(n.zxids)-1]
}

func (n *numbers) next() int32 {
	n.object += 1 + n.gaps.Int32N(2)
	return n.object
}

// rank is the place of a zxid, whatever its number.
func (n *numbers) rank(zxid int64) (rank int) {
	for _, z := range n.zxids {
		if z <= zxid {
			rank++
		}
	}
	return rank
}

// dice returns a source of chance.
func dice(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 7)) }

// played returns the game that begins with some moves. How its numbers begin is drawn
// from the seed, too.
func played(start func(gaps *rand.Rand) game, seed, moves int) game {
	return numbered(start, seed, moves, -seed)
}

func numbered(start func(gaps *rand.Rand) game, seed, moves, gaps int) game {
	g, d := start(dice(gaps)), dice(seed)
	for range moves {
		g.move(d)
	}
	return g
}

// remembered returns the hash of a monitor that has seen a history, and whether it has
// found nothing.
func remembered(h *history.History, m Monitor) (uint64, bool) {
	m.Reset()
	ok := check(h, m).Level == OK
	return m.Hash(), ok
}

// shape is what happened, but for numbers and values.
func shape(h *history.History) string {
	var b strings.Builder
	for _, e := range h.Events {
		fmt.Fprintf(&b, "%v c%d %s %s %v,", e.Kind, e.Client, e.Op, e.Path, e.Err)
	}
	return b.String()
}

// whatIsForgottenDoesNotMatter plays many games until the state and what a monitor remembers are the
// same in several; however these go on from there, if all go on alike, the verdict is the
// same.
func whatIsForgottenDoesNotMatter(t *testing.T, c Monitored, start func(gaps *rand.Rand) game) {
	t.Helper()
	const games, continuations, enough = 20_000, 6, 6000
	type beginning struct {
		seed, moves int
		shape       string
	}
	groups := map[string][]beginning{}
	pairs, levels := 0, map[Level]int{}
	m := c.Monitor()
	for seed := 0; seed < games && pairs < enough; seed++ {
		x := beginning{seed: seed, moves: 4 + seed%12}
		g := played(start, x.seed, x.moves)
		hash, ok := remembered(g.history(), m)
		if !ok {
			continue
		}
		if again, _ := remembered(numbered(start, x.seed, x.moves, games+seed).history(), m); again != hash {
			t.Fatalf("%s: other zxids and numbers of objects have another hash, of\n%s", c.Name(), listed(g.history()))
		}
		x.shape = shape(g.history())
		key := fmt.Sprint(hash, g.state())
		for k, y := range groups[key] {
			if k == 8 || x.shape == y.shape {
				break
			}
			pairs++
			for i := range continuations {
				a, b := played(start, x.seed, x.moves), played(start, y.seed, y.moves)
				d, e := dice(-i-1), dice(-i-1)
				for range 3 + 5*i {
					a.move(d)
					b.move(e)
				}
				got, want := c.Check(a.history()), c.Check(b.history())
				levels[want.Level]++
				if got.Level != want.Level {
					t.Fatalf("%s: %v after\n%s\nand %v after\n%s\nwhich go on alike from event %d and %d, in the state %s",
						c.Name(), got, listed(a.history()), want, listed(b.history()), strings.Count(x.shape, ","), strings.Count(y.shape, ","), key)
				}
			}
		}
		groups[key] = append(groups[key], x)
	}
	t.Logf("%s: %d pairs of beginnings, verdicts %v", c.Name(), pairs, levels)
	if pairs < 1000 || levels[Violated] < 200 || levels[OK] < 200 {
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
func agrees(t *testing.T, c Checker, start func(gaps *rand.Rand) game, said func(h *history.History) Level) {
	t.Helper()
	const games = 25_000
	levels := map[Level]int{}
	for seed := range games {
		h := played(start, seed, 4+seed%30).history()
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
