package simrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"zksim/scenarios/engine"
)

func readIndex(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCheckLeavesAnIndexOfAllScenarios(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds, fails, escapes, aimless, naps)
	args := []string{"check", "-v", "-o", "my out", "-seeds", "1-30", "lock/lock", "lock/plain-create", "test"}
	r := simrun(t, args...)
	if !strings.HasSuffix(r.out, "\nindex   my out/index.html\n7 scenarios: 2 held, 1 caught, 1 violated, 1 "+
		"escaped, 1 inconclusive, 1 misused\n") {
		t.Errorf("%+v", r)
	}
	page := readIndex(t, "my out")
	for _, want := range []string{
		"<title>simrun check: 7 scenarios: 2 held, 1 caught,",
		`<span class="badge violated">violated</span> liveness, decided by no single step`,
		`<span class="badge caught">caught</span> quiescence, decided by lose-reply`,
		`href="./test.fails/1/index.html"`,
		`href="./lock.plain-create/2/index.html"`, "c1 gave up: enough &amp; &lt;done&gt;", "lose-request ",
		" in 0 runs</p>",
		"misuse: c1 waits otherwise than by its Conn and Env (sleep)",
		"go run ./cmd/simrun replay &#39;my out/test.fails/1/schedule.txt&#39;",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the index does not have %s\n%s", want, page)
		}
	}
	for _, link := range []string{"test.fails/1", "lock.plain-create/2"} {
		if _, err := os.Stat(filepath.Join("my out", link, "index.html")); err != nil {
			t.Error(err)
		}
	}
	if again := simrun(t, append(args, "-p", "1")...); again != r || readIndex(t, "my out") != page {
		t.Error("the index of the same run differs")
	}
}

func TestThereIsAnIndexIfItWasAskedForOrLeadsToPages(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds, fails)
	if r := simrun(t, "check", "test/holds", "-seeds", "1-5"); r.code != exitHeld || strings.Contains(r.out, "index") {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat("out"); err == nil {
		t.Error("a run that holds has made a folder")
	}
	simrun(t, "check", "test", "-seeds", "1-5")
	if page := readIndex(t, "out"); !strings.Contains(page, "2 scenarios: 1 held, 1 violated") {
		t.Error(page)
	}
	simrun(t, "check", "test/holds", "-seeds", "1-5", "-o", "out")
	if page := readIndex(t, "out"); !strings.Contains(page, "1 scenario: 1 held") {
		t.Error(page)
	}
	r := simrun(t, "check", "test", "-seeds", "1-5", "-faults", "plague=1", "-o", "out")
	if r.code != exitUsage || !strings.Contains(readIndex(t, "out"), "1 scenario: 1 held") {
		t.Errorf("%+v", r)
	}
}

// What was not run is on the index as well, and why.
func TestTheIndexOfARunThatWasCutShortSaysSo(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, stop := interruptible(t)
	add(t, holds, stopping(stop), engine.Scenario{Name: "test/later", Clients: 1, Program: idle})
	simrunUntil(ctx, "check", "-o", "out", "-seeds", "1-9000000000", "-p", "1", "test/stops", "test/later")
	page := readIndex(t, "out")
	for _, want := range []string{", interrupted</p>", `<span class="badge not run">not run</span> <a ` +
		`href="#test%2flater">test/later</a>: interrupted`,
		`<span class="badge inconclusive">inconclusive</span> <a href="#test%2fstops">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the index does not have %s\n%s", want, page)
		}
	}
	add(t, fails, engine.Scenario{Name: "test/last", Clients: 1, Program: idle})
	simrun(t, "check", "-o", "out", "-failfast", "-seeds", "1-5", "test/fails", "test/last")
	if page := readIndex(t, "out"); !strings.Contains(page, "test/last</a>: -failfast") {
		t.Error(page)
	}
	write(t, "file", "")
	if r := simrun(t, "check", "-seeds", "1-5", "-o", "file", "test/holds"); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
}

func TestTheIndexCanBeReadWithoutAScriptAndOnPaper(t *testing.T) {
	b := newBrowser(t)
	t.Chdir(t.TempDir())
	add(t, fails)
	simrun(t, "check", "-v", "-seeds", "1-30", "lock/lock", "lock/plain-create", "test/fails")
	path, err := filepath.Abs("out/index.html")
	if err != nil {
		t.Fatal(err)
	}
	b.script(false)
	for _, width := range []int64{400, 1280} {
		b.do(chromedp.EmulateViewport(width, 800))
		b.open(path, "")
		b.is(`document.documentElement.scrollWidth <= innerWidth`, "true")
		b.is(`[...document.querySelectorAll("tbody tr")].every((tr) => tr.offsetHeight > 20)`, "true")
		b.is(`document.querySelectorAll("a.page").length`, "2")
		b.is(`document.getElementById(decodeURIComponent(document.querySelector("li a").hash.slice(1))) !== null`,
			"true")
	}
	page := mutantPage(t, "lock/plain-create")
	const glossary = `document.querySelector("#glossary dl").checkVisibility()`
	dark := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
	for _, path := range []string{path, page} {
		protocol(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: dark})
		b.open(path, "")
		b.is(`getComputedStyle(document.body).backgroundColor`, "rgb(20, 23, 27)")
		b.is(glossary, "false")
		protocol(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: dark})
		b.is(`getComputedStyle(document.body).backgroundColor`, "rgb(255, 255, 255)")
		b.is(glossary, "true")
		protocol(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
	}
	b.script(true)
	b.open(page, "")
	b.do(chromedp.EmulateViewport(1047, 700)) // paper in landscape
	protocol(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	b.is(`document.querySelector(".controls").offsetHeight + `+
		`document.getElementById("cursor").getBoundingClientRect().width`, "0")
	b.is(`document.querySelector(".lanes").getBoundingClientRect().right <= `+
		`document.body.getBoundingClientRect().right`, "true")
	b.is(`document.querySelector("#story ol").scrollHeight <= document.querySelector("#story ol").clientHeight`, "true")
	b.quiet()
}

func TestAFolderThatNobodyHasNamedKeepsItsPageUntilThereIsAnother(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, x := range []struct{ args, page string }{
		{"check lock/lock -seeds 1-2", ""},
		{"check lock/plain-create -v", "lock/plain-create"},
		{"check lock/lock -seeds 1-2", "lock/plain-create"},
		{"prove lock/lock -most 0", "lock/plain-create"},
		{"check lock/lock -seeds 1-2 -shard 1/1", "lock/lock"},
		{"check names/names -seeds 1-2 -o out", "names/names"},
	} {
		if r := simrun(t, strings.Fields(x.args)...); r.code != exitHeld {
			t.Fatalf("%s: %+v", x.args, r)
		}
		page, err := os.ReadFile("out/index.html")
		if (err == nil) != (x.page != "") || !strings.Contains(string(page), x.page) {
			t.Errorf("%s: %v, expected a page of %q:\n%.600s", x.args, err, x.page, page)
		}
	}
}
