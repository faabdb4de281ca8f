package simrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"zksim/checkers"
	"zksim/internal/grep"
	"zksim/internal/pipeline"
	"zksim/internal/recording"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// grepRuns says how often a pattern is found in runs and histories, and where it is found first.
func grepRuns(ctx context.Context, a *app, args []string) (int, error) {
	f := a.flags("grep")
	run := f.String("run", "", "only scenarios whose names match this regular expression")
	seedsText := f.String("seeds", "1-1000", "seeds to run, as 17 or 1-500")
	words := f.Bool("words", false, "print the words of patterns")
	rest, err := parseMixed(f, args)
	if err != nil {
		return 0, err
	}
	if *words && len(rest) > 0 {
		return 0, fmt.Errorf("-words prints what there is, expected no %q beside it", rest[0])
	}
	if *words {
		_, err := io.WriteString(a.out, grep.Words())
		return exitHeld, err
	}
	if len(rest) == 0 {
		return 0, errors.New("an argument is missing, expected PATTERN, as \"lose-reply of c1, later c2 acquired\"; " +
			"-words prints what there is")
	}
	seeds, err := engine.ParseRange(*seedsText)
	if err != nil {
		return 0, fmt.Errorf("-seeds: %w", err)
	}
	var files, names []string
	for _, arg := range rest[1:] {
		switch {
		case arg == stdStream, strings.HasSuffix(arg, ".jsonl") && !strings.HasPrefix(arg, recording.Prefix):
			files = append(files, arg)
		default:
			names = append(names, arg)
		}
	}
	var found int
	if len(files) > 0 {
		if len(names) > 0 {
			return 0, errors.New("there are histories and scenarios, expected one kind of them")
		}
		if name := other(f); name != "" {
			return 0, fmt.Errorf("-%s is for scenarios, expected none beside histories", name)
		}
		found, err = a.grepFiles(rest[0], files)
	} else {
		selected, pickErr := a.pick(*run, names...)
		if pickErr != nil {
			return 0, pickErr
		}
		found, err = a.grepSeeds(ctx, rest[0], selected, seeds)
	}
	switch {
	case err != nil:
		return 0, err
	case ctx.Err() != nil:
		a.interrupted("grep", nil)
		return exitInconclusive, nil
	case found == 0:
		return exitViolation, nil
	}
	return exitHeld, nil
}

// grepFiles looks for a pattern in histories.
func (a *app) grepFiles(pattern string, files []string) (found int, err error) {
	var all []*history.History
	ops := a.operations(nil)
	for _, file := range files {
		h, err := a.readHistory(file)
		if err != nil {
			return 0, err
		}
		for i := range h.Events {
			if e := &h.Events[i]; e.Kind == history.Invoke || e.Kind == history.Return || e.Kind == history.Told {
				ops = append(ops, e.Op)
			}
		}
		all = append(all, h)
	}
	slices.Sort(ops)
	p, err := grep.Parse(pattern, slices.Compact(ops))
	if err != nil {
		return 0, err
	}
	if word := p.Transition(); word != "" {
		return 0, fmt.Errorf("%s is a transition, and a history has none of them, expected what its events say", word)
	}
	clients := 0
	for _, h := range all {
		clients = max(clients, h.Clients)
	}
	if err := enough(p, clients); err != nil {
		return 0, err
	}
	for i, h := range all {
		name := a.fileName(files[i])
		moments := p.Find(grep.Moments(h, nil))
		if moments == nil {
			fmt.Fprintf(a.out, "%s  not found\n", name)
			continue
		}
		found++
		fmt.Fprintf(a.out, "%s  found\n", name)
		for _, text := range momentTexts(moments) {
			fmt.Fprintf(a.out, "      %s\n", text)
		}
	}
	return found, nil
}

// enough returns an error if a pattern needs more clients than there are.
func enough(p *grep.Pattern, clients int) error {
	if n := p.Clients(); n > clients {
		return fmt.Errorf("the pattern needs %s, and there are %d at most", history.Counted(n, "client"), clients)
	}
	return nil
}

// operations are the words that the judges of scenarios know; those of all scenarios if selected is nil.
func (a *app) operations(selected []*engine.Scenario) (ops []string) {
	if selected == nil {
		selected = scenariosOf(a.all)
	}
	for _, s := range selected {
		ops = append(ops, s.Words...)
		for _, c := range s.Judges() {
			if d, ok := c.(checkers.Declaring); ok {
				for _, w := range d.Needs().Words {
					ops = append(ops, w.Op)
				}
			}
		}
	}
	slices.Sort(ops)
	return slices.Compact(ops)
}

// matches is how often a pattern was found in the runs of a scenario, by what these come to.
type matches struct {
	runs, found [checkers.Violated + 1]int
	first       [checkers.Violated + 1]*match
}

// match is where a pattern was found.
type match struct {
	seed    uint64
	moments []string
}

// grepSeeds looks for a pattern in the runs of seeds.
func (a *app) grepSeeds(ctx context.Context, pattern string, selected []*engine.Scenario, seeds engine.Range,
) (int, error) {
	p, err := grep.Parse(pattern, a.operations(selected))
	if err != nil {
		return 0, err
	}
	all, clients := 0, 0
	for _, s := range selected {
		clients = max(clients, s.Clients)
		if s.Outside != nil { // nobody knows how many there will be
			clients = math.MaxInt
		}
	}
	if err := enough(p, clients); err != nil {
		return 0, err
	}
	for _, s := range selected {
		if ctx.Err() != nil {
			break
		}
		x, err := grepScenario(ctx, p, s, seeds)
		if misused(a.out, s, err) {
			return 0, fmt.Errorf("%s: %s", s.Name, misuseText(err))
		}
		if err != nil {
			return 0, err
		}
		a.printMatches(s, x)
		for _, n := range x.found {
			all += n
		}
	}
	return all, nil
}

func grepScenario(ctx context.Context, p *grep.Pattern, s *engine.Scenario, seeds engine.Range) (*matches, error) {
	x := &matches{}
	var mu sync.Mutex
	o := engine.Options{Seeds: seeds, Strategy: engine.Portfolio}
	_, err := engine.Each(ctx, s, o, func(seed uint64, res *engine.Result) {
		moments := p.Find(grep.Moments(res.History, res.Schedule.Names))
		mu.Lock()
		defer mu.Unlock()
		level := res.Verdict.Level
		x.runs[level]++
		if moments == nil {
			return
		}
		x.found[level]++
		if x.first[level] == nil || seed < x.first[level].seed {
			x.first[level] = &match{seed, momentTexts(moments)}
		}
	})
	return x, err
}

// printMatches prints how often a pattern was found, and the command for the first match, preferably in a run that
// fails.
func (a *app) printMatches(s *engine.Scenario, x *matches) {
	fmt.Fprintf(a.out, "%-24s in %d of %d runs that fail, %d of %d that pass", s.Name, x.found[checkers.Violated],
		x.runs[checkers.Violated], x.found[checkers.OK], x.runs[checkers.OK])
	if n := x.runs[checkers.Unknown]; n > 0 {
		fmt.Fprintf(a.out, ", %d of %d that are inconclusive", x.found[checkers.Unknown], n)
	}
	fmt.Fprintln(a.out)
	first, what := x.first[checkers.Violated], "fails"
	if first == nil {
		first, what = x.first[checkers.OK], "passes"
	}
	if first == nil {
		first, what = x.first[checkers.Unknown], "is inconclusive"
	}
	if first == nil {
		return
	}
	fmt.Fprintf(a.out, "      first      seed %d, which %s\n", first.seed, what)
	for _, text := range first.moments {
		fmt.Fprintf(a.out, "                 %s\n", text)
	}
	name := pipeline.Quote(s.Name)
	fmt.Fprintf(a.out, "      look       %s explore -run %s -seed %d\n", a.command, name, first.seed)
	if what == "fails" {
		fmt.Fprintf(a.out, "      or         %s check %s -seeds %d -v\n", a.command, name, first.seed)
	}
}

func momentTexts(moments []grep.Moment) (list []string) {
	for _, m := range moments {
		list = append(list, reports.Printable(m.String()))
	}
	return list
}
