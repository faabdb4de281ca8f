package stacks

import (
	"slices"
	"strings"
)

// floor is the function of the simulator under which all client code runs.
const floor = "zksim/sim.(*coroutine).run"

// calls are the types whose methods client code calls to wait.
var calls = []string{"zksim/sim.Conn.", "zksim/sim.Env."}

// harness are the functions of this module that run client code, or serve its calls.
var harness = []string{"zksim/sim.(*World).", "zksim/sim.(*Client).", "zksim/sim.(*coroutine).",
	"zksim/sim.clientStack",
	"zksim/internal/stacks.Current", "zksim/scenarios/engine.(*Runner).", "zksim/scenarios/engine.(*simHost)."}

// machinery are functions of Go itself that are on every stack.
var machinery = []string{"runtime.", "runtime/debug.", "iter.", "internal/runtime/"}

// Client returns the calls of client code among frames, the innermost first. call is the name of the method of Conn or
// Env that the code has called, the first of these; "" if it has called none.
func Client(frames []Frame) (list []Frame, call string) {
	for _, x := range frames {
		if x.Func == floor {
			break
		}
		if under(x.Func, calls) {
			call = x.Func[strings.LastIndexByte(x.Func, '.')+1:]
			list = append(list[:0], x)
			continue
		}
		if !under(x.Func, harness) && !under(x.Func, machinery) && x.Func != "panic" {
			list = append(list, x)
		}
	}
	return list, call
}

// Started returns the last line of the stack of a goroutine: the function that started it.
func Started(by Frame) Frame {
	by.Func = "started by " + by.Func
	return by
}

// Starts reports whether a function starts goroutines that run beside it. The runtime's goroutines do the runtime's
// work, and iter.Pull makes coroutines, which only run in place of their caller.
func (f Frame) Starts() bool {
	return !under(f.Func, []string{"runtime.", "iter.Pull"})
}

func under(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// Text returns frames as text, a line for each.
func Text(frames []Frame) string {
	var lines []string
	for _, x := range frames {
		lines = append(lines, x.String())
	}
	return strings.Join(lines, "\n")
}

// Wait says how a goroutine waits.
type Wait uint8

// The ways to wait. A goroutine that was only preempted, or that helps to collect garbage, does not wait.
const (
	Not   Wait = iota // it runs, or will as soon as a processor is free
	Lock              // for a lock, which others usually give back
	Event             // for time to pass, or for other goroutines or programs
)

// events are the states of goroutines that wait for an event, and locks those of goroutines that wait for a lock.
var (
	events = []string{"sleep", "select", "select (no cases)", "chan receive", "chan receive (nil chan)", "chan send",
		"chan send (nil chan)", "sync.WaitGroup.Wait", "sync.Cond.Wait", "IO wait"}
	locks = []string{"sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock", "semacquire"}
)

// Waits says how g waits.
func (g *Goroutine) Waits() Wait {
	switch {
	case slices.Contains(events, g.State):
		// A program that prints may have to wait for its reader.
		if g.State == "IO wait" && strings.Contains(string(g.text), "\nos.(*File).Write(") {
			return Lock
		}
		return Event
	case slices.Contains(locks, g.State) && g.locks():
		return Lock
	}
	return Not
}

// locks reports whether g waits in a function that locks. The runtime also does so when it begins to collect garbage.
func (g *Goroutine) locks() bool {
	for _, x := range g.Frames() {
		if !under(x.Func, machinery) {
			return under(x.Func, []string{"sync.", "internal/sync.", "internal/poll."})
		}
	}
	return false
}

// Parked reports whether g is a coroutine that waits for its turn, or a goroutine that waits for a coroutine.
func (g *Goroutine) Parked() bool { return g.State == "coroutine" }
