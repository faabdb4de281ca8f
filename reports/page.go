package reports

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the script and the style of the page
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"zksim/model/history"
)

var (
	//go:embed page.js
	script string
	//go:embed colors.css
	colors string
	//go:embed page.css
	pageStyle string
	//go:embed page.html.tmpl
	pageText string

	pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
		"plain": func(s string) string { return clip(Printable(s)) },
		"line":  Printable,
		"inc":   func(i int) int { return i + 1 },
		"gloss": gloss,
	}).Parse(pageText))

	style = colors + pageStyle
)

// How many steps before and after the violation a page shows.
const (
	stepsBefore = 400
	stepsAfter  = 8
)

// page is what the template shows.
type page struct {
	*Report
	Doc, Source, Property string
	Headline, Message     string
	Run                   string // which one, as "seed 17"
	Decision              string // what decides, in words; empty: not known
	Decisive              int    // its step; -1: there is none
	Live                  bool   // on a real ensemble, of which only events are known
	Place                 int
	First, Last, Total    int
	Facts                 []fact
	Chain                 *chain
	Picture               *picture
	Brief                 []passage
	Left                  int // lines that the short story leaves out
	Story                 []passage
	Legend                []fact
	Panels                []panel
	Names                 [][2]string
	Files                 []File
	Glossary              []fact
	Clients               []string
	Data                  data
	Script                template.JS
	Style                 template.CSS
	ScriptHash, StyleHash string
}

type fact struct{ Name, Value string }

// data is what the script needs: how everything stood before the first step shown, and what each step changed.
type data struct {
	First int      `json:"first"`
	Last  int      `json:"last"`
	Place int      `json:"place"`
	Base  []row    `json:"base"`
	Steps [][]row  `json:"steps"`
	Times []string `json:"times"`
	Names []string `json:"names"`
}

// WritePage writes index.html: one file that needs nothing else, and can be read
// without its script.
func WritePage(w io.Writer, f *Failure) error {
	return fill(w, pageTemplate, newPage(f))
}

// fill writes what a template makes of data. A template that fails has made half of a page, so nothing is written then.
func fill(w io.Writer, t *template.Template, data any) error {
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return fmt.Errorf("reports: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func newPage(f *Failure) *page {
	n := newNames(f.History, f.Trace)
	step, _ := f.place()
	total := len(f.Trace.Steps)
	p := &page{Report: &f.Report, Doc: f.Doc, Source: f.Source, Property: f.Property, Live: f.live(), Place: step,
		Run: f.where(), Total: total,
		Headline: n.text(f.Verdict.Message), Message: clip(Printable(f.Verdict.Message)),
		First: max(1, step-stepsBefore), Last: min(total, step+stepsAfter),
		Script: template.JS(script), Style: template.CSS(style), ScriptHash: digest(script), StyleHash: digest(style)}
	p.Files, p.Glossary = f.Files, glossaryOf(f)
	p.Names = n.list(pathsOf(f.History, f.Trace, p.First-1, p.Last))
	p.Facts = facts(f)
	for _, x := range p.Names {
		if mentions(p.Headline, x[0]) {
			p.Facts = append(p.Facts, fact{x[0], x[1]})
		}
	}
	if total > 0 {
		p.Picture = draw(f, n, p.First, p.Last)
		p.Legend = p.Picture.legend()
		p.Chain = drawChain(f.History, n)
	}
	all := story(f, n)
	p.Brief, p.Left = brief(f, n, all)
	p.Story = all[p.First : p.Last+1]
	if p.First == 1 {
		p.Story = all[:p.Last+1]
	}
	p.decide(all)
	t := newTables(f.Trace, n)
	if !p.Live {
		p.Panels = t.panels(min(step, total), f.Report.Servers)
	}
	p.Data = data{First: p.First, Last: p.Last, Place: step, Base: append([]row{}, t.at(p.First-1)...), Steps: [][]row{}}
	for s := p.First; s <= p.Last; s++ {
		x := &f.Trace.Steps[s-1]
		p.Data.Steps = append(p.Data.Steps, t.rows(x.Rows))
		at := ""
		if !p.Live {
			at = seconds(x.Time)
		}
		p.Data.Times = append(p.Data.Times, at)
		p.Data.Names = append(p.Data.Names, clip(Printable(x.Name)))
	}
	for c := 1; c <= f.History.Clients; c++ {
		p.Clients = append(p.Clients, client(int32(c)))
	}
	return p
}

// decide says which step decides, what it did, and how much it decides.
func (p *page) decide(all []passage) {
	p.Decisive = -1
	switch w := p.Why; {
	case w == nil:
	case w.Step == 0 || w.Step >= len(all):
		p.Decision = w.String()
	default:
		p.Decisive = w.Step
		p.Decision = fmt.Sprintf("%s. Before it %s of the random futures fail, after it %s",
			clip(all[w.Step].Lines[0].Text), history.Percent(w.Chance(w.Step-1)), history.Percent(w.Chance(w.Step)))
	}
}

// meanings says what the parts of a picture are, by their classes.
var meanings = []fact{
	{"belief", "believes that it is the holder"}, {"operation", "operation of the recipe"}, {"call", "call to ZooKeeper"},
	{"refused", "answered with an error"}, {"lost", "outcome unknown"}, {"stuck", "waits forever"},
	{"paused", "process stopped"}, {"cutoff", "cut off from the leader"},
	{"connected", "connected"}, {"disconnected", "disconnected"}, {"deceived", "session ended, the client cannot know"},
	{"crashed", "crashed"},
	{"created", "znode created"}, {"changed", "new data"}, {"deleted", "znode deleted"}, {"applied", "txn applied"},
	{"told", "told by a watch"}, {"wasted", "told in vain"}, {"chance", "chance that a random future fails"},
}

// legend returns the meanings of what is in the picture.
func (p *picture) legend() []fact {
	return slices.DeleteFunc(slices.Clone(meanings), func(m fact) bool {
		return !slices.ContainsFunc(p.Shapes, func(s shape) bool {
			return s.Kind != "text" && slices.Contains(strings.Fields(s.Class), m.Name)
		})
	})
}

// digest returns the hash by which the page's policy allows a script or style.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// facts are the circumstances of the run.
func facts(f *Failure) []fact {
	r := &f.Report
	struck := slices.Clone(f.Initial)
	for i := range f.History.Events {
		if e := &f.History.Events[i]; e.Kind == history.Fault {
			struck = append(struck, fmt.Sprintf("%s (step %d)", e.Op, e.Step))
		}
	}
	if len(struck) == 0 {
		struck = []string{"none"}
	}
	size := history.Counted(r.Servers, "server")
	if r.Like != "" {
		size += " like " + r.Like
	}
	size += ", " + history.Counted(r.Clients, "client")
	if r.Rounds > 0 {
		size += ", " + history.Counted(r.Rounds, "round") + " each"
	}
	if r.Backend == "serve" {
		return []fact{{"backend", "simrun serve; a step is an event"}, {"ensemble", size},
			{"faults that happened", strings.Join(struck, ", ")}}
	}
	if f.live() {
		return []fact{{"backend", "ZooKeeper; a step is an event"}, {"ensemble", size}}
	}
	schedule := history.Counted(r.Minimal, "step") + " prescribed"
	if r.Steps > r.Minimal {
		schedule += fmt.Sprintf(", shrunk from %d", r.Steps)
	}
	if r.Cut != "" {
		schedule += ", not minimal: " + Printable(r.Cut)
	}
	schedule += "; the run has " + history.Counted(len(f.Trace.Steps), "step")
	repeats := fact{"hash", r.Hash}
	if r.Again != "" {
		repeats = fact{"repeated", clip(Printable(r.Again))}
	}
	return []fact{
		{"run", Printable(f.where())},
		{"ensemble", size},
		{"fault plan", clip(Printable(r.Faults))},
		{"faults struck", clip(Printable(strings.Join(struck, ", ")))},
		{"schedule", schedule},
		repeats,
	}
}

// where says which run the page is about.
func (f *Failure) where() string { return cmp.Or(f.Where, fmt.Sprintf("seed %d", f.Report.Seed)) }
