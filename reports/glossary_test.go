package reports

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestGlossedTextsKeepTheirWordsAndAreEscaped(t *testing.T) {
	for text, abbreviated := range map[string]string{
		"the session of c1 has ended, its ephemeral znodes are gone": "session ephemeral znodes",
		"Znodes": "Znodes", "Pending watches": "watches",
		"session after session":            "session",
		"/session/watch-0000000001 is new": "", "session-1": "", "my/znode": "",
		"made at zxid":             "zxid",
		"The session.":             "session",
		`<b>zxid</b> & "token"`:    "zxid token",
		"obsession and watchfully": "",
		"":                         "",
	} {
		got := string(gloss(text))
		var words []string
		for _, m := range regexp.MustCompile(`<abbr title="([^"]+)">([^<]+)</abbr>`).FindAllStringSubmatch(got, -1) {
			words = append(words, m[2])
			if len(m[1]) < 20 {
				t.Errorf("%q is said to mean %q", m[2], m[1])
			}
		}
		if strings.Join(words, " ") != abbreviated {
			t.Errorf("%q: %q", text, words)
		}
		if plain := html.UnescapeString(tag.ReplaceAllString(got, "")); plain != text {
			t.Errorf("%q has become %q", text, plain)
		}
	}
}

func TestTheGlossaryIsInOrderAndOnThePage(t *testing.T) {
	if !slices.IsSortedFunc(glossary, func(a, b fact) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("it is not in order")
	}
	for _, word := range simulated {
		if meaning(word) == "" {
			t.Errorf("%s is not in it", word)
		}
	}
	page := render(t, failure(3, "x"))
	for _, x := range glossary {
		if !strings.Contains(page, "<dt>"+x.Name+"</dt><dd>"+html.EscapeString(x.Value)+"</dd>") {
			t.Errorf("the page does not have %s", x.Name)
		}
	}
	if !strings.Contains(page, "<th scope=\"col\">made at <abbr title=") {
		t.Error("the tables have no glossary")
	}
	live := failure(3, "x")
	live.Report.Backend = "zookeeper"
	if page := render(t, live); strings.Contains(page, "<dt>seed</dt>") || !strings.Contains(page, "<dt>zxid</dt>") {
		t.Error("the page of a run on a real ensemble explains what only simulated runs have")
	}
}

func TestAPageLinksToTheFilesBesideIt(t *testing.T) {
	f := failure(5000, "x")
	if page := render(t, f); strings.Contains(page, "<dt>files</dt>") {
		t.Error("there are none")
	}
	f.Files = []File{{"schedule.txt", "the minimal schedule"}, {"a<b", "more & more"}}
	page := render(t, f)
	wellFormed(t, page)
	const want = `<dt>files</dt><dd><a href="schedule.txt">schedule.txt</a>, the minimal schedule; <a ` +
		`href="a%3cb">a&lt;b</a>, more &amp; more</dd>`
	if !strings.Contains(page, want) || !strings.Contains(page, "; the files beside this page tell of all.") {
		t.Error("the page does not have the files")
	}
}

func TestIdleClientsShareALane(t *testing.T) {
	f := failure(20, "x") // c1 and c2 do something
	f.History.Clients, f.Report.Clients = 9, 9
	f.Verdict.Message = "c6 waits"
	page := render(t, f)
	wellFormed(t, page)
	for _, want := range []string{">c1</text>", ">c2</text>", ">c3–5</text>",
		"c3, c4, c5 are idle in the steps shown</text>", ">c6</text>",
		">c7–9</text>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	for _, no := range []string{`<text class="lane" x="4" y="">c3</text>`, ">c4</text>", ">c8</text>"} {
		if strings.Contains(page, no) {
			t.Errorf("the page has %s", no)
		}
	}
	f.History.Clients = 8
	f.Verdict.Message = "x"
	if page := render(t, f); !strings.Contains(page, "6 clients, c3 to c8, are idle in the steps shown") {
		t.Error("many idle clients are not counted")
	}
	f.History.Clients = 3
	if page := render(t, f); !strings.Contains(page, ">c3</text>") || !strings.Contains(page,
		"c3 is idle in the steps shown") {
		t.Error("a client that is idle alone has no lane")
	}
}
