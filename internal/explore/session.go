// Package explore walks through the runs of a scenario by hand. It shows the state and what can happen next, takes the
// transition that it is told, goes back, and writes the schedule. It knows neither terminals nor files: it writes text
// to any writer.
package explore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/internal/edit"
	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// Session is a walk through the runs of one scenario. It is not safe for concurrent use.
type Session struct {
	scenario *engine.Scenario
	schedule engine.Schedule // its names: first those taken, then those taken back
	at       int             // how many of the names are taken
	runner   *engine.Runner
	visit    *engine.Visit
}

// New returns a session that has taken the whole schedule. Close it to free its resources. New fails if the schedule
// does not fit the scenario.
func New(s *engine.Scenario, schedule engine.Schedule) (*Session, error) {
	x := &Session{scenario: s, schedule: schedule, runner: engine.NewRunner()}
	if err := x.Goto(len(schedule.Names)); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// Close frees the resources of a session.
func (x *Session) Close() { x.runner.Close() }

// Step is how many transitions are taken.
func (x *Session) Step() int { return x.at }

// Steps is how many transitions there are, including those that can be taken forward.
func (x *Session) Steps() int { return len(x.schedule.Names) }

// Choices are the names of the transitions that are possible now: first normal ones, then faults.
func (x *Session) Choices() []string { return append(slices.Clone(x.visit.Normal), x.visit.Faults...) }

// Over reports whether the run has ended.
func (x *Session) Over() bool { return x.visit.Over }

// Verdict is what the judges say about the run so far.
func (x *Session) Verdict() checkers.Verdict { return x.visit.Verdict }

// Goto goes to the point where step transitions are taken.
func (x *Session) Goto(step int) error {
	if step < 0 || step > len(x.schedule.Names) {
		return fmt.Errorf("there is no step %d, expected one from 0 to %d", step, len(x.schedule.Names))
	}
	old := x.at
	x.at = step
	err := x.look()
	if err != nil && x.visit != nil { // what was possible before is still possible
		x.at = old
	}
	return err
}

// look runs the transitions that are taken.
func (x *Session) look() error {
	v, err := x.runner.Visit(x.scenario, x.taken())
	if err != nil {
		return err
	}
	if n := len(v.Trace.Steps); n < x.at { // names after the end of the run
		x.at = n
		x.schedule.Names = x.schedule.Names[:n:n]
	}
	x.visit = v
	return nil
}

// taken is the schedule of the transitions that are taken.
func (x *Session) taken() engine.Schedule {
	p := x.schedule
	p.Names, p.Notes = slices.Clone(p.Names[:x.at]), nil
	return p
}

// Take makes a possible transition happen. Transitions that could be taken forward are forgotten, unless this is the
// next of them.
func (x *Session) Take(name string) error {
	name = strings.Join(strings.Fields(name), " ")
	choices := x.Choices()
	if !slices.Contains(choices, name) {
		if len(choices) == 0 || x.Over() {
			return fmt.Errorf("%.60q is not possible here: the run is over", name)
		}
		return fmt.Errorf("%.60q is not possible here, expected one of %s%s", name, strings.Join(choices, ", "),
			edit.Meant(name, choices))
	}
	if x.at == len(x.schedule.Names) || x.schedule.Names[x.at] != name {
		x.schedule.Names = append(x.schedule.Names[:x.at:x.at], name)
		x.schedule.Lines = nil
	}
	return x.Goto(x.at + 1)
}

// Random goes on to the end of the run with the choices of a seed, faults included.
func (x *Session) Random(seed uint64) error {
	res, err := x.runner.GoOn(x.scenario, x.taken(), seed)
	return x.went(&res, err)
}

// Fair goes on to the end of the run fairly and without faults, like a replay after the last line of a schedule.
func (x *Session) Fair() error {
	res, err := x.runner.Replay(x.scenario, x.taken())
	return x.went(&res, err)
}

func (x *Session) went(res *engine.Result, err error) error {
	if err != nil {
		return err
	}
	x.schedule.Names, x.schedule.Lines = res.Schedule.Names, nil
	return x.Goto(len(x.schedule.Names))
}

// ErrNothing says that no transition was taken yet.
var ErrNothing = errors.New("no transition was taken yet, expected at least one")

// Schedule is the run so far, with what each transition did as comments, and the checker that it violates.
func (x *Session) Schedule() (engine.Schedule, error) {
	if x.at == 0 {
		return engine.Schedule{}, ErrNothing
	}
	p := x.taken()
	p.Checker = ""
	if v := x.visit.Verdict; v.Level == checkers.Violated {
		p.Checker = v.Checker
	}
	p.Notes = reports.Notes(x.told())
	return p, nil
}

// told is what a page shows of the run so far.
func (x *Session) told() *reports.Failure {
	return &reports.Failure{History: x.visit.History, Trace: x.visit.Trace, Verdict: x.visit.Verdict,
		Property: pipeline.Property(x.scenario, x.visit.Verdict)}
}
