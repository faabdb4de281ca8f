package reports

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"zksim/checkers"
	"zksim/model/history"
)

// failure makes a failed run of that many steps in which everything is called
// name.
func failure(steps int, name string) *Failure {
	h := sample()
	path := "/" + name
	h.Events = h.Events[:0]
	t := &history.Trace{Rows: []history.Row{{Table: history.Znodes, Key: path, Cells: []string{name, name, "0", "0x1"}}}}
	for i := range steps {
		at, c := int32(i+1), int32(i%2+1)
		h.Add(history.Event{Kind: history.Call, Client: c, Step: at, Op: "create", Path: path})
		h.Add(history.Event{Kind: history.Created, Client: c, Step: at, Path: path, Zxid: int64(i + 1), Session: 1})
		h.Add(history.Event{Kind: history.Notify, Client: c, Step: at, Op: "created", Path: path, Zxid: int64(i + 1)})
		h.Add(history.Event{Kind: history.Fault, Client: c, Step: at, Op: name})
		h.Add(history.Event{Kind: history.Reply, Client: c, Step: at, Op: "create", Path: path, Err: errors.New(name)})
		h.Add(history.Event{Kind: history.Told, Client: c, Step: at, Op: name, Path: path})
		t.Steps = append(t.Steps, history.Step{Name: "serve c1/" + name, Did: name, Time: int64(i), Rows: []history.Row{
			{Table: history.Znodes, Key: fmt.Sprint(path, i), Cells: []string{name, name, name, name}},
			{Table: history.Znodes, Key: fmt.Sprint(path, i-1)},
			{Table: history.Watches, Client: c, Key: name, Cells: []string{name}}}})
	}
	h.Waiting = []history.Waiting{{Client: 1, Where: name, Paths: []string{path}}}
	f := &Failure{Report: Report{Backend: "sim", Scenario: name, Seed: 7, Servers: 2, Clients: 2, Faults: name,
		Hash: "0123456789abcdef", Reproduce: []string{name, name}},
		Doc: name, Source: name, Property: name, History: h, Trace: t,
		Verdict: checkers.Verdict{Level: checkers.Violated, Checker: name, Message: name + " waits for " + path, Event: -1}}
	f.Report.SetVerdict(f.Verdict)
	f.Report.Why = &history.Futures{Of: 30, Failed: []int{0, 7, 30}}
	f.Report.Why.Decide([]string{name, name})
	return f
}

func render(t *testing.T, f *Failure) string {
	t.Helper()
	var b bytes.Buffer
	if err := WritePage(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	dataBlock = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)
	foreign   = regexp.MustCompile(`(?s)<(script|style)[ >].*?</(script|style)>`)
	tag       = regexp.MustCompile(`<[^>]*>`)
)

// wellFormed checks that a page, apart from its script and style, is a tree in
// which every element ends where it should.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(foreign.ReplaceAllString(page, "")))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Errorf("not well-formed: %v", err)
			return
		}
	}
}

func TestWhateverIsInARunIsHarmlessOnItsPage(t *testing.T) {
	for _, name := range []string{
		`<script>alert(1)</script>`, `</script><img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`,
		`' onclick='alert(1)`, `<!--<script>`,
		"a\nb\r\t\x00\x1b[31m", "\xff\xfe\xc0\xaf", "\u2028\u2029\u202e\ufeff", `{{.Script}} ${now} \u003c`,
		"javascript:alert(1)", "]]>&amp;&lt;",
		"n-0000000001", "_c_37e85a368377a8d189a493f26030c659-<b>-0000000001", "", " ", strings.Repeat("x", 10_000),
		strings.Repeat("é\n", 5_000),
		"\x00\x01\x02", "n-9999999999999999999",
	} {
		page := render(t, failure(3, name))
		wellFormed(t, page)
		if !utf8.ValidString(page) || strings.ContainsAny(page, "\x00\x1b\r\u2028\u2029\u202e\ufeff") {
			t.Errorf("%.40q: the page has characters that nobody sees", name)
		}
		if n, m := strings.Count(page, "<script"), strings.Count(page, "</script"); n != 2 || m != 2 {
			t.Errorf("%.40q: %d scripts begin and %d end, want the data and the page's own", name, n, m)
		}
		for _, x := range tag.FindAllString(foreign.ReplaceAllString(page, ""), -1) {
			if regexp.MustCompile(`(?i)<(img|svg) [^>]*(src|onload|onerror)|onclick=|href="(?:[^#d]|d[^a])`).MatchString(x) {
				t.Errorf("%.40q: %s", name, x)
			}
		}
		m := dataBlock.FindStringSubmatch(page)
		if m == nil || strings.ContainsAny(m[1], "<>") || !json.Valid([]byte(m[1])) {
			t.Errorf("%.40q: the script's data are not the JSON that was meant", name)
		}
		if len(page) > 150_000 || len(name) > 1000 && !strings.Contains(page, "000 bytes)") {
			t.Errorf("%.40q: %d bytes, and what is long is not marked as cut", name, len(page))
		}
	}
}

func TestThePageSaysWhichRunItIsAbout(t *testing.T) {
	f := failure(3, "x")
	for where, want := range map[string]string{"": "seed 7", "testdata/a.txt": "testdata/a.txt"} {
		f.Where = where
		if page := render(t, f); !strings.Contains(page, "<title>x, "+want+": x</title>") ||
			!strings.Contains(page, "<dt>run</dt><dd>"+want+"</dd>") {
			t.Errorf("%q: no %s in\n%s", where, want, page)
		}
	}
}

func TestThePageSaysWhatTheMarksInItsTablesMean(t *testing.T) {
	page := render(t, failure(3, "x"))
	if !strings.Contains(page, `<span class="gone">ended by this step</span>`) {
		t.Error("rows that are struck through are not explained")
	}
}

func TestThePageOfALongRunShowsTheStepsAroundTheViolation(t *testing.T) {
	f := failure(5000, "/q/n-0000000001")
	for _, x := range []struct {
		event int
		want  string
	}{
		{-1, "Showing steps 4600 to 5000 of 5000, those around the violation at step 5000."},
		{6 * 2999, "Showing steps 2600 to 3008 of 5000, those around the violation at step 3000."},
		{0, "Showing steps 1 to 9 of 5000, those around the violation at step 1."},
	} {
		f.Verdict.Event = x.event
		page := render(t, f)
		wellFormed(t, page)
		if !strings.Contains(page, x.want) || len(page) > 2_000_000 {
			t.Errorf("event %d: %d bytes, and not %q", x.event, len(page), x.want)
		}
	}
	if page := render(t, failure(40, "x")); !strings.Contains(page, "Showing all 40 steps; the violation is at step 40.") {
		t.Error("a short run is not shown whole")
	}
}

func TestAPageIsTheSameForTheSameRun(t *testing.T) {
	first := render(t, failure(50, "n-0000000001"))
	for range 5 {
		if render(t, failure(50, "n-0000000001")) != first {
			t.Fatal("two pages of one run differ")
		}
	}
}

func TestAPageOfARunThatHadNoStepHasNoPicture(t *testing.T) {
	page := render(t, failure(0, "x"))
	wellFormed(t, page)
	if strings.Contains(page, "<svg") || !strings.Contains(page, "x waits for /x") {
		t.Error(page)
	}
}

func TestAPageThatCannotBeWrittenIsAnError(t *testing.T) {
	room := full(1000)
	if err := WritePage(&room, failure(3, "x")); err == nil {
		t.Error("a page in 1000 bytes")
	}
	room = full(1000)
	if err := WriteStory(&room, failure(500, "x")); err == nil {
		t.Error("a story in 1000 bytes")
	}
}

// TestThePageAsksForNothing: neither markup nor style nor script may load
// anything.
func TestThePageAsksForNothing(t *testing.T) {
	page := render(t, failure(3, "x"))
	if m := regexp.MustCompile(`(?i)(src=|@import|url\((?:[^#])|https?://|fetch\(|XMLHttpRequest|import\()`).
		FindString(page); m != "" {
		t.Errorf("%q", m)
	}
	if !strings.Contains(page, `content="default-src 'none'; `) {
		t.Error("no policy forbids it")
	}
}

func TestShortNamesAreUniqueOrNotUsed(t *testing.T) {
	for _, x := range []struct{ path, want string }{
		{"/lock/_c_37e85a368377a8d189a493f26030c659-lock-0000000012", "lock#12"},
		{"/lock/_c_37e85a36-8377-a8d1-89a4-93f26030c659-lock-0000000012", "lock#12"},
		{"/lock/37e85a368377a8d189a493f26030c659-read-0000000000", "read#0"},
		{"/q/n-2147483647", "n#2147483647"},
		{"/q/n--2147483648", "n#-2147483648"},
		{"/q/n0000000007", "n#7"},
		{"/q/0000000007", "#7"},
		{"/members/37e85a368377a8d189a493f26030c659", ""},
		{"/members/37e85a368377a8d189a493f26030c659-host", "host*"},
		{"/bucket/w1577836800-37e85a368377a8d189a493f26030c659", "w1577836800-*"}, // hexadecimal digits before the GUID
		{"/bucket/w1577836800-37e85a36-8377-a8d1-89a4-93f26030c659", "w1577836800-*"},
		{"/lock", ""}, {"/", ""}, {"", ""}, {"/a/123", ""},
	} {
		if got := nickname(x.path); got != x.want {
			t.Errorf("%s is called %q, want %q", x.path, got, x.want)
		}
	}
	h := &history.History{Events: []history.Event{{Path: "/a/n-0000000001"}, {Path: "/b/n-0000000001"},
		{Path: "/a/n-0000000002"}, {Path: "/a/n-0000000002/x"},
		{Path: "/q/a/c-0000000001"}, {Path: "/r/a/c-0000000001"}}}
	n := newNames(h, &history.Trace{})
	const want = "a/n#1 b/n#1 n#2 n#2/x /q/a/c-0000000001"
	if got := n.text("/a/n-0000000001 /b/n-0000000001 /a/n-0000000002 /a/n-0000000002/x /q/a/c-0000000001"); got != want {
		t.Error(got)
	}
}

// TestSentencesHaveNoShortNames has a sentence that ends with the path of a znode, and a list with GUIDs.
func TestSentencesHaveNoShortNames(t *testing.T) {
	const guid = "37e85a368377a8d189a493f26030c659"
	const znode = "/q/_c_" + guid + "-n-0000000001"
	h := &history.History{Events: []history.Event{{Kind: history.Created, Path: znode},
		{Kind: history.Told, Path: "c1 has lost " + znode}, {Kind: history.Told, Path: "2 of 7/2000000000"},
		{Kind: history.Told, Path: "children: " + guid + "- " + guid + "-"}}}
	n := newNames(h, &history.Trace{})
	for _, x := range []struct{ text, want string }{
		{h.Events[1].Path, "c1 has lost n#1"}, {h.Events[2].Path, h.Events[2].Path},
		{h.Events[3].Path, "children: 37e8…- 37e8…-"},
	} {
		if got := n.text(x.text); got != x.want {
			t.Errorf("%q is shown as %q, want %q", x.text, got, x.want)
		}
	}
}

func TestChildrenStandBehindTheirParents(t *testing.T) {
	want := []string{"/", "/q", "/q/743e", "/q/claims", "/q/claims/b-2", "/q/items", "/q/items/x-1", "/q/items/a-2", "/r"}
	got := slices.Clone(want)
	slices.Reverse(got)
	if slices.SortFunc(got, byPath); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
