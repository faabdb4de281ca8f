// Package trial runs the scenarios of the correct recipes with one mutant of package recipes active, in a program that
// was built with all of them. It must not know what the changes are.
package trial

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"zksim/checkers"
	"zksim/internal/files"
	"zksim/internal/hash"
	"zksim/internal/mutate/active"
	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// Seeds is how many seeds simrun check takes for what must hold.
const Seeds = 1000

// patience is how long code may go on without a call; a mutant that does is taken for one that never ends.
const patience = 10 * time.Second

// Job is what a process does next: it tries a mutant, or, if that is 0, finds which mutants the runs of a scenario
// reach.
type Job struct {
	Mutant   int
	Scenario string
	Mutants  int // how many there are
}

// Outcome is what came of a mutant.
type Outcome struct {
	Mutant   int
	Caught   bool
	Scenario string // that has caught it
	Seed     uint64 // 0: not by a seed
	Checker  string // or, if it was not by a checker, why the scenario does not hold
	Goal     bool   // by no checker
	Runs     int    // until then
	Differ   int    // of these are others than those of the correct recipe
	Last     bool   // of the process: client code does not come back
}

// reach is what the runs of a scenario are without a mutant.
type reach struct {
	Seeds  map[int][]uint16 // by mutant: the seeds whose runs come to it
	Hashes [Seeds]uint64    // of what the judges see of the runs
}

// worker does jobs in a program that has all mutants.
type worker struct {
	dir     string
	reached map[string]reach
}

// Work does jobs from the standard input, a line each, and answers on the standard output. What correct runs reach is
// in files of a folder.
func Work(dir string) error {
	debug.SetMaxStack(64 << 20) // a recursion that does not end is to end soon
	w := &worker{dir: dir}
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for in.More() {
		var j Job
		err := in.Decode(&j)
		o := Outcome{Mutant: j.Mutant}
		switch {
		case err != nil:
		case j.Mutant == 0:
			err = w.reach(j)
		default:
			o, err = w.guarded(j.Mutant)
		}
		if err == nil {
			err = out.Encode(o)
		}
		if err != nil || o.Last {
			return err
		}
	}
	return nil
}

// guarded is try under the guard that finds code which waits otherwise than by its Conn and Env: what keeps a lock of
// Go, or leaves a channel empty, would hold up the process.
func (w *worker) guarded(mutant int) (o Outcome, err error) {
	guard, done := engine.NewGuard(patience), make(chan struct{})
	r := engine.NewRunner()
	r.Strategy = engine.Portfolio
	guard.Watch(r)
	go func() {
		defer close(done)
		o, err = w.try(r, mutant)
	}()
	if stuck := guard.Until(done, nil); stuck != nil {
		return Outcome{Mutant: mutant, Caught: true, Checker: "misuse", Last: true}, nil
	}
	r.Close()
	return o, err
}

// reach runs the seeds of a scenario without a mutant.
func (w *worker) reach(j Job) error {
	r := engine.NewRunner()
	defer r.Close()
	r.Strategy = engine.Portfolio
	s, all := catalog.Named(j.Scenario), reach{Seeds: map[int][]uint16{}}
	for seed := range uint64(Seeds) {
		marks := make([]bool, j.Mutants+1)
		active.Begin(marks)
		res := r.Seed(s, seed+1)
		if res.Verdict.Level == checkers.Violated {
			return fmt.Errorf("%s, seed %d, without a mutant: %v", s.Name, seed+1, res.Verdict)
		}
		all.Hashes[seed] = seen(res.History)
		for m, hit := range marks {
			if hit && m > 0 {
				all.Seeds[m] = append(all.Seeds[m], uint16(seed+1))
			}
		}
	}
	active.Begin(nil)
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(all); err != nil {
		return err
	}
	return files.Save(w.dir, filepath.Base(File(w.dir, s.Name)), func(to io.Writer) error {
		_, err := text.WriteTo(to)
		return err
	})
}

// File is where it is noted what the runs of a scenario reach.
func File(dir, scenario string) string {
	return filepath.Join(dir, "reach."+filepath.Base(filepath.Dir(scenario))+"."+filepath.Base(scenario))
}

// load reads what reach has found of all scenarios.
func (w *worker) load() error {
	if w.reached != nil {
		return nil
	}
	w.reached = map[string]reach{}
	for _, s := range Correct() {
		f, err := os.Open(File(w.dir, s.Name))
		if errors.Is(err, fs.ErrNotExist) { // not to be run
			continue
		}
		if err != nil {
			return err
		}
		var all reach
		err = gob.NewDecoder(f).Decode(&all)
		f.Close()
		if err != nil {
			return err
		}
		w.reached[s.Name] = all
	}
	return nil
}

// Correct returns the scenarios in which everything must hold.
func Correct() (list []*engine.Scenario) {
	for i := range catalog.All {
		if s := &catalog.All[i]; !s.Broken() {
			list = append(list, s)
		}
	}
	return list
}

// try runs the scenarios with a mutant until one fails: first one seed of each, then the next of each.
func (w *worker) try(r *engine.Runner, mutant int) (Outcome, error) {
	o := Outcome{Mutant: mutant}
	if err := w.load(); err != nil {
		return o, err
	}
	active.Select(mutant)
	defer active.Select(0)
	var reaching []*engine.Scenario
	for _, s := range Correct() {
		if len(w.reached[s.Name].Seeds[mutant]) > 0 {
			reaching = append(reaching, s)
		}
	}
	differ := map[*engine.Scenario]bool{}
	for i, more := 0, true; more; i++ {
		more = false
		for _, s := range reaching {
			list := w.reached[s.Name].Seeds[mutant]
			if i >= len(list) {
				continue
			}
			more = true
			active.Begin(nil)
			res := r.Seed(s, uint64(list[i]))
			o.Runs++
			if seen(res.History) != w.reached[s.Name].Hashes[list[i]-1] {
				o.Differ++
				differ[s] = true
			}
			if res.Verdict.Level == checkers.Violated {
				o.Caught, o.Scenario, o.Seed, o.Checker = true, s.Name, uint64(list[i]), res.Verdict.Checker
				return o, nil
			}
		}
	}
	for _, s := range reaching {
		if !differ[s] { // nor would anything else
			continue
		}
		if w.whole(s, &o) {
			return o, nil
		}
	}
	return o, nil
}

// seen is a hash of what a history shows.
func seen(h *history.History) uint64 {
	x := hash.Hash(0).Int(int64(h.Steps))
	for i := range h.Events {
		e := &h.Events[i]
		x = x.Int(int64(e.Kind)).Int(int64(e.Client)).Int(int64(e.Step)).Bool(e.OK).Int(e.Zxid).Int(e.Value).String(e.Op)
		x = x.String(e.Path).String(e.Data)
		if e.Err != nil {
			x = x.String(e.Err.Error())
		}
	}
	return uint64(x)
}

// whole runs a scenario as check does: with its goals, and all schedules of a small scope.
func (w *worker) whole(s *engine.Scenario, o *Outcome) (caught bool) {
	active.Begin(nil)
	x, err := pipeline.Run(context.Background(), s, pipeline.Options{Options: engine.Options{
		Seeds: engine.Range{First: 1, Last: Seeds}, Strategy: engine.Portfolio, Workers: 1,
		Progress: func() { active.Begin(nil) }}})
	switch {
	case err != nil: // client code has left the simulator, or says what no checker knows
		o.Checker = err.Error()
	case x.Status == engine.Violation:
		o.Checker = x.Failure.Verdict.Checker
	case x.Status != engine.Held:
		o.Checker, o.Goal = x.Why, true
	default:
		return false
	}
	o.Caught, o.Scenario = true, s.Name
	return true
}
