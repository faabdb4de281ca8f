package reports

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"zksim/model/history"
)

func indexed(t *testing.T, x *Index) string {
	t.Helper()
	var b strings.Builder
	if err := WriteIndex(&b, x); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, b.String())
	return b.String()
}

// rows of each status, with everything that a row can have, in which everything is called name.
func rows(name string) (all []Row) {
	for _, status := range Statuses {
		r := Row{Scenario: name + "/" + status, Doc: name, Source: name, Status: status, Says: name, Holders: 2,
			Struck: []Count{{name, 12, 10, 40}}, Quiet: []string{name}, Goals: []Count{{Name: name, Runs: 1},
				{Name: "a blue moon"}}}
		if status == "violated" || status == "caught" {
			r.Failure = &RowFailure{Checker: name, Message: name, Where: name, Decision: name, Decides: name,
				Page: name + "/1/index.html", Reproduce: []string{name}}
		}
		all = append(all, r)
	}
	return all
}

func TestTheIndexOfAMergeShowsWhatIsMissingNewAndGone(t *testing.T) {
	all := rows("lock")
	for i := range all {
		if f := all[i].Failure; f != nil && all[i].Status == "violated" {
			other := *f
			f.State, other.State, other.Checker = "new", "ongoing", "fenced"
			all[i].Others = []*RowFailure{&other}
		}
	}
	page := indexed(t, &Index{Title: "simrun merge", Summary: "8 scenarios", Rows: all,
		Notes: []string{"part 2/3 in <b> is not done"}, Gone: all[2:3]})
	for _, want := range []string{"<li>part 2/3 in &lt;b&gt; is not done</li>", "<h2>Gone since an earlier run</h2>",
		"<li>lock/violated: lock, decided by lock, lock", "<b>new</b>, lock", "<b>ongoing</b>, lock",
		"violated</span> fenced, decided by lock", "and 1 more, see above"} {
		if !strings.Contains(page, want) {
			t.Errorf("the index does not have %s", want)
		}
	}
}

func TestTheIndexShowsAllThereIs(t *testing.T) {
	page := indexed(t, &Index{Title: "simrun check", Summary: "8 scenarios", Rows: rows("lock")})
	for _, want := range []string{
		"<title>simrun check: 8 scenarios</title>", `<span class="badge held">1 held</span>`,
		`<span class="badge not run">1 not run</span>`,
		`<h3><span class="badge violated">violated</span> lock, decided by lock <span class="quiet">(1)</span></h3>`,
		`<h3><span class="badge caught">caught</span> lock, decided by lock`,
		`<a class="page" href="./lock/1/index.html">page</a>`,
		`<tr id="lock/held">`, "lock 12 (10 of 40)", "never: lock", ">lock in 1 run</p>",
		`<p class="missed">a blue moon in 0 runs</p>`,
		"held by 2 at once, at most, by what their code knew", "<code>lock</code>", "<dt>zxid</dt>",
		`<li><span class="badge inconclusive">inconclusive</span> <a ` +
			`href="#lock%2finconclusive">lock/inconclusive</a>: lock</li>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the index does not have %s", want)
		}
	}
	if violated, caught := strings.Index(page, `violated">violated`), strings.Index(page,
		`caught">caught`); violated > caught {
		t.Error("a mutant that is caught is before a violation")
	}
	if m := regexp.MustCompile(`(?i)(src=|@import|url\(|https?://|<script)`).FindString(page); m != "" {
		t.Errorf("the index has %s", m)
	}
}

// A scenario that was run and proved has two rows, each of which can be linked to.
func TestWhatCameToARowIsBesideItsName(t *testing.T) {
	page := indexed(t, &Index{Rows: []Row{{Scenario: "my/lock", Status: "held"}, {Scenario: "my/lock", By: "prove",
		Status: "inconclusive", Says: strings.Repeat("certified ", 100)}}})
	for _, want := range []string{`<tr id="my/lock"><th scope="row">my/lock</th>`,
		`<tr id="my/lock:prove"><th scope="row">my/lock <span class="quiet">prove</span></th>`,
		strings.Repeat("certified ", 100),
		`<a href="#my%2flock%3aprove">my/lock</a> <span class="quiet">prove</span>: `} {
		if !strings.Contains(page, want) {
			t.Errorf("the index does not have %s\n%s", want, page)
		}
	}
}

func TestWhateverIsInARunIsHarmlessOnTheIndex(t *testing.T) {
	for _, name := range []string{
		`<script>alert(1)</script>`, `"><svg onload=alert(1)>`, `' onclick='alert(1)`, "a\nb\x00\x1b[31m",
		"\xff\xfe", "\u2028\u202e",
		"javascript:alert(1)", "//elsewhere", "a?b#c%d", "", " ", strings.Repeat("x", 10_000), "{{.Style}}",
	} {
		page := indexed(t, &Index{Title: name, Summary: name, Rows: rows(name)})
		if !utf8.ValidString(page) || strings.ContainsAny(page, "\x00\x1b\u2028\u202e") || strings.Contains(page,
			"<script") {
			t.Errorf("%.40q: the page has what it must not", name)
		}
		for _, x := range tag.FindAllString(foreign.ReplaceAllString(page, ""), -1) {
			if regexp.MustCompile(`(?i)<svg|\sonclick=["']|href="(?:[^#.d]|d[^a]|\.[^/])`).MatchString(x) {
				t.Errorf("%.40q: %s", name, x)
			}
		}
	}
}

func TestFailuresAreGroupedByCheckerAndDecidingStep(t *testing.T) {
	failed := func(name, status, checker string, why *history.Futures) Row {
		f := &RowFailure{Checker: checker}
		f.decided(why)
		return Row{Scenario: name, Status: status, Failure: f}
	}
	decided := func(step string) *history.Futures {
		return &history.Futures{Of: 10, Failed: []int{0, 10}, Step: 1, Name: step}
	}
	list := []Row{
		failed("a", "caught", "tree", decided("lose-reply c1")), failed("b", "violated", "belief",
			decided("expire c1")),
		failed("c", "caught", "herd", nil), failed("d", "caught", "tree", decided("lose-reply c2")),
		failed("e", "caught", "tree", decided("calm")), failed("f", "caught", "herd", &history.Futures{Of: 10,
			Failed: []int{5, 5}}),
		{Scenario: "g", Status: "held"}, failed("h", "caught", "tree", &history.Futures{Of: 10, Failed: []int{0, 0},
			Cut: true}),
	}
	var got []string
	for _, g := range groups(list) {
		names := ""
		for _, r := range g.Rows {
			names += " " + r.Scenario
		}
		got = append(got, g.Checker+" "+g.Step()+":"+names)
	}
	want := []string{"belief decided by expire: b", "tree decided by lose-reply: a d", "tree decided by a later step: h",
		"tree decided by calm: e", "herd the step that decides was not looked for: c", "herd decided by no single step: f"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestAnIndexIsTheSameForTheSameRowsAndAnErrorIfItCannotBeWritten(t *testing.T) {
	x := &Index{Title: "a", Rows: rows("b")}
	if indexed(t, x) != indexed(t, &Index{Title: "a", Rows: rows("b")}) {
		t.Error("two indexes of one run differ")
	}
	room := full(1000)
	if err := WriteIndex(&room, x); err == nil {
		t.Error("an index in 1000 bytes")
	}
	if page := indexed(t, &Index{}); !strings.Contains(page, "All scenarios") {
		t.Error("an index of nothing")
	}
}
