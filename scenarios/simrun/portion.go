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
	"slices"
	"strings"
	"time"

	"zksim/internal/files"
	"zksim/internal/pipeline"
	"zksim/internal/shard"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
)

// portionName is the file with the fingerprints of a portion, in the folder of a part.
const portionName = "portion"

// splitScope explores one portion of a scope. -shard says which, and how many there are.
func (c *proveFlags) splitScope(
	ctx context.Context, a *app, selected []*engine.Scenario, o prove.Options,
) (int, error) {
	part, err := c.portion(a, selected)
	if err != nil {
		return 0, err
	}
	s := selected[0]
	sc, err := c.scopeOf(s)
	if err != nil {
		return 0, err
	}
	if err := c.begin(); err != nil {
		return 0, err
	}
	w, err := c.newPortion(part, s)
	if err != nil {
		return 0, err
	}
	rec, err := c.record(a, []string{s.Name})
	if err != nil {
		return 0, err
	}
	var t tally
	why := ""
	_, err = rec.scenario(s.Name, func(out io.Writer) (outcome, error) {
		limited, cancel := context.WithTimeout(ctx, c.duration)
		defer cancel()
		bar := a.progress("prove", s.Name, 0)
		defer bar.clear()
		o.Progress = tell(bar)
		began := time.Now()
		x, r, err := prove.ProvePortion(limited, sc, o, part.Index, part.Of)
		took := time.Since(began)
		bar.clear()
		if row, ok := worthless(a.to(out), s, err); ok {
			why = row.Says
			c.rows = append(c.rows, row)
			return outcome{code: t.count(pipeline.StatusOf(row))}, nil
		}
		if err != nil {
			return outcome{}, err
		}
		c.lose(files.Save(c.out, portionName, x.Write)) // what was found counts all the same
		row := pipeline.RowOf(s, engine.Held, fmt.Sprintf("portion %v: %s, and nothing is violated", part,
			history.Counted(x.States, "state")))
		switch x.Outcome {
		case prove.Violated:
			row, err = c.report(ctx, a.to(out), sc.Scenario, &r, took)
		case prove.Inconclusive:
			why = x.Why
			row = pipeline.RowOf(s, engine.Inconclusive, x.Why)
			fallthrough
		default:
			fmt.Fprintf(out, "%-7s %-24s %s  (%v)\n", heads[pipeline.StatusOf(row)], s.Name, row.Says,
				took.Round(10*time.Millisecond))
		}
		c.rows = append(c.rows, row)
		return outcome{code: t.count(pipeline.StatusOf(row)), cut: x.Outcome == prove.Inconclusive && ctx.Err() != nil}, err
	})
	if err != nil {
		c.lose(w.end(broken + ": " + oneLine(err.Error())))
		return 0, rec.fails(ctx, err)
	}
	c.lose(w.end(cmp.Or(why, c.unended(ctx))))
	return c.end(ctx, a, rec, &t, selected, t.summary(1))
}

// portion returns which portion it is, after checking that the flags go together.
func (c *proveFlags) portion(a *app, selected []*engine.Scenario) (shard.Part, error) {
	part, err := c.part.read(a, "prove")
	switch {
	case err != nil:
		return part, err
	case part.Of == 0 || !c.asked:
		return part, errors.New("-split takes -shard i/n, which portion it is, and -o, the folder for it")
	case len(selected) != 1:
		return part, fmt.Errorf("-split is for one scenario, not for %d", len(selected))
	case selected[0].Broken():
		return part, fmt.Errorf("-split is for scenarios that must hold; %s is a mutant", selected[0].Name)
	case c.cert != "" || c.checkpoint != "" || c.audit:
		return part, errors.New("-cert, -checkpoint and -audit do not go with -split")
	}
	return part, nil
}

// newPortion begins the file of the part, and removes the portion of an earlier run: merge must not take it for that of
// this one, which may be killed.
func (c *proveFlags) newPortion(part shard.Part, s *engine.Scenario) (*shardWriter, error) {
	w, err := c.newShard(part, shardParameters{Split: s.Name + c.again, For: c.duration.String(), Memory: c.memory})
	if err != nil {
		return nil, err
	}
	return w, files.Remove(filepath.Join(c.out, portionName))
}

// portions merges the portions of one scope.
func (c *mergeFlags) portions(ctx context.Context, a *app, parts *parts) (int, error) {
	m := &merge{mergeFlags: c, parts: parts}
	var all []*prove.PortionReader
	frontier := "" // of the portions so far
	for _, p := range parts.list {
		x, f, err := p.portion()
		if errors.Is(err, fs.ErrNotExist) && p.Unended != "" {
			continue // as readParts has noted
		}
		if err != nil {
			return 0, err
		}
		defer f.Close()
		all = append(all, x)
		if !reflect.DeepEqual(x.Claim, all[0].Claim) {
			return 0, fmt.Errorf("%s is a portion of another scope, expected one of %s", f.Name(), all[0].Claim.Scenario)
		}
		if frontier = cmp.Or(frontier, x.Frontier); x.Frontier != "" && x.Frontier != frontier {
			return 0, fmt.Errorf("%s begins at another frontier than the others, expected the same; is the program "+
				"deterministic?", f.Name())
		}
	}
	if len(all) == 0 {
		return 0, fmt.Errorf("no part has a portion: %s", strings.Join(parts.notes, "; "))
	}
	name := all[0].Claim.Scenario
	s, err := a.find(name)
	if err != nil {
		return 0, err
	}
	if err := c.begin(); err != nil {
		return 0, err
	}
	rec, err := c.record(a, []string{name})
	if err != nil {
		return 0, err
	}
	_, err = rec.scenario(name, func(out io.Writer) (outcome, error) {
		sc, err := all[0].Claim.Scope([]engine.Scenario{*s})
		if err != nil {
			return outcome{}, err
		}
		status, text, err := m.united(&sc, all)
		if err != nil {
			return outcome{}, err
		}
		fmt.Fprintf(out, "%-7s %-24s %s\n", cmp.Or(heads[status], "FAIL"), name, text)
		if status == engine.Held {
			proved(out, &all[0].Claim, sc.Outside(s), prove.Unstruck(all), all[0].Idle)
		}
		m.rows = append(m.rows, pipeline.RowOf(s, status, text))
		return outcome{code: m.tally.count(status)}, nil
	})
	if err != nil {
		return 0, rec.fails(ctx, err)
	}
	return m.ended(ctx, a, rec, 1, nil, "", "")
}

// portion opens the portion of a part.
func (p partRead) portion() (*prove.PortionReader, *os.File, error) {
	f, err := files.Open(filepath.Join(p.dir, portionName))
	if err != nil {
		return nil, nil, fmt.Errorf("part %d/%d is done, expected its portion: %w", p.Index, p.Of, err)
	}
	x, err := prove.NewPortionReader(f)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: %w", f.Name(), err)
	case x.Part != p.Index || x.Of != p.Of:
		err = fmt.Errorf("%s is portion %d/%d, expected that of part %d/%d", f.Name(), x.Part, x.Of, p.Index, p.Of)
	default:
		return x, f, nil
	}
	f.Close()
	return nil, nil, err
}

// portionError reads the portion of a part of a scope to its end, and returns what is wrong with it.
func (p partRead) portionError() error {
	if p.Parameters.Split == "" {
		return nil
	}
	x, f, err := p.portion()
	if err != nil {
		return err
	}
	defer f.Close()
	_, _, err = prove.UnitePortions([]*prove.PortionReader{x})
	return err
}

// united returns the result of all portions together.
func (m *merge) united(sc *prove.Scope, all []*prove.PortionReader) (engine.Status, string, error) {
	status, said := engine.Held, map[string]bool{}
	for _, x := range all {
		switch {
		case x.Outcome == prove.Violated:
			status = engine.Violation
		case x.Outcome != prove.Holds && status == engine.Held:
			status = engine.Inconclusive
		}
		for sentence, held := range x.Said { // order-free: it holds if it holds in any portion
			said[sentence] = said[sentence] || held
		}
	}
	states, digest, err := prove.UnitePortions(all)
	if err != nil {
		return 0, "", err
	}
	lacks := prove.Lacks(sc, all)
	text := fmt.Sprintf("every schedule of %v: %s, digest %s", &all[0].Claim, history.Counted(states, "state"), digest)
	var never []string
	for sentence, held := range said { // order-free: sorted below
		if !held {
			never = append(never, sentence)
		}
	}
	slices.Sort(never)
	switch {
	case status == engine.Violation:
		text = "refuted: the folders of the parts have the counterexamples"
	case len(m.notes) > 0 || status == engine.Inconclusive:
		status, text = engine.Inconclusive, fmt.Sprintf("not all portions are done; %s until then",
			history.Counted(states, "state"))
	case lacks != "":
		status, text = engine.Inconclusive, lacks
	case len(never) > 0:
		status, text = engine.Inconclusive, "no schedule reaches: "+strings.Join(never, "; ")
	}
	return status, text, nil
}
