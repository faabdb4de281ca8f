// Package engine runs scenarios: one seed or schedule after the other ([Runner]), or many seeds on all cores ([Run]).
// It shrinks a failing schedule, tells its steps and finds the deciding one. It knows no scenario and no recipe, and
// neither files nor pages. Tests import package scenarios instead.
package engine

import (
	"fmt"
	"slices"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/sim"
)

// Recipes are written for the simulated connection and environment.
var (
	_ recipes.Conn = sim.Conn{}
	_ recipes.Env  = sim.Env{}
)

// Scenario is one experiment.
type Scenario struct {
	Name string // recipe/variant
	Doc  string // one sentence

	Clients int
	Dials   int             // how many more connections each client may make, in all rounds together; see [Process.Dial]
	Rounds  int             // how often each client repeats what it does; 0: the program has no rounds
	Servers []int           // sizes of the ensemble; each seed draws one. Empty: 1
	Like    model.Like      // whose semantics the servers have; the zero value is ZooKeeper
	Setup   []model.Request // executed before the clients start
	Faults  faults.Plan     // what may go wrong; each seed draws a part of it

	// Program is what each client does. It must take all time, randomness and concurrency from its Process, and share
	// nothing with other clients. A program that waits or starts goroutines in another way is a [sim.Misuse].
	Program func(p *Process)

	// Outside, if not nil, replaces Program and Clients. It is code that is not simulated and that joins w with remote
	// clients. It calls run once, which returns when the run is over, and returns what run returned; see
	// [sim.World.SetOutside]. Its states cannot be remembered, so of the exhaustive searches only [Exhaust] takes it.
	Outside func(w *sim.World, run func() error) error

	// Elsewhere, if not nil, returns a worker that makes the runs of a scenario with Outside, one at a time, in place of
	// this process. Each runner gets its own worker.
	Elsewhere func() (Worker, error)

	// Checkers judge each run. If there are none, Liveness, Quiescence and Steps do.
	Checkers []checkers.Checker
	Goals    []Goal

	// Finally, if not nil, is one more checker, called "finally". It returns an error that says what is wrong with a run
	// that has come to rest. It may look at everything that was recorded except steps, and change nothing; the number of
	// an object only tells it from other objects.
	Finally func(h *history.History) error
	// Heeds, if not nil, lists what Finally looks at: operations that the program records, and kinds of events, such as
	// "deleted". Finally is shown no others; with an empty list it is shown only how the run ends. A proof then treats
	// schedules that differ only in the order of other events as the same, and has far fewer states.
	Heeds []string

	// Words are operations that the program records and that nobody is to judge. Any other word must be one that a checker
	// knows, see [checkers.Needs]. That finds misspelled words.
	Words []string

	// Caught names the checkers that are to find the flaw of a mutant: the scenario succeeds when one of them does. If it
	// is empty, everything must hold.
	Caught []string

	// SafetySteps and MaxSteps are as in sim.Config. SafetySteps 0 is half of MaxSteps if that is less than the usual
	// number. A run with more clients or rounds than the scenario may have more steps than MaxSteps, in proportion, up to
	// 1,048,576.
	SafetySteps, MaxSteps int

	own   size // of the scenario that this is a resized copy of
	notes Notes
	loose bool // see FaultsOptional
	other bool // see WithPlan
	alike func(id, rounds int) int
}

// Notes are what a catalogue of scenarios knows of a scenario besides what it runs.
type Notes struct {
	Source string // where the recipe or the bug comes from
	Number int    // of a mutant: its number in docs/museum.md
	Wakes  string // of a mutant: which faults or orders of events wake the bug
}

// With returns the scenario with notes.
func (s Scenario) With(n Notes) Scenario {
	s.notes = n
	return s
}

// Notes returns the notes of the scenario.
func (s *Scenario) Notes() Notes { return s.notes }

// FaultsOptional returns the scenario with a plan that says what may happen, not what must: a rule that can never
// strike does not make the result inconclusive.
func (s Scenario) FaultsOptional() Scenario {
	s.loose = true
	return s
}

// WithPlan returns the scenario with another fault plan. Its goals, and the needs of its checkers, were made for its
// own plan: if no run has them, that is only noted.
func (s Scenario) WithPlan(p faults.Plan) Scenario {
	s.Faults, s.other = p, true
	return s
}

// Symmetric returns the scenario with the knowledge of which clients are the same. alike returns the same number for
// clients whose programs differ only in the names that Env.UUID makes, and rely only on these names being unique.
// Exhaustive search can then leave out states that differ only in who is who.
func (s Scenario) Symmetric(alike func(id, rounds int) int) Scenario {
	s.alike = alike
	return s
}

// Alike returns the argument of Symmetric, nil if no two clients are known to be the same.
func (s *Scenario) Alike() func(id, rounds int) int { return s.alike }

// Broken reports whether the scenario is a mutant that must fail.
func (s *Scenario) Broken() bool { return len(s.Caught) > 0 }

// Without returns the scenario without the checkers of these names, which have nothing to judge in it. It panics if the
// scenario has no checker of such a name.
func (s Scenario) Without(names ...string) Scenario {
	s.Checkers = slices.Clone(s.Checkers)
	for _, name := range names {
		n := len(s.Checkers)
		s.Checkers = slices.DeleteFunc(s.Checkers, func(c checkers.Checker) bool { return c.Name() == name })
		if len(s.Checkers) == n {
			panic(fmt.Sprintf("scenario %s has no checker %q", s.Name, name))
		}
	}
	return s
}

// usualJudges judge a scenario that names no checkers: no client gives up, waits forever, or goes on forever.
var usualJudges = []checkers.Checker{checkers.Liveness{}, checkers.Quiescence{}, checkers.Steps{}}

// Judges returns the scenario's checkers, including Finally; if it names none, Liveness, Quiescence and Steps.
func (s *Scenario) Judges() []checkers.Checker {
	all := s.Checkers
	if len(all) == 0 && s.Outside == nil && s.Elsewhere == nil {
		all = usualJudges
	}
	if s.Finally == nil {
		return all
	}
	finally := checkers.Finally{Judge: s.Finally}
	if s.Heeds == nil {
		return append(slices.Clip(all), finally)
	}
	return append(slices.Clip(all), checkers.FinallyOf{Finally: finally, Heeds: s.Heeds})
}

// Listed returns the scenario with Finally among its Checkers.
func (s Scenario) Listed() Scenario {
	s.Checkers, s.Finally, s.Heeds = s.Judges(), nil, nil
	return s
}

// Goal is something that must happen in at least one run, so that no scenario holds because nothing was tried.
type Goal struct {
	Name    string
	Reached func(h *history.History) bool
}

// T is what checks of scenarios need of a *testing.T.
type T interface {
	Helper()
	Name() string
	Cleanup(f func())
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}
