package zktest

import (
	"slices"
	"strings"

	"zksim/internal/stacks"
	"zksim/scenarios/engine"
)

// halt is how the goroutines of a run wait that cannot go on, since one of them waits for a mutex: package synctest
// does not take that for rest, so nobody is served and time does not pass.
type halt struct {
	where string // "": the run can go on
	dead  bool   // nothing could end it: those that might unlock a mutex wait for one another, too
}

// reply is what there is to tell of such a run.
func (x halt) reply() *engine.Reply {
	if x.dead {
		return &engine.Reply{Dead: "the code waits, and nothing can go on: " + x.where}
	}
	return &engine.Reply{Last: true, Failed: "nothing is known of the run: a goroutine waits for a mutex whose holder " +
		"may wait for ZooKeeper or time, and with Go as it is neither goes on meanwhile; run " + engine.ExactCommand +
		": " + x.where}
}

// halted says how the goroutines of the run wait, if none of them can go on and one waits for a lock.
func halted() halt {
	var list []stacks.Goroutine
	locked, alive, dead := false, false, true
	var d stacks.Dump
	d.Each(func(g stacks.Goroutine) bool {
		if g.Bubble == "" {
			return true
		}
		switch g.Waits() {
		case stacks.Not:
			alive = alive || g.State != "synctest.Run" && g.State != "synctest.Wait"
		case stacks.Lock:
			locked = true
		case stacks.Event:
			alive = alive || g.State == "IO wait"
		}
		dead = dead && bound(&g)
		list = append(list, g)
		return true
	})
	if alive || !locked {
		return halt{}
	}
	if dead {
		return halt{waits(list, never), dead}
	}
	return halt{waits(list, maybe), dead}
}

// endless are the states, other than those of locks, of goroutines that nobody but goroutines of the code can wake.
var endless = []string{"sync.WaitGroup.Wait", "sync.Cond.Wait", "select (no cases)", "chan receive (nil chan)",
	"chan send (nil chan)"}

// bound reports whether neither ZooKeeper nor time can wake a goroutine, if it is one of the code: it waits for a lock
// of the code, or for other goroutines. A channel may be that of a timer or a watch.
func bound(g *stacks.Goroutine) bool {
	frames := foreign(g.Frames())
	if len(frames) == 0 {
		return true
	}
	return slices.Contains(endless, g.State) ||
		g.Waits() == stacks.Lock && !strings.Contains(frames[0].Func, clientLibrary)
}
