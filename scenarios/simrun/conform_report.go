package simrun

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"zksim/internal/conform"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// conformPage is the page of the differences between real servers and the simulator.
type conformPage struct {
	servers string // what the simulator was compared with
	report  *conform.Report
	seed    uint64
	calls   map[string][]string // by operation: the scenarios that call it
	command string
}

// deviation is a difference that several sequences have shown.
type deviation struct {
	kind   string
	fields []string
	times  int
	best   *conform.Failure // the shortest
}

// index finds the number of a result in the name of a field.
var index = regexp.MustCompile(`\[\d+\]`)

// deviations groups failures in which the same operation differs in the same fields, in the order of the first one of
// each group.
func (p *conformPage) deviations() (list []*deviation) {
	for i := range p.report.Failures {
		f := &p.report.Failures[i]
		x := &deviation{kind: string(f.Steps[len(f.Steps)-1].Op.Kind), times: 1, best: f}
		for _, d := range f.Differences {
			if field := index.ReplaceAllString(d.Field, ""); !slices.Contains(x.fields, field) {
				x.fields = append(x.fields, field)
			}
		}
		k := slices.IndexFunc(list, func(y *deviation) bool { return y.kind == x.kind && slices.Equal(y.fields, x.fields) })
		if k < 0 {
			list = append(list, x)
			continue
		}
		list[k].times++
		if len(f.Steps) < len(list[k].best.Steps) {
			list[k].best = f
		}
	}
	return list
}

// watches are the fields in which what watches tell can differ.
var watches = []string{"events", "fired"}

// uses returns the operations that a deviation is about, as recipes call them; none if it is about sessions.
func (x *deviation) uses() (ops []string) {
	add := func(o *conform.Op) {
		name := string(o.Kind)
		if o.Watch {
			name += "W"
		}
		if !slices.Contains(ops, name) {
			ops = append(ops, name)
		}
	}
	last := &x.best.Steps[len(x.best.Steps)-1].Op
	toldByWatch := slices.ContainsFunc(x.fields, func(f string) bool {
		return slices.ContainsFunc(watches, func(w string) bool { return strings.HasPrefix(f, w) })
	})
	for i := range x.best.Steps {
		if o := &x.best.Steps[i].Op; toldByWatch && o.Watch {
			add(o)
		}
	}
	if len(ops) == 0 {
		switch last.Kind {
		case conform.Open, conform.Close, conform.Cut, conform.Expire, conform.Reconnect:
		default:
			add(last)
		}
	}
	return ops
}

// callers returns for each operation the scenarios that must hold and whose clients call it, as seen in a few runs of
// each.
func callers(all []engine.Scenario) map[string][]string {
	const seeds = 3
	calls := map[string][]string{}
	r := engine.NewRunner()
	defer r.Close()
	for i := range all {
		s := &all[i]
		if s.Broken() || s.Outside != nil || s.Valid() != nil {
			continue
		}
		for seed := range uint64(seeds) {
			res := r.Seed(s, seed+1)
			for k := range res.History.Events {
				e := &res.History.Events[k]
				if list := calls[e.Op]; e.Kind == history.Call && !slices.Contains(list, s.Name) {
					calls[e.Op] = append(list, s.Name)
				}
			}
		}
	}
	return calls
}

// write writes the page, in Markdown.
func (p *conformPage) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	list := p.deviations()
	fmt.Fprintf(b, "# Differences between %s and the simulator\n\n", p.servers)
	fmt.Fprintf(b, "%s in %s from seed %d on, %s: %s of differences, in %s.\n",
		history.Counted(p.report.Ops, "operation"), history.Counted(p.report.Sequences, "sequence"), p.seed,
		history.Counted(p.report.Servers, "server"), history.Counted(len(list), "kind"),
		history.Counted(len(p.report.Failures), "sequence"))
	for i, x := range list {
		fmt.Fprintf(b, "\n## %d. %s: %s\n\n", i+1, x.kind, strings.Join(x.fields, ", "))
		fmt.Fprintf(b, "In %s; the shortest, of seed %d, has %d of %s%s:\n\n```\n", history.Counted(x.times, "sequence"),
			x.best.Seed,
			len(x.best.Steps), history.Counted(x.best.Original, "operation"), once(x.best))
		for k := range x.best.Steps {
			s := &x.best.Steps[k]
			fmt.Fprintf(b, "%3d  %s: %s\n", k, x.best.Relative(s.Op.String()), cmp.Or(s.Real.Err, "ok"))
		}
		fmt.Fprint(b, "```\n\n| field | server | simulator |\n|---|---|---|\n")
		for _, d := range x.best.Differences {
			fmt.Fprintf(b, "| %s | %s | %s |\n", d.Field, cell(x.best.Relative(d.Real)), cell(x.best.Relative(d.Sim)))
		}
		fmt.Fprintf(b, "\n%s\n", p.concerns(x))
		fmt.Fprintf(b, "\nAgain: `%s -seed %d -ops 1`\n", p.command, x.best.Seed)
	}
	return b.Flush()
}

// once says that a difference did not happen again; "" if it did.
func once(f *conform.Failure) string {
	if f.Repeated {
		return ""
	}
	return ", and gave no difference the second time"
}

// cell formats a text for a cell of a table.
func cell(s string) string {
	return "`" + strings.ReplaceAll(strings.ReplaceAll(s, "|", "\\|"), "`", "'") + "`"
}

// concerns says which recipes the difference affects.
func (p *conformPage) concerns(x *deviation) string {
	ops := x.uses()
	if len(ops) == 0 {
		return "Every recipe has sessions, and may meet this."
	}
	var names []string
	for _, op := range ops {
		names = append(names, p.calls[op]...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	what := strings.Join(ops, " or ")
	if len(names) == 0 {
		return fmt.Sprintf("None of the scenarios that must hold calls %s.", what)
	}
	return fmt.Sprintf("%s that must hold call %s, and may break: %s.", history.Counted(len(names), "scenario"), what,
		strings.Join(names, ", "))
}
