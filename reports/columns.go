package reports

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// WriteColumns writes a run as a table of plain text, for issues and terminals: a row for each step, a column for each
// server and client. Lines have the given width. They are wider only where a column would have less than twelve
// characters. Above the first step are the znodes that were set up, by their folders. The short names that were used
// come last.
func WriteColumns(w io.Writer, f *Failure, columns int) error {
	t := newGrid(w, f, columns)
	n := newNames(f.History, f.Trace)
	t.rule()
	t.row("step", t.heads)
	t.rule()
	list := story(f, n)
	list[0].Lines = t.setUp(list[0].Lines)
	for _, p := range list {
		t.passage(p)
	}
	t.rule()
	for _, x := range n.list(pathsOf(f.History, f.Trace, 0, len(f.Trace.Steps))) {
		if t.used[x[0]] || strings.ContainsAny(x[0], breaks) { // which is no word by itself
			t.across(x[0] + " is " + x[1])
		}
	}
	return t.out.Flush()
}

// The narrowest column, and the width of the column for the numbers of the steps.
const (
	narrowest = 12
	stepWidth = 4
)

// grid is such a table in the making.
type grid struct {
	heads   []string // of the columns: servers, then clients
	servers int
	width   int // of each column
	total   int
	used    map[string]bool // words
	out     *bufio.Writer
	follows *follower
}

func newGrid(w io.Writer, f *Failure, columns int) *grid {
	t := &grid{used: map[string]bool{}, out: bufio.NewWriter(w), follows: newFollower(f)}
	t.heads, t.servers = t.follows.hosts(f.History.Clients), t.follows.servers
	n := len(t.heads)
	t.width = max(narrowest, (columns-stepWidth)/n-3)
	t.total = stepWidth + n*(t.width+3)
	return t
}

// setUp adds the znodes that were made before the first step, those of a folder together, and returns the other lines.
func (t *grid) setUp(lines []line) (others []line) {
	var folders []string
	names := map[string][]string{}
	for _, l := range lines {
		if l.setUp == "" {
			others = append(others, l)
			continue
		}
		dir, name := path.Split(l.setUp)
		if names[dir] == nil {
			folders = append(folders, dir)
		}
		names[dir] = append(names[dir], Printable(name))
	}
	for _, dir := range folders {
		t.across("set up: " + Printable(dir) + " has " + strings.Join(names[dir], " "))
	}
	return others
}

// passage adds the rows of a step.
func (t *grid) passage(p passage) {
	cells := make([]string, len(t.heads))
	var whole []string
	at := -1
	if p.Step > 0 {
		at = t.follows.at[p.Step]
	}
	for _, l := range p.Lines {
		for _, word := range strings.FieldsFunc(l.Text, isBreak) {
			t.used[word] = true
		}
		switch k, text := t.cell(p, l, at); {
		case k < 0 || k >= len(cells):
			whole = append(whole, text)
		case cells[k] == "":
			cells[k] = text
		default:
			cells[k] += "; " + text
		}
	}
	number := ""
	if p.Step > 0 {
		number = fmt.Sprint(p.Step)
	}
	if strings.Join(cells, "") != "" {
		t.row(number, cells)
		number = ""
	}
	for _, text := range whole {
		t.across(strings.TrimSpace(number + " " + text))
		number = ""
	}
}

// executes matches the beginning of what a server does for a client.
var executes = regexp.MustCompile(`^s([0-9]+) (executes|applies|is no longer|finds out|, which was deposed)`)

// cell returns the column of a line, or -1 if it is about everything, and what the column says.
func (t *grid) cell(p passage, l line, at int) (int, string) {
	switch {
	case l.Class == errorLine:
		return -1, l.Text
	case l.Class == txnLine && p.Step > 0 && t.follows.leader[p.Step] >= 0:
		return t.follows.leader[p.Step], l.Text
	case l.Class == txnLine:
		return 0, l.Text
	case l.Class == faultLine && l.Client > 0:
		return t.servers + int(l.Client) - 1, "! " + l.Text
	case l.Class == faultLine && at >= 0:
		return at, "! " + l.Text
	}
	if m := executes.FindStringSubmatch(l.Text); m != nil && at >= 0 {
		return at, strings.TrimPrefix(l.Text, "s"+m[1]+" ")
	}
	if l.Client > 0 {
		return t.servers + int(l.Client) - 1, strings.TrimPrefix(l.Text, client(l.Client)+" ")
	}
	return -1, l.Text
}

// row adds a row of cells, each wrapped to the width of its column.
func (t *grid) row(number string, cells []string) {
	wrapped := make([][]string, len(cells))
	height := 1
	for i, c := range cells {
		wrapped[i] = fold(c, t.width)
		height = max(height, len(wrapped[i]))
	}
	for k := range height {
		fmt.Fprintf(t.out, "%*s", stepWidth, number)
		number = ""
		blank := 0 // blanks, which are not written at the end of a line
		for i := range wrapped {
			cell := ""
			if k < len(wrapped[i]) {
				cell = wrapped[i][k]
			}
			fmt.Fprintf(t.out, "%*s |", blank, "")
			if blank = 1 + t.width; cell != "" {
				fmt.Fprintf(t.out, " %s", cell)
				blank -= 1 + utf8.RuneCountInString(cell)
			}
		}
		t.out.WriteByte('\n')
	}
}

// across adds a text that is about everything, over all columns.
func (t *grid) across(text string) {
	for _, line := range fold(text, t.total-3) {
		fmt.Fprintf(t.out, " = %s\n", line)
	}
}

func (t *grid) rule() {
	dashes := strings.Repeat("-+-"+strings.Repeat("-", t.width), len(t.heads))
	fmt.Fprintf(t.out, "%s%s\n", strings.Repeat("-", stepWidth), dashes)
}

// fold breaks a text into lines of at most width characters: at blanks, and within a word if that is too long.
func fold(text string, width int) []string {
	var lines []string
	line := []rune{}
	for _, word := range strings.Fields(text) {
		r := []rune(word)
		if len(line) > 0 && len(line)+1+len(r) > width {
			lines, line = append(lines, string(line)), nil
		}
		if len(line) > 0 {
			line = append(line, ' ')
		}
		for line = append(line, r...); len(line) > width; line = line[width:] {
			lines = append(lines, string(line[:width]))
		}
	}
	if len(line) > 0 {
		lines = append(lines, string(line))
	}
	return lines
}
