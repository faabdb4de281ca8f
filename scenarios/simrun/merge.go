package simrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/pipeline"
	"zksim/internal/shard"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// mergeFlags are the flags of merge.
type mergeFlags struct {
	findings, obligations string
	undone                bool
	results
}

func mergeCommand(ctx context.Context, a *app, args []string) (int, error) {
	var c mergeFlags
	f := a.flags("merge")
	f.StringVar(&c.findings, "findings", "", "file with the history of findings, read if it exists and then written; "+
		"commit it (default: "+findingsName+" in the folder of -o)")
	f.StringVar(&c.obligations, "obligations", "", "for proofs: the list that they come from; it is written to "+
		obligationsName+" in the folder of -o, with the times that they took, for the next run")
	f.BoolVar(&c.undone, "undone", false, "merge nothing, but print the numbers of the parts to run again, as 3,7: those "+
		"that are missing, damaged or not done")
	c.flags(f)
	f.Lookup("o").DefValue, c.out = "merged", "merged"
	dirs, err := c.parse(f, args)
	if err != nil {
		return 0, err
	}
	if c.undone && (c.json || cmp.Or(c.junit, c.findings, c.obligations) != "") {
		return 0, errors.New("-undone merges nothing, expected no -json, -junit, -findings or -obligations beside it")
	}
	if err := separate(namedFile{"obligations", c.obligations}, namedFile{"junit", c.junit}); err != nil {
		return 0, err
	}
	c.asked, c.still = true, true
	var damaged func(error)
	if c.undone {
		damaged = func(err error) { a.says("merge", "%v", err) }
	}
	parts, err := readParts(dirs, damaged)
	if err != nil {
		return 0, err
	}
	if c.undone {
		fmt.Fprintln(a.out, strings.Join(parts.undone(), ","))
		return exitHeld, nil
	}
	for _, p := range parts.list {
		if sameFile(c.out, p.dir) {
			return 0, fmt.Errorf("-o: %s is the folder of part %d/%d, expected another one", c.out, p.Index, p.Of)
		}
		for _, name := range []string{shardName, portionName} {
			if err := separate(namedFile{"", filepath.Join(p.dir, name)}, namedFile{"junit", c.junit}); err != nil {
				return 0, err
			}
		}
	}
	if parts.list[0].Command == "prove" {
		if c.findings != "" {
			return 0, errors.New("-findings goes with parts of check only; these are of proofs")
		}
		if parts.list[0].Parameters.Split != "" {
			if c.obligations != "" {
				return 0, errors.New("-obligations goes with parts of a list only; these are portions of one scope")
			}
			return c.portions(ctx, a, parts)
		}
		return c.proofs(ctx, a, parts)
	}
	if c.obligations != "" {
		return 0, errors.New("-obligations goes with parts of prove only; these are of check")
	}
	return c.checks(ctx, a, parts)
}

// merge is the state of merging parts.
type merge struct {
	*mergeFlags
	*parts
	check    *checkFlags // the flags of the parts
	sized    []engine.Scenario
	findings *findings
	tally    tally
	beside   []string // files beside the index, for links
}

// checks merges parts of check.
func (c *mergeFlags) checks(ctx context.Context, a *app, parts *parts) (int, error) {
	m := &merge{mergeFlags: c, parts: parts}
	p := &parts.list[0].Parameters
	plan, err := faults.Parse(p.Faults)
	if err == nil {
		m.check, err = p.check()
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", parts.list[0].dir, err)
	}
	var selected []*engine.Scenario
	for _, x := range p.Scenarios {
		s, err := a.find(x.Name)
		if err != nil {
			return 0, err
		}
		selected = append(selected, s)
	}
	if m.sized, err = resized(selected, p.Clients, p.Rounds); err != nil {
		return 0, err
	}
	if err := m.check.adapt(m.sized, plan); err != nil {
		return 0, err
	}
	if err := m.complete(); err != nil {
		return 0, err
	}
	if err := c.begin(); err != nil {
		return 0, err
	}
	if m.findings, err = c.openFindings(a, p); err != nil {
		return 0, err
	}
	rec, err := c.record(a, scenarioNames(scenariosOf(m.sized)))
	if err != nil {
		return 0, err
	}
	if ctx.Err() == nil {
		err = rec.each(ctx, false, func(i int, out io.Writer) (outcome, error) {
			return m.scenario(ctx, a.to(out), &m.sized[i], p.Scenarios[i])
		})
	}
	if err != nil {
		return 0, err
	}
	if ctx.Err() == nil {
		m.lose(m.withdraw(scenarioNames(selected)))
		m.findings.end(m.check.circumstances(), p)
		c.lose(m.findings.write(ctx))
	}
	all := scenariosOf(m.sized)
	m.rows = m.rowsOf(all, interrupted)
	return m.ended(ctx, a, rec, len(all), m.findings.goneRows(), m.findings.summary(), "")
}

// complete refuses parts that lack runs without saying so.
func (m *merge) complete() error {
	for _, p := range m.list {
		for i := range p.Scenarios {
			x := &p.Scenarios[i]
			k := slices.IndexFunc(m.sized, func(s engine.Scenario) bool { return s.Name == x.Name })
			if err := x.complete(&m.sized[k], shard.Part{Index: p.Index, Of: p.Of}, &p.Parameters); err != nil {
				return fmt.Errorf("%s: %w", p.dir, err)
			}
		}
	}
	return nil
}

// mergedFailure is a failure and the folder of its part.
type mergedFailure struct {
	shardFailure
	dir string
}

// sum is the result of a scenario in all parts.
type sum struct {
	engine.Part
	failures []mergedFailure // the first of each kind
	misuse   string
	cut      []string // the parts that have not run all of it
	// partly are the checkers whose failing runs parts have not all explained: how many they explained, and up to which
	// seed all of them.
	partly []shardExplained
}

// add adds up the results of a scenario.
func (m *merge) add(s *engine.Scenario) (*sum, error) {
	x := &sum{Part: s.NewPart(), cut: slices.Clone(m.absent)}
	for _, p := range m.list {
		i := slices.IndexFunc(p.Scenarios, func(y shardScenario) bool { return y.Name == s.Name })
		if i < 0 {
			x.cut = append(x.cut, fmt.Sprint(p.Index))
			continue
		}
		y := &p.Scenarios[i]
		if err := x.Part.Add(&y.Part); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.dir, s.Name, err)
		}
		if x.misuse = cmp.Or(x.misuse, reports.Printable(y.Misuse)); y.Cut != "" {
			x.cut = append(x.cut, fmt.Sprint(p.Index))
		}
		for _, f := range y.Failures {
			x.failures = append(x.failures, mergedFailure{f, p.dir})
		}
		x.explained(y)
	}
	slices.SortFunc(x.cut, func(a, b string) int { // these are numbers
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	slices.SortFunc(x.failures, func(a, b mergedFailure) int { return cmp.Compare(a.Seed, b.Seed) })
	x.failures = firstOfKind(x.failures)
	if s.Broken() && len(x.failures) > 1 {
		x.failures = x.failures[:1]
	}
	slices.SortFunc(x.partly, func(a, b shardExplained) int { return cmp.Compare(a.Checker, b.Checker) })
	return x, nil
}

// explained adds up how far failing runs were explained.
func (x *sum) explained(y *shardScenario) {
	for _, n := range y.Part.Failed {
		e := shardExplained{n.Checker, n.Runs, math.MaxUint64}
		if i := slices.IndexFunc(y.Explained, func(e shardExplained) bool { return e.Checker == n.Checker }); i >= 0 {
			e = y.Explained[i]
		}
		i := slices.IndexFunc(x.partly, func(z shardExplained) bool { return z.Checker == n.Checker })
		if i < 0 {
			x.partly = append(x.partly, e)
			continue
		}
		x.partly[i].Runs += e.Runs
		x.partly[i].Last = min(x.partly[i].Last, e.Last)
	}
}

// firstOfKind returns the first failure of each kind. A failure of unknown kind counts if its checker has no other.
func firstOfKind(list []mergedFailure) (first []mergedFailure) {
	for i, f := range list {
		same := func(y mergedFailure) bool { return y.Checker == f.Checker && y.Decides == f.Decides && y.Cut == "" }
		if f.Cut != "" {
			same = func(y mergedFailure) bool { return y.Checker == f.Checker }
		}
		known := func(y mergedFailure) bool { return y.Checker == f.Checker && y.Cut == "" }
		if !slices.ContainsFunc(list[:i], same) && (f.Cut == "" || !slices.ContainsFunc(list, known)) {
			first = append(first, f)
		}
	}
	return first
}

// results returns the failures as results of the engine.
func (x *sum) results() (list []engine.Result) {
	for _, f := range x.failures {
		list = append(list, engine.Result{Steps: f.Steps, Schedule: engine.Schedule{Seed: f.Seed, Checker: f.Checker},
			Verdict: checkers.Verdict{Level: checkers.Violated, Checker: f.Checker, Message: f.Message}})
	}
	return list
}

// scenario merges what the parts say of a scenario, and prints it.
func (m *merge) scenario(ctx context.Context, a *app, s *engine.Scenario, seeds shardSeeds) (outcome, error) {
	x, err := m.add(s)
	if err != nil {
		return outcome{}, err
	}
	rep, err := s.Sum(&x.Part, x.results(), len(x.cut) > 0)
	if err != nil {
		return outcome{}, err
	}
	if x.misuse != "" {
		fmt.Fprintf(a.out, "FAIL    %-24s %s\n", s.Name, x.misuse)
		m.rows = append(m.rows, pipeline.RowOf(s, engine.Misused, x.misuse))
		return outcome{code: m.tally.count(engine.Misused)}, nil
	}
	if len(x.cut) > 0 && slices.Contains([]engine.Status{engine.Held, engine.Escaped, engine.Inconclusive}, rep.Status) {
		rep.Status, rep.Why = engine.Inconclusive, "not done by all parts: without "+m.named(x.cut)
	}
	out := pipeline.NewOutcome(&rep, m.check.plan)
	err = out.Search(ctx, engine.Strategy(m.check.strategy))
	if misused(a.out, s, err) {
		m.rows = append(m.rows, pipeline.RowOf(s, engine.Misused, misuseText(err)))
		return outcome{code: m.tally.count(engine.Misused)}, nil
	}
	if err != nil {
		return outcome{}, err
	}
	cut := m.check.cutShort(ctx, &out.Report)
	var told []*reports.RowFailure
	if out.Status == engine.Violation {
		told, err = m.found(ctx, a, s, x, &out)
		if y, ok := errors.AsType[*pipeline.Unrepeatable](err); ok {
			out.Status, out.Why, err = engine.Nondeterministic, y.Error(), nil
		}
		if err != nil {
			return outcome{}, err
		}
	}
	if !s.Broken() { // what a mutant shows is caught, and no finding
		m.findings.looked(s.Name, seeds, x, &out)
	}
	row := out.Row(s, out.Says())
	if out.Status != engine.Violation {
		fmt.Fprintf(a.out, "%-7s %-24s %s\n", heads[out.Status], s.Name, row.Says)
	}
	if len(told) > 0 {
		row.Failure, row.Others = told[0], told[1:]
		row.Says = strings.Join(append([]string{row.Says}, x.unexplained()...), "\n")
	}
	if s.Broken() && out.Status == engine.Caught { // each part has ended with the first run that caught it
		row.Struck, row.Goals, row.Holders = nil, nil, 0
	}
	m.rows = append(m.rows, row)
	return outcome{code: m.tally.count(out.Status), cut: cut}, nil
}

// found prints the failure with the lowest seed of each finding, and takes its folder over. It explains what the
// merge's own search has found.
func (m *merge) found(
	ctx context.Context, a *app, s *engine.Scenario, x *sum, out *pipeline.Outcome,
) (told []*reports.RowFailure, err error) {
	if out.Searched {
		again := m.check.again(s, out)
		row, err := m.failed(ctx, a, s, &out.Failure, pipeline.BySearch, m.check.folder(out), again)
		if err != nil {
			return nil, err
		}
		f := shardFailureOf(&out.Failure, row, again)
		if f.Searched = true; ctx.Err() != nil {
			f.Cut = interrupted
		}
		m.finding(a, s, &f, row)
		return []*reports.RowFailure{row}, nil
	}
	for _, f := range x.failures {
		row, err := m.takeOver(a, s, &f, fmt.Sprintf("seed %d", f.Seed))
		if err != nil {
			return told, err
		}
		told = append(told, row)
		m.finding(a, s, &f.shardFailure, row)
	}
	for _, line := range x.unexplained() {
		fmt.Fprintf(a.out, "      partly     %s\n", line)
	}
	return told, nil
}

// finding notes and prints which finding a failure is.
func (m *merge) finding(a *app, s *engine.Scenario, f *shardFailure, row *reports.RowFailure) {
	if f.Cut != "" {
		fmt.Fprintf(a.out, "      finding    not known, as no step that decides was looked for: %s\n",
			reports.Printable(f.Cut))
		return
	}
	row.State = m.findings.found(s.Name, f)
	fmt.Fprintf(a.out, "      finding    %s, decided by %s, %s\n", reports.Printable(f.Checker),
		reports.Printable(cmp.Or(f.Decides, "no single step")), row.State)
}

// unexplained says, in a line for each checker, how many failing runs are of unknown kind.
func (x *sum) unexplained() (lines []string) {
	for _, n := range x.Failed {
		for _, e := range x.partly {
			if e.Checker == n.Checker && e.Runs < n.Runs {
				lines = append(lines, fmt.Sprintf("%d of %d runs that %s finds violated were explained, %d in each part at "+
					"most: there may be other findings", e.Runs, n.Runs, n.Checker, mostExplained))
			}
		}
	}
	return lines
}

// takeOver writes the folder of a failure below that of the merge. A folder that is missing or cannot be read is an
// error of the merge in the end; the failure still counts.
func (m *merge) takeOver(a *app, s *engine.Scenario, f *mergedFailure, where string) (*reports.RowFailure, error) {
	dir, folder, err := m.folderOf(s, f)
	var whole *pipeline.Failure
	if err == nil {
		whole, err = pipeline.Restore(s, dir, where)
	}
	if _, ok := errors.AsType[*pipeline.Unrepeatable](err); ok {
		return nil, err
	}
	if err == nil {
		return m.written(a, s, whole, folder, f.Again)
	}
	fmt.Fprintf(a.out, "FAIL  %s  %s  %s\n", s.Name, where, reports.Printable(f.Checker+": "+f.Message))
	m.noReport(a, err)
	fmt.Fprintf(a.out, "      reproduce  %s %s\n", a.command, reports.Printable(f.Again))
	return &reports.RowFailure{Checker: f.Checker, Message: f.Message, Where: where, Decision: f.Decision,
		Decides: f.Decides, Reproduce: []string{a.command + " " + f.Again}}, nil
}

// ended writes the index of a merge of that many scenarios, prints what is missing and the texts before and after the
// name of the index, and ends the record. Missing parts are no pass.
func (m *merge) ended(
	ctx context.Context, a *app, rec *recorder, scenarios int, gone []reports.Row, before, after string,
) (int, error) {
	summary := m.tally.summary(scenarios)
	var text strings.Builder
	for _, note := range m.notes {
		fmt.Fprintln(&text, note)
	}
	text.WriteString(before)
	file, err := pipeline.WriteIndex(m.out, &reports.Index{Title: a.called() + " merge", Summary: summary, Notes: m.notes,
		Beside: m.beside, Rows: m.rows, Gone: gone})
	m.lose(err)
	if err == nil {
		fmt.Fprintf(&text, "index   %s\n", file)
	}
	text.WriteString(after + summary)
	if len(m.notes) > 0 {
		rec.fail(interrupted, strings.Join(m.notes, "; "))
	}
	code, err := rec.end(ctx, a, &m.tally, text.String(), m.lost)
	if len(m.notes) > 0 {
		code = cmp.Or(code, exitInconclusive)
	}
	return code, err
}

// withdraw removes folders of failures of these scenarios that an earlier merge has left and this one has not written.
func (m *merge) withdraw(names []string) error {
	written := map[string]bool{}
	for _, r := range m.rows {
		for _, f := range append([]*reports.RowFailure{r.Failure}, r.Others...) {
			if f != nil && f.Page != "" {
				written[filepath.Join(m.out, filepath.Dir(filepath.FromSlash(f.Page)))] = true
			}
		}
	}
	for _, name := range names {
		dir := filepath.Join(m.out, pipeline.FileName(&engine.Scenario{Name: name}))
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			old := filepath.Join(dir, e.Name())
			if e.IsDir() && seedFolder.MatchString(e.Name()) && !written[old] && !hasPart(old) {
				if err := os.RemoveAll(old); err != nil {
					return err
				}
			}
		}
		os.Remove(dir) // if it is empty
	}
	return nil
}

// hasPart reports whether a folder is that of a part, or has folders of parts, as -o parts/lock.lock/1 makes them.
func hasPart(dir string) bool {
	for _, pattern := range []string{shardName, "*/" + shardName} {
		if found, err := fs.Glob(os.DirFS(dir), pattern); err != nil || len(found) > 0 {
			return true
		}
	}
	return false
}

// seedFolder matches the name of the folder of a seed, or of a proof, below that of its scenario.
var seedFolder = regexp.MustCompile(`^([0-9]+|prove)(-[0-9a-f]{8})?$`)
