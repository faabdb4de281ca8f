package engine

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"reflect"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"

	"zksim/internal/stacks"
	"zksim/sim"
)

// Place is where the code of a client continues in a step of a run. It is for debuggers.
type Place struct {
	Client int
	PC     uintptr // in this process: where it continues, or begins
	Func   string
	File   string
	Line   int
	Begins bool // it has not run before
}

// String says where, in a few words.
func (p Place) String() string {
	verb := "goes on in"
	if p.Begins {
		verb = "begins with"
	}
	return fmt.Sprintf("c%d %s %s, %s:%d", p.Client, verb, p.Func, p.File, p.Line)
}

// IdleError says that a step runs no client code.
type IdleError struct {
	Step int
	Name string // of its transition
	Next int    // the first step after it in which code runs; 0: there is none
	Then string // the name of that step
}

// Error says so, and names the next step that does.
func (e *IdleError) Error() string {
	text := fmt.Sprintf("step %d, %s, runs no code of a client", e.Step, e.Name)
	if e.Next == 0 {
		return text + ", and neither does a later one"
	}
	return fmt.Sprintf("%s; the next that does is step %d, %s", text, e.Next, e.Then)
}

// PlaceOf runs a schedule and returns where client code continues in a step; steps count from 1. It fails like Replay,
// with an [*IdleError], and if there is no such step. The schedule may have fewer steps than the run.
func PlaceOf(s *Scenario, schedule Schedule, step int) (Place, error) {
	r := NewRunner()
	defer r.Close()
	f := &placeFinder{world: r.world, program: s.Program, target: step}
	r.world.Watch, r.world.Strict = f, true
	defer func() { r.world.Watch, r.world.Strict = nil, false }()
	res, err := r.Replay(s, schedule)
	switch names := res.Schedule.Names; {
	case err != nil:
		return Place{}, err
	case step < 1 || step > len(names):
		return Place{}, fmt.Errorf("there is no step %d, expected one from 1 to %d", step, len(names))
	case f.found == nil:
		e := &IdleError{Step: step, Name: names[step-1]}
		if i := slices.IndexFunc(f.turns, func(n int) bool { return n > step }); i >= 0 {
			e.Next, e.Then = f.turns[i], names[f.turns[i]-1]
		}
		return Place{}, e
	}
	return *f.found, nil
}

// ReplayStopping is Replay, except that stop is called before a step.
func (r *Runner) ReplayStopping(s *Scenario, schedule Schedule, step int, stop func()) (Result, error) {
	if err := s.accept(&schedule); err != nil {
		return Result{}, err
	}
	return r.run(s, schedule, &stopping{sim.Replay{Names: schedule.Names}, step, stop})
}

// stopping is a chooser that calls a function before a step.
type stopping struct {
	sim.Replay
	step int
	stop func()
}

// Choose implements [sim.Chooser].
func (c *stopping) Choose(w *sim.World) (sim.Transition, bool, error) {
	if w.Step()+1 == c.step {
		c.stop()
	}
	return c.Replay.Choose(w)
}

// placeFinder looks at the stacks of client code around its first turn in a step.
type placeFinder struct {
	world   *sim.World
	program func(*Process)
	target  int
	turns   []int // the steps in which code ran
	before  map[uint64][]uintptr
	found   *Place
}

// coroutineLabel marks the goroutines of client code in profiles.
const coroutineLabel = "zksim.goroutine"

// Runs implements [sim.Watch]. It is called by the goroutine itself, which is the only one that can label it.
func (f *placeFinder) Runs(goroutine uint64, _ int) { label(goroutine) }

// label marks the calling goroutine, which has that number.
func label(goroutine uint64) {
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(coroutineLabel,
		strconv.FormatUint(goroutine, 10))))
}

// Resume implements [sim.Watch].
func (f *placeFinder) Resume(int) {
	if f.world.Step() == f.target && f.found == nil {
		f.before = labelled()
	}
}

// Park implements [sim.Watch].
func (f *placeFinder) Park(client int, goroutine uint64, _ int) {
	step := f.world.Step()
	if n := len(f.turns); n == 0 || f.turns[n-1] != step {
		f.turns = append(f.turns, step)
	}
	if step != f.target || f.found != nil {
		return
	}
	if frames := clientFrames(f.before[goroutine]); len(frames) > 0 {
		x := frames[0]
		f.found = &Place{Client: client, PC: x.PC + 1, Func: x.Function, File: x.File, Line: x.Line}
		return
	}
	entry := reflect.ValueOf(f.program).Pointer()
	if frames := clientFrames(labelled()[goroutine]); len(frames) > 0 {
		entry = frames[len(frames)-1].Entry
	}
	x := runtime.FuncForPC(entry)
	file, line := x.FileLine(entry)
	f.found = &Place{Client: client, PC: entry, Func: x.Name(), File: file, Line: line, Begins: true}
}

// clientFrames returns the calls of client code on a stack, the innermost first.
func clientFrames(pcs []uintptr) []runtime.Frame {
	var all []runtime.Frame
	var named []stacks.Frame
	for list := runtime.CallersFrames(pcs); len(pcs) > 0; {
		x, more := list.Next()
		all, named = append(all, x), append(named, stacks.Frame{Func: x.Function, File: x.File, Line: x.Line})
		if !more {
			break
		}
	}
	ours, call := stacks.Client(named)
	if call != "" {
		ours = ours[1:] // the method of Conn or Env itself
	}
	all = slices.DeleteFunc(all, func(x runtime.Frame) bool {
		return !slices.Contains(ours, stacks.Frame{Func: x.Function, File: x.File, Line: x.Line}) ||
			strings.HasPrefix(x.Function, "zksim/scenarios/engine.hearing") || x.File == "<autogenerated>"
	})
	return all
}

// labelled returns the stacks of the goroutines with the label, by its value. The text of the profile is the only place
// where Go shows the program counters and labels of other goroutines.
func labelled() map[uint64][]uintptr {
	var text bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&text, 1)
	found := map[uint64][]uintptr{}
	var pcs []uintptr
	for lines := bufio.NewScanner(&text); lines.Scan(); {
		line := lines.Text()
		if _, list, ok := strings.Cut(line, " @ "); ok && !strings.HasPrefix(line, "#") {
			pcs = nil
			for _, word := range strings.Fields(list) {
				pc, _ := strconv.ParseUint(word, 0, 64)
				pcs = append(pcs, uintptr(pc))
			}
		}
		if _, value, ok := strings.Cut(line, `"`+coroutineLabel+`":"`); ok {
			value, _, _ = strings.Cut(value, `"`)
			if id, err := strconv.ParseUint(value, 10, 64); err == nil {
				found[id] = pcs
			}
		}
	}
	return found
}
