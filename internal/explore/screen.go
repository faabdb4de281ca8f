package explore

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/reports"
)

// Show writes where the session is, the state, and what is possible, each transition with the key that takes it.
func (x *Session) Show(w io.Writer, columns int) error {
	var b strings.Builder
	clients, _ := x.scenario.Size(&x.schedule)
	fmt.Fprintf(&b, "%s   step %d of %d   %s, %s   faults: %s\n", x.scenario.Name, x.at, x.Steps(),
		history.Counted(clients, "client"), history.Counted(max(1, x.schedule.Servers), "server"), x.schedule.Faults)
	f := x.told()
	if last := reports.LastStep(f); last != "" {
		fmt.Fprintln(&b, reports.Within(last, columns))
	}
	fmt.Fprintln(&b)
	if err := reports.WriteState(&b, f, columns); err != nil {
		return err
	}
	x.verdict(&b)
	x.possible(&b, columns)
	_, err := io.WriteString(w, b.String())
	return err
}

// Columns writes the steps so far as a table with a column for each server and client.
func (x *Session) Columns(w io.Writer, columns int) error {
	return reports.WriteColumns(w, x.told(), columns)
}

// verdict writes what the judges say.
func (x *Session) verdict(b *strings.Builder) {
	switch v := x.Verdict(); {
	case v.Level == checkers.Violated:
		fmt.Fprintf(b, "VIOLATED  %s: %s\n", v.Checker, reports.Printable(v.Message))
	case v.Level == checkers.Unknown:
		fmt.Fprintf(b, "inconclusive  %s: %s\n", v.Checker, reports.Printable(v.Message))
	case x.Over():
		fmt.Fprintln(b, "ok  everything held")
	}
}

// possible writes the transitions and their keys, in as many columns as there is room for.
func (x *Session) possible(b *strings.Builder, columns int) {
	if x.Over() {
		fmt.Fprintln(b, "The run is over.")
		return
	}
	fmt.Fprintln(b, "Possible:")
	menu(b, x.visit.Normal, 0, columns)
	if len(x.visit.Faults) > 0 {
		fmt.Fprintln(b, "Faults:")
		menu(b, x.visit.Faults, len(x.visit.Normal), columns)
	}
}

// menu writes names with their keys; first is the number of the first one.
func menu(b *strings.Builder, names []string, first, columns int) {
	width := 0
	for _, name := range names {
		width = max(width, utf8.RuneCountInString(name))
	}
	width += 6
	each := max(1, columns/width)
	for i, name := range names {
		entry := fmt.Sprintf("  %s %s", Key(first+i), name)
		if (i+1)%each == 0 || i == len(names)-1 {
			fmt.Fprintln(b, entry)
		} else {
			b.WriteString(entry + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(entry))))
		}
	}
}

// keys take the first transitions: digits, then capital letters. Small letters are commands.
const keys = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Key returns the key of choice i, from 0, or a dot for a choice without a key, which is taken by its name.
func Key(i int) string {
	if i < len(keys) {
		return keys[i : i+1]
	}
	return "."
}
