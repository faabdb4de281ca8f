package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"zksim/internal/hash"
	"zksim/internal/mutate"
	"zksim/internal/mutate/trial"
)

// options say what to measure.
type options struct {
	n       int // 0: all
	beside  int // the first mutants drawn, which are not tried
	match   *regexp.Regexp
	workers int
	dir     string // where what was found stays; "": nowhere
	verbose bool
	// only, if not nil, are the names of the scenarios to run.
	only []string
}

// args are the arguments that choose the mutants, for the page.
func (o *options) args() (text string) {
	if o.n > 0 {
		text += fmt.Sprintf(" -n %d", o.n)
	}
	if o.beside > 0 {
		text += fmt.Sprintf(" -beside %d", o.beside)
	}
	if o.match != nil && o.match.String() != "" {
		text += fmt.Sprintf(" -run '%s'", o.match)
	}
	return text
}

// measured is what came of it.
type measured struct {
	args     string          // of the command
	all      []mutate.Mutant // of the package
	tried    []mutate.Mutant
	outcomes map[int]trial.Outcome // of those
	reasoned map[string]string
}

// equivalentList is the mutants that no scenario need notice.
//
//go:embed equivalent.txt
var equivalentList string

// equivalents reads a list: a mutant, and below it, indented, why it makes no difference to what a recipe promises.
func equivalents(list string) (map[string]string, error) {
	all, last := map[string]string{}, ""
	for i, line := range strings.Split(list, "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "  ") && last != "":
			all[last] = strings.TrimSpace(all[last] + " " + strings.TrimSpace(line))
		case strings.HasPrefix(line, " "):
			return nil, fmt.Errorf("equivalent.txt:%d: a reason without a mutant", i+1)
		default:
			if _, twice := all[line]; twice {
				return nil, fmt.Errorf("equivalent.txt:%d: %s is there twice", i+1, line)
			}
			last, all[line] = line, ""
		}
	}
	return all, nil
}

// build builds the program that tries mutants, with all of them.
func build(dir, overlay string) (string, error) {
	program := filepath.Join(dir, "worker")
	command := exec.Command("go", "build", "-buildvcs=false", "-overlay", overlay, "-o", program,
		"zksim/internal/mutate/mutation/worker")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building all mutants: %w\n%s", err, out)
	}
	return program, nil
}

// measure tries mutants.
func measure(ctx context.Context, o options) (*measured, error) {
	work, err := os.MkdirTemp("", "mutation-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	m := &measured{args: o.args(), outcomes: map[int]trial.Outcome{}}
	if m.reasoned, err = equivalents(equivalentList); err != nil {
		return nil, err
	}
	set, program, err := load(work)
	if err != nil {
		return nil, err
	}
	m.all = set.Mutants
	m.tried = sample(m.all, o)
	k, err := open(o.dir, work, program)
	if err != nil {
		return nil, err
	}
	defer k.close()
	p := &pool{ctx: ctx, program: program, dir: k.dir, workers: o.workers}
	if err := p.reach(len(m.all), o.only); err != nil {
		return nil, err
	}
	var jobs []trial.Job
	for _, x := range m.tried {
		if _, reasoned := m.reasoned[x.String()]; reasoned {
			continue
		}
		if out, known := k.outcomes[x.ID]; known {
			m.outcomes[x.ID] = out
			continue
		}
		jobs = append(jobs, trial.Job{Mutant: x.ID, Mutants: len(m.all)})
	}
	err = p.do(jobs, func(j trial.Job, out trial.Outcome, ok bool) error {
		if !ok {
			out = trial.Outcome{Mutant: j.Mutant, Caught: true, Checker: "crash"}
		}
		m.outcomes[j.Mutant] = out
		if o.verbose {
			fmt.Fprintf(os.Stderr, "%5d of %d  %s\n", len(m.outcomes), len(m.tried), m.line(&m.all[j.Mutant-1]))
		}
		return k.keep(out)
	})
	return m, err
}

// reach has the seeds run without a mutant, of the scenarios of these names, or all. It leaves out those of which it is
// known what they reach.
func (p *pool) reach(mutants int, only []string) error {
	var jobs []trial.Job
	for _, s := range trial.Correct() {
		if only != nil && !slices.Contains(only, s.Name) {
			continue
		}
		if _, err := os.Stat(trial.File(p.dir, s.Name)); err != nil {
			jobs = append(jobs, trial.Job{Scenario: s.Name, Mutants: mutants})
		}
	}
	return p.do(jobs, func(j trial.Job, _ trial.Outcome, ok bool) error {
		if !ok {
			return fmt.Errorf("%s does not run without a mutant", j.Scenario)
		}
		return nil
	})
}

// sample returns the mutants to try, in the order of the source. They are drawn by the hashes of what they are, so that
// where the source changes the sample stays what it was, but for the mutants of the lines that have changed.
func sample(all []mutate.Mutant, o options) (list []mutate.Mutant) {
	for _, x := range all {
		if o.match == nil || o.match.MatchString(x.String()) {
			list = append(list, x)
		}
	}
	rank := func(x mutate.Mutant) uint64 { return uint64(hash.Hash(0).String(x.String()).Uint64(0)) }
	slices.SortStableFunc(list, func(a, b mutate.Mutant) int { return cmp.Compare(rank(a), rank(b)) })
	list = list[min(o.beside, len(list)):]
	if o.n > 0 {
		list = list[:min(o.n, len(list))]
	}
	slices.SortFunc(list, func(a, b mutate.Mutant) int { return a.ID - b.ID })
	return list
}

// pool is processes that do jobs.
type pool struct {
	ctx          context.Context
	program, dir string
	workers      int
}

// do does jobs and tells of each, one at a time; ok says that the process has not ended meanwhile. It ends early with
// the first error of tell.
func (p *pool) do(jobs []trial.Job, tell func(j trial.Job, o trial.Outcome, ok bool) error) error {
	var mu sync.Mutex
	var failed error
	next := func() (j trial.Job, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if len(jobs) == 0 || failed != nil || p.ctx.Err() != nil {
			return j, false
		}
		j, jobs = jobs[0], jobs[1:]
		return j, true
	}
	told := func(j trial.Job, o trial.Outcome, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, tell(j, o, ok))
	}
	var wg sync.WaitGroup
	for range p.workers {
		wg.Go(func() {
			for more := true; more; {
				var err error
				if more, err = p.process(next, told); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(failed, p.ctx.Err())
}

// process has one process do jobs until it ends. It reports whether there may be more of them.
func (p *pool) process(
	next func() (trial.Job, bool), tell func(trial.Job, trial.Outcome, bool),
) (more bool, err error) {
	command := exec.CommandContext(p.ctx, p.program, p.dir)
	command.Env = append(os.Environ(), "GOMAXPROCS=1")
	in, err := command.StdinPipe()
	if err != nil {
		return false, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := command.Start(); err != nil {
		return false, err
	}
	defer command.Wait()
	defer in.Close()
	to, from := json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))
	for {
		j, ok := next()
		if !ok {
			return false, nil
		}
		var o trial.Outcome
		if to.Encode(j) != nil || from.Decode(&o) != nil {
			if p.ctx.Err() == nil {
				tell(j, o, false)
			}
			return true, nil
		}
		tell(j, o, true)
		if o.Last {
			return true, nil
		}
	}
}
