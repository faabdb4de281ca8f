package simrun

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// findingsName is the default name of the file with the history of the findings.
const findingsName = "findings.json"

const findingsFormat = "zksim findings 2"

// The states of a finding, compared with the previous merge. A finding that was not looked for keeps its state.
const (
	stateNew       = "new"
	stateOngoing   = "ongoing"
	stateRegressed = "regressed" // it was gone
	stateGone      = "gone"
)

// finding is a failure identified by what it is, not by the run that shows it.
type finding struct {
	Scenario string `json:"scenario"`
	Checker  string `json:"checker"`
	Decides  string `json:"decides"` // the kind of the step that decides; empty: no single one
	State    string `json:"state"`
	Seed     uint64 `json:"seed"`               // the lowest that failed when it was last found
	Searched bool   `json:"searched,omitempty"` // no seed failed then, but exhaustive search has found it
	Message  string `json:"message"`
	// Circumstances are the circumstances of the seed, as flags.
	Circumstances string   `json:"circumstances,omitempty"`
	History       []change `json:"history"`
}

// change is when a finding was new, gone or regressed.
type change struct {
	State   string `json:"state"`
	Program string `json:"program"` // the version that showed it
	Seed    uint64 `json:"seed"`
}

// findingsFile is the history of the findings, meant to be committed. It has no times, so the same merges give the same
// bytes.
type findingsFile struct {
	Format   string     `json:"format"`
	Findings []*finding `json:"findings"`
	// Campaign names the program and the parameters of the parts that were merged last. Before has the findings from
	// before that campaign: another merge of it, for example with parts that were missing, starts from these.
	Campaign string     `json:"campaign"`
	Before   []*finding `json:"before,omitempty"`
}

// findings are the findings in a merge.
type findings struct {
	findingsFile
	file    *output
	program string
	now     map[*finding]bool
	looks   map[string]looked
	counts  map[string]int
}

// looked is how thoroughly a merge has looked for the findings of a scenario.
type looked struct {
	seeds shardSeeds
	whole bool // all seeds were run
	every bool // and the small scope was searched
	// partly are the checkers whose failing runs were all explained only up to a seed: there may still be a finding
	// beyond it.
	partly []shardExplained
}

// openFindings reads the history, if there is one.
func (c *mergeFlags) openFindings(a *app, p *shardParameters) (*findings, error) {
	name := cmp.Or(c.findings, filepath.Join(c.out, findingsName))
	x := &findings{now: map[*finding]bool{}, looks: map[string]looked{}, counts: map[string]int{}}
	var err error
	if x.program, err = programVersion(); err != nil {
		return nil, err
	}
	if x.file, err = a.openOutput("merge", "findings", name); err != nil {
		return nil, err
	}
	if !x.file.replaced {
		return nil, fmt.Errorf("-findings: %s is no regular file, which can be read again", name)
	}
	if sameFile(name, c.junit) || c.writes(name) && !sameFile(name, filepath.Join(c.out, findingsName)) {
		return nil, fmt.Errorf("-findings: %s is written by the merge for something else, expected another file", name)
	}
	switch err = readStrictly(name, findingsFormat, &x.findingsFile); {
	case errors.Is(err, fs.ErrNotExist):
		x.Format = findingsFormat
	case err != nil:
		return nil, fmt.Errorf("-findings: %w", err)
	}
	return x, x.begin(p)
}

// check refuses a file that no merge can have written.
func (x *findingsFile) check() error {
	if x.Format != findingsFormat {
		return fmt.Errorf("its format is %.60q", x.Format)
	}
	for _, list := range [][]*finding{x.Findings, x.Before} {
		for i, y := range list {
			switch {
			case y == nil || y.Scenario == "" || y.Checker == "":
				return fmt.Errorf("finding %d has no scenario or no checker", i+1)
			case !slices.Contains([]string{stateNew, stateOngoing, stateRegressed, stateGone}, y.State):
				return fmt.Errorf("the state of finding %d is %.60q, expected new, ongoing, regressed or gone", i+1, y.State)
			case slices.ContainsFunc(list[:i], y.same):
				return fmt.Errorf("finding %d is there twice", i+1)
			}
		}
	}
	return nil
}

// same reports whether both are one finding.
func (y *finding) same(z *finding) bool {
	return y.Scenario == z.Scenario && y.Checker == z.Checker && y.Decides == z.Decides
}

// begin goes back to where the campaign with these parameters began, or notes that it begins here.
func (x *findings) begin(p *shardParameters) error {
	sum := sha256.New()
	err := json.NewEncoder(sum).Encode([]any{x.program, p})
	campaign := hex.EncodeToString(sum.Sum(nil)[:8])
	if x.Campaign != campaign {
		x.Campaign, x.Before = campaign, x.Findings
	}
	x.Findings = nil
	for _, y := range x.Before {
		z := *y
		z.History = slices.Clone(y.History)
		x.Findings = append(x.Findings, &z)
	}
	return err
}

// looked notes that the failures of a scenario are known, and for how much of it.
func (x *findings) looked(scenario string, seeds shardSeeds, s *sum, out *pipeline.Outcome) {
	whole := len(s.cut) == 0 && s.misuse == "" && out.Status != engine.Nondeterministic
	x.looks[scenario] = looked{seeds, whole, out.Every >= 0, s.partly}
}

// shows reports whether a finding would have been found again if it were still there.
func (l *looked) shows(y *finding) bool {
	if y.Searched {
		return l.every
	}
	beyond := slices.ContainsFunc(l.partly, func(e shardExplained) bool {
		return e.Checker == y.Checker && y.Seed > e.Last
	})
	return l.whole && l.seeds.First <= y.Seed && y.Seed <= l.seeds.Last && !beyond
}

// where says which run showed the finding.
func (y *finding) where() string {
	if y.Searched {
		return pipeline.BySearch
	}
	return fmt.Sprintf("seed %d", y.Seed)
}

// found notes a failure, and returns the state of its finding.
func (x *findings) found(scenario string, f *shardFailure) string {
	z := &finding{Scenario: scenario, Checker: f.Checker, Decides: f.Decides}
	i := slices.IndexFunc(x.Findings, z.same)
	if i < 0 {
		i = len(x.Findings)
		x.Findings = append(x.Findings, z)
	}
	y := x.Findings[i]
	switch y.State {
	case "":
		y.State = stateNew
	case stateGone:
		y.State = stateRegressed
	default:
		y.State = stateOngoing
	}
	y.Seed, y.Searched, y.Message = f.Seed, f.Searched, f.Message
	if y.State != stateOngoing {
		y.History = append(y.History, change{y.State, x.program, f.Seed})
	}
	x.now[y] = true
	x.counts[y.State]++
	return y.State
}

// end finds out which findings are gone: those that this merge would have shown, in the circumstances of the parts.
// With a time and no seeds, nobody knows which seeds were run.
func (x *findings) end(circumstances string, p *shardParameters) {
	for _, y := range x.Findings {
		if x.now[y] {
			y.Circumstances = circumstances
			continue
		}
		l, run := x.looks[y.Scenario]
		switch {
		case y.State == stateGone:
		case run && y.Circumstances == circumstances && p.For == "" && l.shows(y):
			y.State = stateGone
			y.History = append(y.History, change{stateGone, x.program, y.Seed})
			x.now[y] = true
			x.counts[stateGone]++
		default:
			x.counts["not looked for"]++
		}
	}
	slices.SortFunc(x.Findings, func(a, b *finding) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Checker, b.Checker),
			cmp.Compare(a.Decides, b.Decides))
	})
}

// write writes the history.
func (x *findings) write(ctx context.Context) error {
	if x.Findings == nil {
		x.Findings = []*finding{}
	}
	return x.file.write(ctx, func(w io.Writer) error { return writeIndented(w, &x.findingsFile) })
}

// summary says in lines how the findings have changed; "" if there are none.
func (x *findings) summary() string {
	var b strings.Builder
	for _, r := range x.goneRows() {
		fmt.Fprintf(&b, "gone    %-24s %s, decided by %s, %s\n", reports.Printable(r.Scenario),
			reports.Printable(r.Failure.Checker), reports.Printable(cmp.Or(r.Failure.Decides, "no single step")),
			r.Failure.Where)
	}
	var list []string
	for _, state := range []string{stateNew, stateRegressed, stateOngoing, stateGone, "not looked for"} {
		if n := x.counts[state]; n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, state))
		}
	}
	if len(list) > 0 {
		fmt.Fprintf(&b, "findings %s\n", strings.Join(list, ", "))
	}
	return b.String()
}

// goneRows are the findings that this merge no longer found.
func (x *findings) goneRows() (rows []reports.Row) {
	for _, y := range x.Findings {
		if y.State == stateGone && x.now[y] {
			rows = append(rows, reports.Row{Scenario: y.Scenario, Failure: &reports.RowFailure{Checker: y.Checker,
				Decides: y.Decides, Message: y.Message, Where: y.where()}})
		}
	}
	return rows
}
