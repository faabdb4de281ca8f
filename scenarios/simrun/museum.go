package simrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"zksim/model/history"
	"zksim/scenarios/engine"
)

// maxReps keeps the seeds of the last hunt far from the largest number.
const maxReps = 1_000_000

// museum prints the collection of mutants as a Markdown page.
func museum(ctx context.Context, a *app, args []string) (int, error) {
	f := a.flags("museum")
	reps := f.Int("reps", 20, "hunts per mutant and strategy, each with its own seed")
	if err := parse(f, args, 0); err != nil {
		return 0, err
	}
	if *reps < 1 || *reps > maxReps {
		return 0, fmt.Errorf("-reps is a number from 1 to %d, not %d", maxReps, *reps)
	}
	mutants := a.mutants()
	if len(mutants) == 0 {
		return 0, errors.New("this program has no mutants: scenarios that some checker must catch")
	}
	if err := allValid(mutants); err != nil {
		return 0, err
	}
	rows := make([]museumRow, len(mutants))
	bar := a.progress("museum", "mutants", int64(len(mutants)))
	defer bar.clear()
	undone := onEachCore(ctx, mutants, func(i int, s *engine.Scenario) {
		if ctx.Err() == nil {
			rows[i] = museumRow{s, hunts(ctx, s, engine.Random, *reps), hunts(ctx, s, engine.PCT, *reps)}
		}
		bar.add()
	})
	if ctx.Err() != nil {
		bar.clear()
		a.interrupted("museum", undone)
		return exitInconclusive, nil
	}
	if len(undone) > 0 {
		return 0, fmt.Errorf("%s: %w", undone[0], engine.ErrEnded)
	}
	return exitHeld, writeMuseum(a, rows, *reps)
}

// onEachCore calls f for each scenario of a list, as many at a time as there are cores. It returns the names of those
// whose call had not ended when ctx was done, or has not come back because client code ended its goroutine.
func onEachCore(ctx context.Context, list []*engine.Scenario, f func(i int, s *engine.Scenario)) (undone []string) {
	var wg sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	done := make([]bool, len(list))
	for i, s := range list {
		wg.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			f(i, s)
			done[i] = ctx.Err() == nil
		})
	}
	wg.Wait()
	for i, s := range list {
		if !done[i] {
			undone = append(undone, s.Name)
		}
	}
	return undone
}

// museumRow is one row.
type museumRow struct {
	*engine.Scenario
	random, pct hunt
}

// hunt is what it took to catch a mutant.
type hunt struct {
	seed, steps uint64 // of the first hunt, from seed 1
	median      uint64 // of the schedules that the hunts took
	escaped     int    // hunts that were given up
}

// String is a cell of the table.
func (h hunt) String() string {
	if h.seed == 0 {
		return "-"
	}
	s := fmt.Sprintf("%d (%d), %d", h.seed, h.steps, h.median)
	if h.escaped > 0 {
		s += fmt.Sprintf(", %d escaped", h.escaped)
	}
	return s
}

// apart is the distance between the seeds of two hunts, and so the length of the longest hunt.
const apart = 5_000

// hunts looks for the first catch again and again, until ctx is done.
func hunts(ctx context.Context, s *engine.Scenario, strategy engine.Strategy, reps int) (h hunt) {
	r := engine.NewRunner()
	r.Strategy = strategy
	defer r.Close()
	var took []uint64
	for rep := range uint64(reps) {
		n, steps := chase(ctx, r, s, rep)
		if ctx.Err() != nil {
			return hunt{}
		}
		switch {
		case steps == 0:
			h.escaped++
		case rep == 0:
			h.seed, h.steps = n, steps
		}
		took = append(took, n)
	}
	h.median = middle(took)
	return h
}

// chase runs the seeds of the hunt with this number until the mutant is caught, the hunt is given up or ctx is done. It
// returns how many seeds it took, and the steps of the last run, 0 if that is no catch.
func chase(ctx context.Context, r *engine.Runner, s *engine.Scenario, number uint64) (took, steps uint64) {
	for n := uint64(1); n <= apart && ctx.Err() == nil; n++ {
		if res := r.Seed(s, number*apart+n); s.Catches(res.Verdict) {
			return n, uint64(res.Steps)
		}
	}
	return apart + 1, 0
}

// middle returns the middle element, the higher one of two. It sorts list.
func middle[T cmp.Ordered](list []T) T {
	slices.Sort(list)
	return list[len(list)/2]
}

// mutants returns the mutants in the order of their numbers.
func (a *app) mutants() (all []*engine.Scenario) {
	for i := range a.all {
		if a.all[i].Broken() {
			all = append(all, &a.all[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *engine.Scenario) int { return cmp.Compare(a.Notes().Number, b.Notes().Number) })
	return all
}

const museumHead = `# The museum

%s
The last two columns of the table are what it takes to catch the bug by uniform choices and by priorities (PCT): the
first seed that catches it and the steps of that run in brackets, then the median number of schedules over %s that
begin at different seeds; a hunt that is given up counts as escaped. This page is made by
` + "`%s museum > docs/museum.md`" + `.

`

func writeMuseum(a *app, rows []museumRow, reps int) error {
	var b strings.Builder
	what, numbers := "Bugs, each written", ""
	number, rule := numberColumn(a.mutants())
	if rule != "" {
		what = "Documented bugs of shipped recipes and of the texts that recipes are copied from, each re-created"
		numbers = " Numbers from 101 on came later. Most of these bugs are our own: \"derived\" says from what, where no " +
			"report of the bug itself was found."
	}
	first := fmt.Sprintf("%s as a mutant: a checker that is named for it must catch it, and `%s check` fails when one "+
		"gets away.%s", what, a.called(), numbers)
	fmt.Fprintf(&b, museumHead, wrapped("", first, "", pageColumns), history.Counted(reps, "hunt"), a.command)
	fmt.Fprintf(&b, "|%s mutant | caught by | random | pct |\n|%s---|---|---|---|\n", number(nil), rule)
	for _, x := range rows {
		fmt.Fprintf(&b, "|%s `%s` | %s | %s | %s |\n", number(x.Scenario), x.Name, strings.Join(x.Caught, ", "), x.random,
			x.pct)
	}
	b.WriteString("\n## What each does wrong\n\n")
	for _, x := range rows {
		b.WriteString(wrapped("- ", wrong(x.Scenario), "  ", pageColumns))
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

// numberColumn returns what a row of a table of mutants has in the column of numbers (the head's row, if there is no
// mutant), and the column's rule. Mutants of somebody else have no numbers. If none has one, there is no such column.
func numberColumn(mutants []*engine.Scenario) (cell func(*engine.Scenario) string, rule string) {
	if !slices.ContainsFunc(mutants, func(s *engine.Scenario) bool { return s.Notes().Number > 0 }) {
		return func(*engine.Scenario) string { return "" }, ""
	}
	return func(s *engine.Scenario) string {
		switch {
		case s == nil:
			return " # |"
		case s.Notes().Number == 0:
			return " |"
		}
		return fmt.Sprintf(" %d |", s.Notes().Number)
	}, "---|"
}

// wrong says what a mutant does wrong, as far as it is known.
func wrong(s *engine.Scenario) string {
	n := s.Notes()
	text := fmt.Sprintf("`%s`", s.Name)
	if n.Number > 0 {
		text = fmt.Sprintf("%d, %s", n.Number, text)
	}
	if s.Doc != "" {
		text += ": " + s.Doc
	}
	for _, known := range [][2]string{{"Wakes with", n.Wakes}, {"Seen", n.Source}} {
		if known[1] != "" {
			text += fmt.Sprintf(". %s: %s", known[0], known[1])
		}
	}
	return text + "."
}

// wrapped returns a paragraph in lines of at most width characters. The first line begins with first, later ones with
// others.
func wrapped(first, text, others string, width int) string {
	var b strings.Builder
	line, before := first, ""
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(line+before+word) > width && before != "" {
			b.WriteString(line + "\n")
			line, before = others, ""
		}
		line += before + word
		before = " "
	}
	return b.String() + line + "\n"
}
