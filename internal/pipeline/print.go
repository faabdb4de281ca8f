package pipeline

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/reports"
)

// PrintVerdict prints what was found, which run failed, and the step that decides. The first line begins with head, the
// others with as many blanks.
func (f *Failure) PrintVerdict(w io.Writer, head string) {
	r, blank := &f.Report, strings.Repeat(" ", len(head))
	fmt.Fprintf(w, "%s%s  %s  %s: %s\n", head, f.Scenario.Name, f.Where, r.Checker, reports.Printable(r.Message))
	for _, other := range r.Also {
		fmt.Fprintf(w, "%salso       %s\n", blank, reports.Printable(other))
	}
	PrintCalls(w, r.Stack)
	PrintWaits(w, blank, f.History)
	clients, rounds := f.Scenario.Size(&f.Full)
	if f.Scenario.Outside != nil {
		clients = r.Clients
	}
	size := partOf(r.Minimal, r.Steps, "step") + ", " + partOf(r.Clients, clients, "client")
	if rounds > 0 {
		size += ", " + partOf(r.Rounds, rounds, "round")
	}
	struck := strings.Join(r.Struck, ", ")
	if struck == "" {
		struck = "none"
	}
	fmt.Fprintf(w, "%s%s    %s, faults: %s%s\n", blank, minimal(r.Cut), size, struck, notMinimal(r.Cut))
	if r.Why == nil { // not looked for
		return
	}
	decided := r.Why.String()
	if r.Why.Step > 0 {
		decided = fmt.Sprintf("step %d, %s", r.Why.Step, decided)
	}
	fmt.Fprintf(w, "%sdecided    %s\n", blank, decided)
}

// PrintWaits prints a line for each client that holds everybody up at the end: where its code waits, if that was looked
// for ([engine.Waits]).
func PrintWaits(w io.Writer, blank string, h *history.History) {
	for _, l := range checkers.Chain(h) {
		if len(l.Calls) > 0 {
			who := fmt.Sprintf("c%d", l.Client)
			if l.Task != "" {
				who += "/" + reports.Printable(l.Task)
			}
			fmt.Fprintf(w, "%swaits      %s in %s\n", blank, who, reports.Printable(inShort(l.Calls)))
		}
	}
}

// inShort says in a line where code waits: the names of the last functions, and the place in the innermost one, as in
// "worker.run > Lock.Lock > place.await, mylock/place.go:41".
func inShort(calls []string) string {
	var names []string
	for _, x := range slices.Backward(calls[:min(len(calls), 4)]) {
		name, _, _ := strings.Cut(x, " ")
		name = name[strings.LastIndexByte(name, '/')+1:]
		_, inPackage, _ := strings.Cut(name, ".")
		names = append(names, strings.NewReplacer("(*", "", ")", "").Replace(cmp.Or(inPackage, name)))
	}
	_, place, _ := strings.Cut(calls[0], " ")
	return strings.Join(names, " > ") + ", " + place
}

// PrintCalls prints the calls of client code below the sentence that they belong to.
func PrintCalls(w io.Writer, stack []string) {
	for _, call := range stack {
		fmt.Fprintf(w, "          %s\n", reports.Printable(call))
	}
}

// minimal is the word for a schedule that was shrunk: minimal, unless shrinking was cut short.
func minimal(cut string) string {
	if cut != "" {
		return "smaller"
	}
	return "minimal"
}

// notMinimal says why a schedule may not be minimal; see minimal.
func notMinimal(cut string) string {
	if cut == "" {
		return ""
	}
	return "; may not be minimal: " + cut
}

// partOf says how many of how many are left.
func partOf(n, all int, what string) string {
	if n == all {
		return history.Counted(n, what)
	}
	return fmt.Sprintf("%d of %s", n, history.Counted(all, what))
}

// QuoteFile makes the name of a file safe for a shell, and one that begins with "-" no flag.
func QuoteFile(name string) string {
	if strings.HasPrefix(name, "-") && name != "-" {
		name = "./" + name
	}
	return Quote(name)
}

// Quote makes a word safe for a shell.
func Quote(s string) string {
	if strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-=", r)
	}) < 0 && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
