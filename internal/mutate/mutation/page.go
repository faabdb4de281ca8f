package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"zksim/internal/mutate"
)

// line says what came of a mutant.
func (m *measured) line(x *mutate.Mutant) string {
	o := m.outcomes[x.ID]
	switch {
	case !o.Caught && o.Runs == 0:
		return fmt.Sprintf("survives %s (line %d), no run comes there", x, x.Line)
	case !o.Caught:
		return fmt.Sprintf("survives %s (line %d), %d of %d runs differ", x, x.Line, o.Differ, o.Runs)
	case o.Scenario == "":
		return fmt.Sprintf("caught   %s (line %d), the program ends by %s", x, x.Line, o.Checker)
	case o.Seed == 0:
		return fmt.Sprintf("caught   %s (line %d), %s by %s", x, x.Line, o.Scenario, o.Checker)
	}
	return fmt.Sprintf("caught   %s (line %d), %s by %s at seed %d, run %d",
		x, x.Line, o.Scenario, o.Checker, o.Seed, o.Runs)
}

// survivors returns the mutants that should have been noticed.
func (m *measured) survivors() (list []mutate.Mutant) {
	for _, x := range m.tried {
		if m.class(&x) == survives {
			list = append(list, x)
		}
	}
	return list
}

// class is what counts of a mutant.
type class int

const (
	byChecker class = iota
	byGoal
	equivalent
	survives
)

func (m *measured) class(x *mutate.Mutant) class {
	o := m.outcomes[x.ID]
	_, reasoned := m.reasoned[x.String()]
	switch {
	case o.Caught && o.Goal:
		return byGoal
	case o.Caught:
		return byChecker
	case reasoned:
		return equivalent
	}
	return survives
}

// counts is how many mutants there are of each class.
type counts [survives + 1]int

// score is the part of those that could be noticed that was, in percent.
func (c counts) score() string {
	noticed := c[byChecker] + c[byGoal]
	if all := noticed + c[survives]; all > 0 {
		return fmt.Sprintf("%.1f %%", 100*float64(noticed)/float64(all))
	}
	return "-"
}

// row is a line of a table.
func (c counts) row(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %s |\n",
		name, c[byChecker], c[byGoal], c[equivalent], c[survives], c.score())
}

// table counts the mutants by something.
func (m *measured) table(head string, by func(x *mutate.Mutant) string) string {
	all := map[string]counts{}
	var names []string
	var sum counts
	for i := range m.tried {
		x := &m.tried[i]
		name, k := by(x), m.class(x)
		c, known := all[name]
		if !known {
			names = append(names, name)
		}
		c[k]++
		sum[k]++
		all[name] = c
	}
	slices.Sort(names)
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | a checker notices | a goal notices | equivalent | survive | score |\n", head)
	b.WriteString("|---|---|---|---|---|---|\n")
	for _, name := range names {
		b.WriteString(all[name].row(name))
	}
	b.WriteString(sum.row("all"))
	return b.String()
}

// introduction is how the page begins.
//
//go:embed introduction.md
var introduction string

// page is docs/mutation.md.
func (m *measured) page() string {
	var b strings.Builder
	b.WriteString(strings.Replace(introduction, "ARGS", m.args, 1))
	fmt.Fprintf(&b, "Tried were %d of %d changes.\n\n", len(m.tried), len(m.all))
	b.WriteString(m.table("change", func(x *mutate.Mutant) string { return "`" + string(x.Operator) + "`" }))
	b.WriteString("\n")
	b.WriteString(m.table("file", func(x *mutate.Mutant) string { return "`" + x.File + "`" }))
	list := m.survivors()
	fmt.Fprintf(&b, "\n## Survivors\n\n")
	if len(list) == 0 {
		b.WriteString("None of those that were tried.\n")
	} else {
		b.WriteString("```\n")
		for i := range list {
			b.WriteString(shortened(strings.TrimPrefix(m.line(&list[i]), "survives ")) + "\n")
		}
		b.WriteString("```\n")
	}
	return b.String()
}

// shortened cuts a line so that it fits in a page.
func shortened(line string) string {
	const most = 120
	if len(line) <= most {
		return line
	}
	head, tail, _ := strings.Cut(line, " (line ")
	tail = "... (line " + tail
	return head[:max(0, most-len(tail))] + tail
}
