package simrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"zksim/internal/files"
	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
)

// The files of merged proofs: the table, the folder of the certificates, and the list with the times. The list that the
// parts were taken from does not change, so parts can be run again and the merge repeated.
const (
	tableName        = "proved.md"
	certificateFiles = "certificates"
	obligationsName  = "obligations.json"
)

// mergedProof is an obligation and its proof.
type mergedProof struct {
	*prove.Obligation
	*shardProof // nil: it was not tried
	dir         string
}

// proofs merges parts of prove.
func (c *mergeFlags) proofs(ctx context.Context, a *app, parts *parts) (int, error) {
	if c.obligations == "" {
		return 0, errors.New("the parts are of proofs, expected -obligations FILE, the list that they were taken from")
	}
	if sameFile(c.obligations, filepath.Join(c.out, obligationsName)) {
		return 0, fmt.Errorf("-o: the times of this merge go to %s, which is the list of the parts, expected another folder",
			c.obligations)
	}
	list, err := readObligations(c.obligations)
	if err == nil {
		err = list.distinct()
	}
	if err != nil {
		return 0, err
	}
	if was := parts.list[0].Parameters.Obligations; list.digest() != was {
		return 0, fmt.Errorf("%s is another list than that which the parts were taken from, expected the same obligations "+
			"in the same order", c.obligations)
	}
	if err := c.begin(); err != nil {
		return 0, err
	}
	m := &merge{mergeFlags: c, parts: parts}
	proofs := m.collect(list)
	var names []string
	for i := range proofs {
		if k := len(names); k == 0 || names[k-1] != proofs[i].Scenario {
			names = append(names, proofs[i].Scenario)
		}
	}
	rec, err := c.record(a, names)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		_, err := rec.scenario(name, func(out io.Writer) (outcome, error) {
			return m.provedScenario(a.to(out), name, proofs)
		})
		if err != nil {
			return 0, rec.fails(ctx, err)
		}
	}
	m.lose(m.withdraw(names))
	m.lose(m.certificates(proofs))
	m.lose(files.Save(c.out, tableName, func(w io.Writer) error { return writeProved(w, proofs) }))
	prove.Longest(list.Obligations)
	m.lose(files.Save(c.out, obligationsName, list.write))
	m.beside = []string{tableName, certificateFiles}
	table := fmt.Sprintf("table   %s\n", filepath.Join(m.out, tableName))
	return m.ended(ctx, a, rec, len(names), nil, "", table)
}

// collect matches the certificates of all parts with their obligations, by scenario, and puts the times into the list.
func (m *merge) collect(list *obligationsFile) (proofs []mergedProof) {
	for i := range list.Obligations {
		o := list.Obligations[i]
		x := mergedProof{Obligation: &o}
		for _, p := range m.list {
			k := slices.IndexFunc(p.Proofs, func(y shardProof) bool { return reflect.DeepEqual(y.Certificate.Claim, o.Claim) })
			if k >= 0 {
				x.shardProof, x.dir = &p.Proofs[k], p.dir
				list.Obligations[i].Seconds = x.shardProof.Seconds
				list.Obligations[i].Outcome = x.Certificate.Outcome
			}
		}
		proofs = append(proofs, x)
	}
	slices.SortStableFunc(proofs, func(a, b mergedProof) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(slices.Index(prove.Kinds, a.Obligation.Kind),
			slices.Index(prove.Kinds, b.Obligation.Kind)), cmp.Compare(a.Clients, b.Clients), cmp.Compare(a.Most, b.Most),
			cmp.Compare(a.Faults, b.Faults))
	})
	return proofs
}

// provedScenario prints the results of a scenario's obligations, and adds its row.
func (m *merge) provedScenario(a *app, name string, proofs []mergedProof) (outcome, error) {
	s, err := a.find(name)
	if err != nil {
		return outcome{}, err
	}
	var proved tally
	all := 0
	var says []string
	var told []*reports.RowFailure
	for i := range proofs {
		x := &proofs[i]
		if x.Scenario != name {
			continue
		}
		all++
		row, err := m.refuted(a, x)
		if err != nil {
			return outcome{}, err
		}
		if row != nil {
			told = append(told, row)
		}
		of, text := x.judged()
		says = append(says, text...)
		proved[of]++
	}
	status := proved.worst()
	head := fmt.Sprintf("%d of %s proved", proved[engine.Held], history.Counted(all, "obligation"))
	fmt.Fprintf(a.out, "%-7s %-24s %s\n", cmp.Or(heads[status], "FAIL"), name, head)
	row := pipeline.RowOf(s, status, strings.Join(append([]string{head}, says...), "\n"))
	if len(told) > 0 {
		row.Failure, row.Others = told[0], told[1:]
	}
	m.rows = append(m.rows, row)
	return outcome{code: m.tally.count(status)}, nil
}

// judged returns what an obligation came to, and says why it is not proved.
func (x *mergedProof) judged() (engine.Status, []string) {
	switch {
	case x.shardProof == nil:
		return engine.Inconclusive, []string{"not tried: " + x.String()}
	case x.Misuse != "":
		return engine.Misused, []string{x.Misuse + ": " + x.String()}
	case x.Differs != "":
		return engine.Nondeterministic, []string{"nondeterministic: " + reports.Printable(x.Differs) + ": " + x.String()}
	case x.Certificate.Outcome == prove.Violated:
		return engine.Violation, []string{x.Certificate.String()}
	case x.Certificate.Outcome == prove.Holds && len(x.Never) == 0:
		return engine.Held, nil
	}
	says := []string{x.Certificate.String()}
	for _, sentence := range x.Never {
		says = append(says, "no schedule that was explored reaches: "+sentence)
	}
	return engine.Inconclusive, says
}

// refuted takes over the folder of a counterexample, if there is one. It notes one that does not happen again.
func (m *merge) refuted(a *app, x *mergedProof) (*reports.RowFailure, error) {
	if of, _ := x.judged(); of != engine.Violation {
		return nil, nil
	}
	sc, err := x.Obligation.Scope(a.all)
	if err != nil {
		return nil, err
	}
	if x.Failure == nil {
		return nil, fmt.Errorf("%s: %s has no counterexample, expected one", x.dir, x.Obligation)
	}
	row, err := m.takeOver(a, sc.Scenario, &mergedFailure{*x.Failure, x.dir}, pipeline.BySearch)
	if y, ok := errors.AsType[*pipeline.Unrepeatable](err); ok {
		x.Differs, err = y.Error(), nil
	}
	return row, err
}

// certificates writes the certificates, and removes others that an earlier merge has left. prove -verify takes each of
// them.
func (m *merge) certificates(proofs []mergedProof) error {
	dir, counts, written := filepath.Join(m.out, certificateFiles), map[string]int{}, map[string]bool{}
	for i := range proofs {
		x := &proofs[i]
		if x.shardProof == nil || x.Misuse != "" || x.Differs != "" {
			continue
		}
		name := fmt.Sprintf("%s.%s.%d-clients", strings.ReplaceAll(x.Scenario, "/", "."),
			strings.ReplaceAll(x.Obligation.Kind, " ", "-"), x.Clients)
		if counts[name]++; counts[name] > 1 {
			name += fmt.Sprintf(".%d", counts[name])
		}
		name += ".json"
		if err := files.Save(dir, name, x.Certificate.Write); err != nil {
			return err
		}
		written[name] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if certificateFile.MatchString(e.Name()) && !written[e.Name()] {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// certificateFile matches the name of a file that certificates writes.
var certificateFile = regexp.MustCompile(`\.[a-z-]+\.[0-9]+-clients(\.[0-9]+)?\.json$`)

// writeProved writes the table of what is proved, with its holes.
func writeProved(w io.Writer, proofs []mergedProof) error {
	var kinds []string
	for _, kind := range prove.Kinds {
		if slices.ContainsFunc(proofs, func(x mergedProof) bool { return x.Obligation.Kind == kind }) {
			kinds = append(kinds, kind)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| scenario | %s |\n|---%s|\n", strings.Join(kinds, " | "), strings.Repeat("|---", len(kinds)))
	for i := range proofs {
		name := proofs[i].Scenario
		if i > 0 && proofs[i-1].Scenario == name {
			continue
		}
		fmt.Fprintf(&b, "| `%s` |", name)
		for _, kind := range kinds {
			var cells []string
			for k := range proofs {
				if x := &proofs[k]; x.Scenario == name && x.Obligation.Kind == kind {
					cells = append(cells, x.cell())
				}
			}
			fmt.Fprintf(&b, " %s |", strings.Join(cells, "<br>"))
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell says how many clients, how many faults of how many, and, if it is proved, the states and seconds.
func (x *mergedProof) cell() string {
	scope := fmt.Sprintf("%dc %df", x.Clients, x.Most)
	if x.shardProof == nil {
		return scope + " not tried"
	}
	levels := x.Certificate.Levels
	switch {
	case x.Misuse != "":
		return scope + " **misuse**"
	case x.Differs != "":
		return scope + " **nondeterministic**"
	case x.Certificate.Outcome == prove.Violated:
		return scope + " **refuted**"
	case x.Certificate.Outcome == prove.Holds && len(x.Never) > 0:
		return scope + " **goal not reached**"
	case x.Certificate.Outcome == prove.Holds:
		return fmt.Sprintf("%s %s", scope, grouped(levels[len(levels)-1].States))
	case len(levels) > 0:
		return fmt.Sprintf("%dc **%d of %df** %s", x.Clients, levels[len(levels)-1].Faults, x.Most,
			grouped(levels[len(levels)-1].States))
	}
	return scope + " **open**"
}

// grouped writes a number with commas.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
