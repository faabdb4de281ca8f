package simrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
)

// strategies prints a Markdown page that compares the strategies on the mutants, the others with the first.
func strategies(ctx context.Context, a *app, args []string) (int, error) {
	f := a.flags("strategies")
	pattern := f.String("run", "", "only mutants whose names match this regular expression")
	reps := f.Int("reps", 50, "hunts per mutant and strategy, each with its own seed")
	names, err := parseMixed(f, args)
	if err != nil {
		return 0, err
	}
	if *reps < 1 || *reps > maxReps {
		return 0, fmt.Errorf("-reps is a number from 1 to %d, not %d", maxReps, *reps)
	}
	picked, err := a.pick(*pattern, names...)
	if err != nil {
		return 0, err
	}
	mutants := slices.DeleteFunc(a.mutants(), func(s *engine.Scenario) bool { return !slices.Contains(picked, s) })
	if len(mutants) == 0 {
		return 0, fmt.Errorf("none of these is a mutant; \"%s list\" shows what must be caught", a.command)
	}
	if err := allValid(mutants); err != nil {
		return 0, err
	}
	rows := make([][]effort, len(mutants))
	proofs := make([]attempt, len(mutants))
	errs := make([]error, len(mutants))
	bar := a.progress("strategies", "measurements", int64(len(mutants)*(len(engine.Strategies)+1)))
	defer bar.clear()
	undone := onEachCore(ctx, mutants, func(i int, s *engine.Scenario) {
		for _, strategy := range engine.Strategies {
			rows[i] = append(rows[i], measure(ctx, s, *reps, func(r *engine.Runner, number uint64) (uint64, bool) {
				r.Strategy = strategy
				took, steps := chase(ctx, r, s, number)
				return took, steps > 0
			}))
			bar.add()
		}
		caught, _, err := prove.Widen(ctx, s, prove.Options{Reductions: prove.Every, Workers: 1}, someStates)
		proofs[i], errs[i] = attempt{caught}, err
		bar.add()
	})
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	if ctx.Err() != nil {
		bar.clear()
		a.interrupted("strategies", undone)
		return exitInconclusive, nil
	}
	if len(undone) > 0 {
		return 0, fmt.Errorf("%s: %w", undone[0], engine.ErrEnded)
	}
	return exitHeld, writeStrategies(a, mutants, rows, proofs, *reps)
}

// effort is what a strategy needed to catch a mutant: medians over its hunts.
type effort struct {
	schedules uint64
	cpu       time.Duration
	escaped   int // hunts that were given up; they count with what they took
}

// measure hunts a mutant, until ctx is done. Each number gives another hunt, which returns how many schedules it ran
// until it caught the mutant or gave up. The goroutine keeps its thread, so that the thread's CPU time is that of the
// hunt alone.
func measure(
	ctx context.Context, s *engine.Scenario, reps int, hunt func(r *engine.Runner, number uint64) (uint64, bool),
) (e effort) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := engine.NewRunner()
	defer r.Close()
	for seed := uint64(1); seed <= 20 && ctx.Err() == nil; seed++ {
		r.Seed(s, seed) // makes the memory that a runner reuses, so that the first hunt does not pay for it
	}
	var took []uint64
	var cpu []time.Duration
	for number := range uint64(reps) {
		began := threadTime()
		n, caught := hunt(r, number)
		if ctx.Err() != nil {
			return effort{}
		}
		if !caught {
			e.escaped++
		}
		took = append(took, n)
		cpu = append(cpu, threadTime()-began)
	}
	e.schedules, e.cpu = middle(took), middle(cpu)
	return e
}

// strategiesHead is the text of the page, where @ stands for a back quote.
const strategiesHead = `# What it takes each strategy

For every mutant and each strategy the table has two medians over %s: how many schedules a hunt ran until the
first catch, and the CPU time as a multiple of what @%s@ needed. A hunt that is given up after %d schedules counts as
one more, and as escaped. The schedules are the same on every machine. The CPU times vary by some tenths, and by more
where a hunt takes a schedule or two.

The last column is what bounded exhaustive search ([@%s prove@](prove.md)) needs, in distinct states. It is for the
smallest of a few scopes in which the search finds something before it has seen %d states with one number of faults. The
scopes have two or three clients; one round, two, or as many as the scenario has; and the scenario's faults, two at
most. Goroutines are woken at once or, with two clients, take their time. No timer fires early (while something else
could happen) or, with two clients, two do, with three, one. Names are drawn in one order or, with two clients, another
(@-order 5@). There is one server or, with two clients, three. (@%s prove@ goes through the same scopes by itself if no
flag says which.) In its scope the search finds the fewest faults that suffice, whatever the seed. @%s strategies >
docs/strategies.md@ makes this page.
`

// strategiesTail is what we have measured of our own mutants besides.
const strategiesTail = `
A search guided by novelty was no better, so it is not in the table. It kept each run that had reached a new kind of
state (@sim.World.Shape@). For every other schedule it branched from there into random futures. Over 25 hunts of each
mutant the geometric mean was 11.9 schedules instead of 8.2, and on the thirty mutants that are hardest to catch 89
instead of 54. Mutating the choices of such runs as bytes took 39, no less than random bytes. Almost every random run
reaches new states, so novelty tells little. It does help Go's fuzzer, which begins with no choices at all and would
otherwise see only which code of the recipe has run.
`

func writeStrategies(a *app, mutants []*engine.Scenario, rows [][]effort, proofs []attempt, reps int) error {
	var b strings.Builder
	name := a.called()
	hunts := history.Counted(reps, "hunt")
	text := fmt.Sprintf(strategiesHead, hunts, engine.Strategies[0], apart, name, someStates, name, a.command)
	number, rule := numberColumn(mutants)
	if rule != "" {
		text += strategiesTail
	}
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(text, "@", "`"), "\n\n") {
		b.WriteString(wrapped("", paragraph, "", pageColumns) + "\n")
	}
	fmt.Fprintf(&b, "|%s scenario |", number(nil))
	for i, strategy := range engine.Strategies {
		fmt.Fprintf(&b, " %s |", strategy)
		if i > 0 {
			b.WriteString(" CPU |")
		}
	}
	b.WriteString(" exhaustive |\n|" + rule + strings.Repeat("---|", 1+2*len(engine.Strategies)) + "\n")
	for i, s := range mutants {
		fmt.Fprintf(&b, "|%s `%s` |", number(s), s.Name)
		for k, e := range rows[i] {
			fmt.Fprintf(&b, " %d", e.schedules)
			if e.escaped > 0 {
				fmt.Fprintf(&b, ", %d escaped", e.escaped)
			}
			b.WriteString(" |")
			if k > 0 {
				fmt.Fprintf(&b, " %.2g |", e.times(rows[i][0]))
			}
		}
		fmt.Fprintf(&b, " %s |\n", proofs[i])
	}
	b.WriteString("|" + strings.Repeat(" |", strings.Count(rule, "|")) + " geometric mean |")
	for k := range engine.Strategies {
		schedules, cpu := 0.0, 0.0
		for _, row := range rows {
			schedules += math.Log(float64(row[k].schedules)) / float64(len(rows))
			cpu += math.Log(row[k].times(row[0])) / float64(len(rows))
		}
		fmt.Fprintf(&b, " %.1f |", math.Exp(schedules))
		if k > 0 {
			fmt.Fprintf(&b, " %.2f |", math.Exp(cpu))
		}
	}
	found := 0
	for _, x := range proofs {
		if x.Attempt != nil {
			found++
		}
	}
	fmt.Fprintf(&b, " %d of %d |\n", found, len(proofs))
	_, err := io.WriteString(a.out, b.String())
	return err
}

// times returns the CPU time as a multiple of another. A clock that has not moved counts as a microsecond.
func (e effort) times(other effort) float64 {
	return float64(max(e.cpu, time.Microsecond)) / float64(max(other.cpu, time.Microsecond))
}

// How many states a mutant is searched with for each number of faults: few at first and then many, or as many as are
// worth it for a table.
const (
	fewStates  = 100_000
	someStates = 300_000
	manyStates = 3_000_000
)

// attempt is a cell of the table: a search of a mutant with growing bounds, nil if nothing was found.
type attempt struct{ *prove.Attempt }

// String says what it took to find a violation, "-" if none was found.
func (x attempt) String() string {
	if x.Attempt == nil {
		return "-"
	}
	text := fmt.Sprintf("%s, ", history.Counted(x.Clients, "client"))
	if x.Rounds > 1 {
		text += fmt.Sprintf("%s, ", history.Counted(x.Rounds, "round"))
	}
	if x.SlowWakes {
		text += "slow wakes, "
	}
	if x.Ticks > 0 {
		text += fmt.Sprintf("ticks %d, ", x.Ticks)
	}
	if x.Order == prove.OtherOrder {
		text += "other order, "
	}
	if x.Scope.Servers > 1 {
		text += "3 servers, "
	}
	states := x.Result.Last.States
	for _, l := range x.Result.Levels {
		states += l.States
	}
	return text + fmt.Sprintf("%s: %d", pipeline.FaultsText(x.Result.Struck), states)
}
