package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"zksim/model/history"
)

// WriteState writes how everything stands after the last step of a run, as tables of text: the znodes, sessions,
// servers, clients, their code and watches. An asterisk marks what the last step has changed. No line is wider than the
// given number of columns.
func WriteState(w io.Writer, f *Failure, columns int) error {
	n := newNames(f.History, f.Trace)
	x := newTables(f.Trace, n)
	last := len(f.Trace.Steps)
	changed := map[[2]int]bool{}
	if last > 0 {
		for _, r := range x.rows(f.Trace.Steps[last-1].Rows) {
			changed[[2]int{r.Table, r.Place}] = true
		}
	}
	lists := [history.Tables][][]string{}
	marks := [history.Tables][]bool{}
	for _, r := range x.at(last) {
		lists[r.Table] = append(lists[r.Table], r.Cells)
		marks[r.Table] = append(marks[r.Table], changed[[2]int{r.Table, r.Place}])
	}
	b := bufio.NewWriter(w)
	for _, t := range stateOrder {
		if len(lists[t]) > 0 {
			writeTable(b, headings[t], lists[t], marks[t], columns)
		}
	}
	return b.Flush()
}

// stateOrder puts what people look at last, next to the transitions, at the end.
var stateOrder = [history.Tables]history.Table{history.Znodes, history.Sessions, history.Watches, history.Servers,
	history.Clients, history.Tasks}

// writeTable writes a table whose marked rows have an asterisk before them.
func writeTable(b *bufio.Writer, heading []string, rows [][]string, marks []bool, columns int) {
	width := make([]int, len(heading))
	for i, cell := range heading {
		width[i] = len(cell)
		for _, r := range rows {
			width[i] = max(width[i], utf8.RuneCountInString(r[i]))
		}
	}
	line := func(mark string, cells []string) {
		text := mark
		for i, cell := range cells {
			text += " " + cell + strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+1)
		}
		fmt.Fprintln(b, Within(strings.TrimRight(text, " "), columns))
	}
	line(" ", heading)
	for k, r := range rows {
		mark := " "
		if marks[k] {
			mark = "*"
		}
		line(mark, r)
	}
	fmt.Fprintln(b)
}

// Within shortens a line to the given number of columns.
func Within(s string, columns int) string {
	if utf8.RuneCountInString(s) <= columns {
		return s
	}
	return string([]rune(s)[:max(0, columns-1)]) + "…"
}

// LastStep says in one line what the last step of a run did. It returns "" before the first step.
func LastStep(f *Failure) string {
	list := story(f, newNames(f.History, f.Trace))
	p := list[len(list)-1]
	if p.Step == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s: %s", p.Step, p.Name, p.text())
}
