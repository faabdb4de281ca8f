package reports

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"zksim/checkers"
	"zksim/model/history"
)

// Failure is all that is known of a failed run.
type Failure struct {
	Report   Report
	Doc      string // of the scenario
	Source   string // the same
	Where    string // which run has failed, as "seed 17" or a file; empty: only the seed in Report is known
	Property string // what the checker asks for
	Verdict  checkers.Verdict
	History  *history.History
	Trace    *history.Trace
	Initial  []string // faults of the start, which are no steps
	Search   []byte   // porcupine's page, which differs from time to time; nil: none
	Files    []File   // beside the page, which links to them
}

// File is a file beside a page.
type File struct{ Name, What string }

// passage is what happened in one step, in words. The first passage is about the time before the first step.
type passage struct {
	Step  int
	Name  string // of the transition
	Lines []line
	bears bool // code asks for a change, or is told of an error: others, or it, act on that later
}

// Class is "minor" if nothing in the passage matters by itself.
func (p passage) Class() string {
	for _, l := range p.Lines {
		if l.Class != "" {
			return ""
		}
	}
	return "minor"
}

// line is one clause of the story.
type line struct {
	Text   string
	Client int32
	Class  string // what kind of news it is; "" if it only moves the run on
	setUp  string // path of the znode, if it was made before the first step
}

// The classes of lines that matter.
const (
	faultLine  = "fault"
	txnLine    = "txn"
	beliefLine = "belief"
	recipeLine = "recipe"
	choiceLine = "choice"
	notifyLine = "told"
	wastedLine = "wasted"
	lostLine   = "lost"
	stuckLine  = "stuck"
	stateLine  = "session"
	errorLine  = "error"
)

// WriteStory tells the run step by step.
func WriteStory(w io.Writer, f *Failure) error {
	n := newNames(f.History, f.Trace)
	return f.write(w, n, story(f, n), len(f.Trace.Steps))
}

// WriteGist is WriteStory up to the violation, without the steps that only move the run on. A step at which code asks
// for a change is kept, because others run into that later, and so is one at which an answer is an error, because code
// goes by it.
func WriteGist(w io.Writer, f *Failure) error {
	last, _ := f.place()
	last = min(last, len(f.Trace.Steps))
	n := newNames(f.History, f.Trace)
	list := slices.DeleteFunc(story(f, n), func(p passage) bool {
		return p.Step > last || p.Class() != "" && !p.bears && !f.decides(p)
	})
	return f.write(w, n, f.abridged(list), last)
}

// decides reports whether a passage is of the step that decides.
func (f *Failure) decides(p passage) bool {
	return f.Report.Why != nil && p.Step > 0 && p.Step == f.Report.Why.Step
}

// mostTold is how many steps a gist has, besides faults and the step that decides: code that polls has thousands.
const mostTold = 200

// abridged returns passages without repetitions. If there are many, it keeps the first and the last, and between them
// those of faults and of the step that decides.
func (f *Failure) abridged(list []passage) []passage {
	list = f.folded(list)
	from, to := mostTold/2, len(list)-mostTold/2
	if from >= to {
		return list
	}
	middle := slices.DeleteFunc(slices.Clone(list[from:to]), func(p passage) bool {
		return !f.decides(p) && !slices.ContainsFunc(p.Lines, func(l line) bool { return l.Class == faultLine })
	})
	return slices.Concat(list[:from], []passage{leftOut(to - from - len(middle))}, middle, list[to:])
}

// write writes passages, how many steps come after the last one, and what short names stand for.
func (f *Failure) write(w io.Writer, n *names, list []passage, last int) error {
	b := bufio.NewWriter(w)
	for _, p := range list {
		number := ""
		if p.Step > 0 {
			number = fmt.Sprint(p.Step)
		}
		for _, l := range p.Lines {
			fmt.Fprintf(b, "%5s %-22s %s\n", number, p.Name, l.Text)
			number, p.Name = "", ""
		}
	}
	if left := len(f.Trace.Steps) - last; left > 0 {
		fmt.Fprintf(b, "%5s ... %s\n", "", history.Counted(left, "more step"))
	}
	for _, x := range n.list(pathsOf(f.History, f.Trace, 0, last)) {
		fmt.Fprintf(b, "%5s %-22s %s\n", "", x[0], x[1])
	}
	return b.Flush()
}

// Notes returns what each step did, in one line each.
func Notes(f *Failure) []string {
	var notes []string
	for _, p := range story(f, newNames(f.History, f.Trace))[1:] {
		notes = append(notes, p.text())
	}
	return notes
}

// text is what happened, in one line.
func (p passage) text() string {
	var texts []string
	for _, l := range p.Lines {
		texts = append(texts, l.Text)
	}
	return clip(strings.Join(texts, "; "))
}

// story tells every step.
func story(f *Failure, n *names) []passage {
	h := f.History
	list := make([]passage, 0, len(f.Trace.Steps)+1)
	next, place := 0, -1
	if f.Verdict.Level == checkers.Violated {
		place, _ = f.place()
	}
	for i := 0; i <= len(f.Trace.Steps); i++ {
		p := passage{Step: i}
		if i > 0 {
			step := &f.Trace.Steps[i-1]
			p.Name = step.Name
			if step.Did != "" {
				l := line{Text: step.Did, Client: clientOf(step.Name)}
				if strings.HasPrefix(step.Name, "choose ") { // what comes next follows from it
					l.Class = choiceLine
				}
				p.Lines = append(p.Lines, l)
			}
		}
		for ; next < len(h.Events) && int(h.Events[next].Step) <= i; next++ {
			p.tell(h, next)
			if f.Verdict.Level == checkers.Violated && next == f.Verdict.Event {
				p.Lines = append(p.Lines, f.violation())
			}
		}
		if i == len(f.Trace.Steps) {
			p.conclude(f)
		}
		if i == place && f.Verdict.Event < 0 {
			p.Lines = append(p.Lines, f.violation())
		}
		p.finish(n)
		list = append(list, p)
	}
	return list
}

// tell adds the line of event i.
func (p *passage) tell(h *history.History, i int) {
	e := &h.Events[i]
	switch {
	case e.Kind == history.Fault && len(p.Lines) > 0: // it is what the step did
		p.Lines[0].Class = faultLine
		p.Lines[0].Text = e.Op + ": " + p.Lines[0].Text
		return
	case e.Kind == history.Reply && strings.HasPrefix(p.Name, "deliver "):
		p.bears = p.bears || e.Err != nil
		return
	}
	p.bears = p.bears || e.Kind == history.Call && slices.Contains(writes, e.Op)
	l := line{Client: e.Client}
	l.Text, l.Class = narrate(h, i)
	if p.Step == 0 && e.Kind == history.Created {
		l.setUp = e.Path
	}
	p.Lines = append(p.Lines, l)
}

// conclude adds how the run ended, and who still waits.
func (p *passage) conclude(f *Failure) {
	switch f.History.Outcome {
	case history.Quiet:
		p.Lines = append(p.Lines, line{Text: "nothing is left to happen", Class: stateLine})
	case history.StepLimit:
		p.Lines = append(p.Lines, line{Text: "the step limit is reached", Class: stateLine})
	case history.Panicked:
		p.Lines = append(p.Lines, line{Text: "the program panics", Class: stateLine})
	}
	for _, x := range f.History.Waiting {
		what := "something that is no watch"
		if len(x.Paths) > 0 {
			what = strings.Join(x.Paths, " and ")
		}
		p.Lines = append(p.Lines, line{Text: fmt.Sprintf("%s still waits for %s", client(x.Client), what),
			Client: x.Client, Class: stuckLine})
	}
}

func (f *Failure) violation() line {
	l := line{Text: fmt.Sprintf("violation of %s: %s", f.Verdict.Checker, f.Verdict.Message), Class: errorLine}
	if f.Verdict.Event >= 0 {
		e := &f.History.Events[f.Verdict.Event]
		l.Client = e.Client
		if e.Client == 0 && e.Path == f.Verdict.Message { // the event is told as these words
			l.Text = "violation of " + f.Verdict.Checker
		}
	}
	return l
}

// finish makes the lines fit to be shown.
func (p *passage) finish(n *names) {
	if len(p.Lines) == 0 && p.Step > 0 {
		_, who, _ := strings.Cut(p.Name, " ")
		p.Lines = []line{{Text: strings.Replace(who, "/", ", coroutine ", 1) + " goes on", Client: clientOf(p.Name)}}
	}
	p.Name = clip(Printable(p.Name))
	for i := range p.Lines {
		p.Lines[i].Text = n.text(p.Lines[i].Text)
	}
}

// clientOf returns the client that a transition happens to, by its name.
func clientOf(transition string) int32 {
	var c int32
	if _, word, ok := strings.Cut(transition, " "); ok {
		fmt.Sscanf(word, "c%d", &c)
	}
	return c
}

func seconds(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }

// mostLines is how many lines the short story has.
const mostLines = 14

// brief is the story of what a violation is about, up to the violation. It has the faults, the news of the violation's
// clients, of the znodes that its message names, and of the clients that made what it names. It also has who was told
// in vain right after the violation. An operation that is asked for again after its outcome was lost is news. Of a long
// story it keeps the end, and earlier faults.
func brief(f *Failure, n *names, all []passage) (short []passage, left int) {
	step, clients := f.place()
	clients = append(clients, f.makers()...)
	again := lostCalls(all)
	var znodes []string
	for path, nick := range n.short {
		if mentions(f.Verdict.Message, path) {
			znodes = append(znodes, nick)
		}
	}
	matters := func(l line, after bool) bool {
		named := slices.Contains(clients, l.Client)
		about := slices.ContainsFunc(znodes, func(nick string) bool { return mentions(l.Text, nick) })
		switch l.Class {
		case wastedLine:
			return named || about
		case faultLine, errorLine:
			return !after
		case lostLine:
			return !after && (named || slices.Contains(f.named(), l.Client))
		case "":
			return !after && named && (again[l.Text] || about && strings.HasPrefix(l.Text, client(l.Client)+" calls "))
		}
		return !after && (named || about)
	}
	count, said := 0, map[line]bool{}
	for i := min(step+stepsAfter, len(all)-1); i >= 0; i-- {
		p := all[i]
		if k := slices.IndexFunc(p.Lines, func(l line) bool { return l.Class == errorLine }); k >= 0 {
			p.Lines = p.Lines[:k+1]
		}
		p.Lines = slices.DeleteFunc(slices.Clone(p.Lines), func(l line) bool {
			stale := said[l] && (l.Class == "" || l.Class == recipeLine) // that it does so often is no news
			said[l] = true
			return stale || !matters(l, i > step)
		})
		if len(p.Lines) == 0 {
			continue
		}
		if count += len(p.Lines); count > mostLines && (!p.has(faultLine) || len(short) > 2*mostLines) {
			left += len(p.Lines)
			continue
		}
		short = append(short, p)
	}
	slices.Reverse(short)
	return short, left
}

// lostCalls returns the lines of calls of which one has lost its outcome.
func lostCalls(all []passage) map[string]bool {
	calls := map[string]bool{}
	for _, p := range all {
		for _, l := range p.Lines {
			if asked, _, _ := strings.Cut(l.Text, " ends with "); l.Class == lostLine {
				calls[strings.Replace(asked, "'s ", " calls ", 1)] = true
			}
		}
	}
	return calls
}

func (p *passage) has(class string) bool {
	return slices.ContainsFunc(p.Lines, func(l line) bool { return l.Class == class })
}

// A part of a story is folded if it comes at least fewestTurns times and is at most longestTurn steps long.
const (
	fewestTurns = 4
	longestTurn = 12
)

// folded returns passages without those in which the same happens again and again, numbers aside, as when code polls.
// Of each such stretch it keeps the first turn and the last one.
func (f *Failure) folded(list []passage) (short []passage) {
	kinds := make([]string, len(list))
	for i, p := range list {
		if !f.decides(p) && !p.has(faultLine) && !p.has(errorLine) {
			kinds[i] = p.kind()
		}
	}
	for i := 0; i < len(list); {
		turn, turns := repetition(kinds[i:])
		if turns < fewestTurns {
			short = append(short, list[i])
			i++
			continue
		}
		end := i + turn*turns
		short = append(short, list[i:i+turn]...)
		short = append(short, leftOut(turn*(turns-2)))
		short = append(short, list[end-turn:end]...)
		i = end
	}
	return short
}

// leftOut returns a passage that stands for steps that are left out.
func leftOut(steps int) passage {
	return passage{Lines: []line{{Text: "... " + history.Counted(steps, "step") + " like these"}}}
}

// repetition returns how long a turn is and how often it comes at the beginning of the list. It chooses the turn that
// covers the most steps.
func repetition(kinds []string) (turn, turns int) {
	for n := 1; n <= longestTurn && n <= len(kinds); n++ {
		k := 1
		for (k+1)*n <= len(kinds) && slices.Equal(kinds[:n], kinds[k*n:(k+1)*n]) && !slices.Contains(kinds[:n], "") {
			k++
		}
		if k > 1 && k*n > turn*turns {
			turn, turns = n, k
		}
	}
	return turn, turns
}

// numeral is a number, with all that belongs to it, as in 0x1a and 1m20s.
var numeral = regexp.MustCompile(`[0-9]\w*`)

// kind is what happens in the step, without its numbers.
func (p *passage) kind() string {
	verb, _, _ := strings.Cut(p.Name, " ")
	words := []string{verb}
	for _, l := range p.Lines {
		words = append(words, client(l.Client), numeral.ReplaceAllString(l.Text, ""))
	}
	return strings.Join(words, "\n")
}
