package engine

import (
	"fmt"
	"runtime/metrics"
	"slices"
	"time"

	"zksim/internal/stacks"
	"zksim/sim"
)

// turns counts the goroutines that start in each turn of client code, to find those that end too soon to be seen. Go
// counts them for the whole process, so the number of a single run means nothing. But the turns of a seed are the same
// in each run: if a turn starts goroutines every time, and none start between turns, client code starts them.
type turns struct {
	sample []metrics.Sample

	at       int    // the turn
	base     uint64 // goroutines at its beginning, or at the end of the last turn; without those of the world
	began    bool
	noise    bool  // others start goroutines
	suspects []int // turns in which goroutines were started

	resumed time.Time
	slow    bool // a turn took long: code may have waited, unseen

	target int // the turn to be described; -1: none
	client int // whose turn that is
	frames []stacks.Frame
}

func (t *turns) begin() {
	t.at, t.began, t.noise, t.suspects, t.slow = 0, false, false, nil, false
}

// count returns how many goroutines were created, without those that the world made.
func (t *turns) count(made int) uint64 {
	if t.sample == nil {
		t.sample = []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	}
	metrics.Read(t.sample)
	if t.sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return t.sample[0].Value.Uint64() - uint64(made)
}

func (t *turns) resume(made int) {
	n := t.count(made)
	t.noise = t.noise || t.began && n != t.base
	t.base, t.began = n, true
	t.resumed = time.Now()
}

func (t *turns) park(client int, goroutine uint64, made int) {
	t.slow = t.slow || time.Since(t.resumed) > slowTurn
	n := t.count(made)
	if n != t.base {
		t.suspects = append(t.suspects, t.at)
	}
	if t.at == t.target {
		t.client, t.frames = client, nil
		new(stacks.Dump).Each(func(g stacks.Goroutine) bool {
			if g.ID == goroutine {
				t.frames, _ = stacks.Client(g.Frames())
			}
			return g.ID != goroutine
		})
		n = t.count(made)
	}
	t.base = n
	t.at++
}

// A turn usually takes a few microseconds. If one takes longer, the run is repeated a few times: on a busy machine the
// guard may not have looked while client code waited.
const (
	slowTurn  = 100 * time.Microsecond
	moreLooks = 10
)

// doubts repeats a run while client code may have waited in it.
func (t *turns) doubts(again func() error) error {
	for n := 0; t.slow && n < moreLooks; n++ {
		if err := again(); err != nil {
			return err
		}
	}
	return nil
}

// How often a turn must start goroutines to be found out, and how many runs may be made to see that.
const (
	enoughRuns = 8
	mostRuns   = 20
)

// confirm repeats a run in which goroutines were started, and returns the misuse of client code that starts some each
// time; nil if there is none, or if other goroutines make it impossible to tell.
func (t *turns) confirm(again func() error) error {
	if len(t.suspects) == 0 || t.noise {
		return nil
	}
	list := t.suspects
	for clear, runs := 0, 0; clear < enoughRuns; runs++ {
		if runs == mostRuns {
			return nil
		}
		t.target = list[0]
		if err := again(); err != nil {
			return err
		}
		if t.noise {
			continue
		}
		clear++
		list = slices.DeleteFunc(list, func(turn int) bool { return !slices.Contains(t.suspects, turn) })
		if len(list) == 0 {
			return nil
		}
	}
	where := "this call"
	if len(t.frames) == 0 {
		where = "it ends"
	}
	return &sim.Misuse{Client: t.client, Stack: stacks.Text(t.frames),
		Message: fmt.Sprintf("c%d starts a goroutine otherwise than by Env.Go, before %s", t.client, where)}
}
