package reports

import (
	"cmp"
	_ "embed" // the style and the text of the index
	"fmt"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strings"

	"zksim/model/history"
)

// Index is the content of index.html for a run of many scenarios.
type Index struct {
	Title   string
	Summary string   // a line
	Beside  []string // names of files and folders beside the page that belong to it
	Notes   []string // what to know before anything else, such as that a part of the work is missing
	Rows    []Row    // in the order of the page
	Gone    []Row    // failures of an earlier run that this one did not find
}

// Row is a scenario of an index.
type Row struct {
	Format   string      `json:"format"` // RowFormat
	Scenario string      `json:"scenario"`
	By       string      `json:"by,omitempty"` // what came to the result, such as "prove"; empty: seeds
	Doc      string      `json:"doc,omitempty"`
	Source   string      `json:"source,omitempty"`
	Status   string      `json:"status"`            // one of Statuses
	Says     string      `json:"says"`              // the result, in a line or several
	Struck   []Count     `json:"struck,omitempty"`  // faults that struck
	Quiet    []string    `json:"quiet,omitempty"`   // faults that could have
	Goals    []Count     `json:"goals,omitempty"`   // and in how many runs each was reached
	Holders  int         `json:"holders,omitempty"` // the most that held the lock at once
	Failure  *RowFailure `json:"failure,omitempty"`
	// Others are further failures: found by another checker, or decided by another step.
	Others []*RowFailure `json:"others,omitempty"`
}

// ID names the row within its index.
func (r *Row) ID() string {
	if r.By == "" {
		return r.Scenario
	}
	return r.Scenario + ":" + r.By
}

// RowFormat is the version of a row.
const RowFormat = "zksim scenario 1"

// Count is how often something happened.
type Count struct {
	Name  string `json:"name"`
	Times int    `json:"times,omitempty"`
	Runs  int    `json:"runs"`         // in which it did
	Of    int    `json:"of,omitempty"` // runs in which it could; 0: all
}

// String returns a count in words, such as "lose-reply 12 (10 of 40)" or "a lost reply in 7 runs".
func (c Count) String() string {
	if c.Of > 0 {
		return fmt.Sprintf("%s %d (%d of %d)", c.Name, c.Times, c.Runs, c.Of)
	}
	return c.Name + " in " + history.Counted(c.Runs, "run")
}

// RowFailure is a failure, or a mutant that was caught.
type RowFailure struct {
	Checker   string   `json:"checker"`
	Message   string   `json:"message,omitempty"`
	Where     string   `json:"where"`              // which run has failed
	State     string   `json:"state,omitempty"`    // new, ongoing or regressed, since an earlier run
	Decision  string   `json:"decision,omitempty"` // what decides it; empty: it was not looked for
	Decides   string   `json:"decides,omitempty"`  // the kind of its step, such as lose-reply; empty: none does
	Page      string   `json:"page,omitempty"`     // from the folder of the index, with slashes; empty: there is none
	Reproduce []string `json:"reproduce,omitempty"`
}

// decided fills in which step decides.
func (f *RowFailure) decided(w *history.Futures) {
	if w == nil {
		return
	}
	f.Decision, f.Decides = w.String(), w.Kind()
}

// NewRowFailure returns the row of a failure whose page exists.
func NewRowFailure(f *Failure, where, page string) *RowFailure {
	r := &RowFailure{Checker: f.Verdict.Checker, Message: newNames(f.History, f.Trace).text(f.Verdict.Message),
		Where: where, Page: page, Reproduce: f.Report.Reproduce}
	r.decided(f.Report.Why)
	return r
}

// Statuses are what can become of a scenario, the worst first.
var Statuses = []string{"nondeterministic", "misused", "violated", "escaped", "inconclusive", "not run", "caught",
	"held"}

var (
	//go:embed index.css
	indexStyle string
	//go:embed index.html.tmpl
	indexText string

	indexTemplate = template.Must(template.New("index").Funcs(template.FuncMap{
		"plain": func(s string) string { return clip(Printable(s)) },
		"line":  Printable,
		"lines": func(s string) []string { return strings.Split(s, "\n") },
		"first": func(s string) string { line, _, _ := strings.Cut(s, "\n"); return line },
		"gloss": gloss,
		"link":  func(path string) string { return (&url.URL{Path: "./" + path}).String() },
	}).Parse(indexText))
)

// index is what the template shows.
type index struct {
	*Index
	Counts    []Count
	Groups    []group
	Open      []Row // neither held nor caught, and without a failure
	Faults    bool  // a row has faults
	Reached   bool  // a row has goals
	Glossary  []fact
	Style     template.CSS
	StyleHash string
}

// group is the failures that one checker has found and that a step of one kind decides.
type group struct {
	Expected         bool // they are mutants
	Checker, Decides string
	Looked           bool // for the step that decides
	Rows             []Row
}

// WriteIndex writes the page: one file that needs nothing else and has no script. The same rows give the same bytes.
func WriteIndex(w io.Writer, x *Index) error {
	text := colors + indexStyle
	page := index{Index: x, Groups: groups(x.Rows), Glossary: glossary, Style: template.CSS(text),
		StyleHash: digest(text)}
	for _, status := range Statuses {
		n := 0
		for i := range x.Rows {
			if x.Rows[i].Status == status {
				n++
			}
		}
		if n > 0 {
			page.Counts = append(page.Counts, Count{Name: status, Times: n})
		}
	}
	for i := range x.Rows {
		page.Faults = page.Faults || len(x.Rows[i].Struck)+len(x.Rows[i].Quiet) > 0
		page.Reached = page.Reached || len(x.Rows[i].Goals) > 0
		if r := &x.Rows[i]; r.Failure == nil && r.Status != "held" && r.Status != "caught" {
			page.Open = append(page.Open, *r)
		}
	}
	return fill(w, indexTemplate, page)
}

// failures returns all failures of the row.
func (r *Row) failures() []*RowFailure {
	if r.Failure == nil {
		return nil
	}
	return slices.Concat([]*RowFailure{r.Failure}, r.Others)
}

// groups puts failures together. Those that must not be come before the mutants. Then the busiest checkers come first,
// and the largest groups of each.
func groups(rows []Row) (all []group) {
	type finder struct {
		expected bool
		checker  string
	}
	found := map[finder]int{}
	for i := range rows {
		for _, f := range rows[i].failures() {
			g := group{Expected: rows[i].Status == "caught", Checker: f.Checker, Decides: f.Decides,
				Looked: f.Decision != ""}
			k := slices.IndexFunc(all, func(x group) bool {
				return x.Expected == g.Expected && x.Checker == g.Checker && x.Decides == g.Decides && x.Looked == g.Looked
			})
			if k < 0 {
				k = len(all)
				all = append(all, g)
			}
			row := rows[i]
			row.Failure = f
			all[k].Rows = append(all[k].Rows, row)
			found[finder{g.Expected, g.Checker}]++
		}
	}
	slices.SortStableFunc(all, func(a, b group) int {
		if a.Expected != b.Expected {
			if b.Expected {
				return -1
			}
			return 1
		}
		one, other := found[finder{a.Expected, a.Checker}], found[finder{b.Expected, b.Checker}]
		return cmp.Or(cmp.Compare(other, one), strings.Compare(a.Checker, b.Checker),
			cmp.Compare(len(b.Rows), len(a.Rows)), strings.Compare(a.Decides, b.Decides))
	})
	return all
}

// Step says which step decides the failures of a group.
func (g group) Step() string {
	switch {
	case g.Decides != "":
		return "decided by " + g.Decides
	case g.Looked:
		return "decided by no single step"
	}
	return "the step that decides was not looked for"
}
