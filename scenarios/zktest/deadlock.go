package zktest

import (
	"slices"
	"strings"

	"zksim/internal/stacks"
	"zksim/scenarios/engine"
)

// halt describes how the goroutines of a run wait when the run cannot go on because one of them waits for a mutex, or
// for a channel or a WaitGroup that was made outside of the run. Package synctest does not count that as rest, so no
// client is served and time does not pass.
type halt struct {
	where string // "": the run can go on
	dead  bool   // no goroutine could end it: those that might unlock a mutex also wait for one another
	what  string // what one of them waits for
}

// reply returns the reply about such a run.
func (x halt) reply() *engine.Reply {
	if x.dead {
		return &engine.Reply{Dead: "the code waits, and nothing can go on: " + x.where}
	}
	return &engine.Reply{Last: true, Failed: "nothing is known of the run: a goroutine waits for " + x.what +
		" may wait for ZooKeeper or time, and with Go as it is neither goes on meanwhile; run " + engine.ExactCommand +
		": " + x.where}
}

// What a goroutine that has not come to rest waits for.
const (
	forMutex   = "a mutex whose holder"
	forOutside = "a channel or a WaitGroup that was made outside of the function, as that of a variable of a " +
		"package, and those that will use it"
)

// halted describes how the goroutines of the run wait, if none of them can go on and one has not come to rest.
func halted() halt {
	var list, asking []stacks.Goroutine
	what, alive, dead := "", false, true
	var d stacks.Dump
	d.Each(func(g stacks.Goroutine) bool {
		if g.Bubble == "" {
			alive = alive || awake(&g)
			return true
		}
		switch g.Waits() {
		case stacks.Not:
			alive = alive || !slices.Contains(switched, g.State)
		case stacks.Lock:
			what = forMutex
			if asks(&g) {
				asking = append(asking, g)
			}
		case stacks.Event:
			if alive = alive || g.State == "IO wait"; !g.Rests && what == "" {
				what = forOutside
			}
		}
		dead = dead && bound(&g)
		list = append(list, g)
		return true
	})
	if alive || what == "" {
		return halt{}
	}
	switch {
	case len(asking) > 0: // no client is served meanwhile
		return halt{"what Always asks: " + waits(asking, never), true, what}
	case dead:
		return halt{waits(list, never), dead, what}
	}
	return halt{waits(list, maybe), dead, what}
}

// asks reports whether a goroutine evaluates a condition of Always.
func asks(g *stacks.Goroutine) bool {
	return slices.ContainsFunc(g.Frames(), func(x stacks.Frame) bool {
		return strings.HasPrefix(x.Func, "zksim/scenarios/zktest.(*Cluster).look.")
	})
}

// awake reports whether a goroutine of the code outside of the run is running, or will run without being woken.
func awake(g *stacks.Goroutine) bool {
	if g.Waits() != stacks.Not && g.State != "sleep" && g.State != "IO wait" {
		return false
	}
	frames := codeOf(g)
	return len(frames) > 0 && !strings.HasPrefix(frames[0].Func, "os/signal.")
}

// switched lists the states of goroutines that neither run nor wait for an event: those of this package, and one that
// waits in iter.Pull for the goroutine at its other end.
var switched = []string{"synctest.Run", "synctest.Wait", coroutine}

const coroutine = "coroutine"

// endless lists the states, besides waiting for a lock, of goroutines that only goroutines of the code can wake.
var endless = []string{"sync.WaitGroup.Wait", "sync.Cond.Wait", "select (no cases)", "chan receive (nil chan)",
	"chan send (nil chan)", coroutine}

// bound reports whether neither ZooKeeper nor time can wake a goroutine of the code: it waits for a lock of the code or
// for other goroutines. A channel does not count, because it may belong to a timer or a watch.
func bound(g *stacks.Goroutine) bool {
	frames := codeOf(g)
	if len(frames) == 0 {
		return true
	}
	return slices.Contains(endless, g.State) ||
		g.Waits() == stacks.Lock && !strings.Contains(frames[0].Func, clientLibrary)
}
