package simrun

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"zksim/model/history"
	"zksim/reports"
)

// requireChromium makes a missing browser an error.
const requireChromium = "ZKSIM_REQUIRE_CHROMIUM"

// browser is a tab of a headless Chromium that notes what pages complain of and
// ask for.
type browser struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil && path == "" {
			path = p
		}
	}
	if path == "" {
		if os.Getenv(requireChromium) != "" {
			t.Fatalf("no Chromium in PATH, and %s asks for it", requireChromium)
		}
		t.Skipf("no Chromium in PATH: the pages are not looked at; with %s=1 this is an error", requireChromium)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(time.Minute))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	b := &browser{T: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	protocol(b, network.Enable, network.EnableParams{})
	return b
}

// protocol sends a command of the protocol.
func protocol[P, R any](b *browser, c cdp.Command[P, R], params P) {
	b.Helper()
	if _, err := chromedp.Call(b.ctx, c, params); err != nil {
		b.Fatal(err)
	}
}

func (b *browser) listen(ev any) {
	problem := ""
	switch ev := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		problem = "console: " + string(ev.Type)
	case *runtime.EventExceptionThrown:
		problem = "exception: " + ev.ExceptionDetails.Text
	case *log.EventEntryAdded:
		problem = "log: " + ev.Entry.Text
	case *page.EventJavascriptDialogOpening:
		problem = "dialog: " + ev.Message
	case *network.EventRequestWillBeSent:
		if url := ev.Request.URL; !strings.HasPrefix(url, "file:///") && !strings.HasPrefix(url, "data:,") {
			problem = "request: " + url
		}
	}
	if problem != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.problems = append(b.problems, problem)
	}
}

// quiet checks that no page has complained, or asked for anything.
func (b *browser) quiet() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.problems) > 0 {
		b.Errorf("%s", strings.Join(b.problems, "\n"))
	}
	b.problems = nil
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// open shows a file, with a fragment, in a document of its own.
func (b *browser) open(file, fragment string) {
	b.Helper()
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate("file://"+file+fragment))
}

// script lets pages run their scripts, or not.
func (b *browser) script(on bool) {
	b.Helper()
	protocol(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// text evaluates an expression of the page.
func (b *browser) text(expression string) string {
	b.Helper()
	result, err := chromedp.Run(b.ctx, chromedp.Evaluate[any](expression))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return fmt.Sprint(result)
}

// is checks the value of an expression.
func (b *browser) is(expression, want string) {
	b.Helper()
	if got := b.text(expression); got != want {
		b.Errorf("%s is %q, want %q", expression, got, want)
	}
}

// press sends a key to the page.
func (b *browser) press(keys string) {
	b.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// inView is whether the mark of the violation can be seen without scrolling
// the picture.
const inView = `(() => {
	const mark = document.querySelector("rect.violation").getBoundingClientRect(), box = document.querySelector(".scroll").getBoundingClientRect();
	return mark.width > 0 && mark.left >= box.left && mark.right <= box.right + 1;
})()`

const (
	// standing is the text of all tables, but for the rows that a step has ended.
	standing = `[...document.querySelectorAll("#state tbody tr:not(.gone, .none)")].map((tr) => [...tr.cells].map((td) ` +
		`=> td.textContent).join("|")).join("\n")`

	tree = `document.querySelector("#table0 tbody").innerText`
	// trees is how many different trees some ten steps of the run have. The end of a long
	// run may be all the same.
	trees = `(() => {
		const trees = new Set(), slider = document.getElementById("slider");
		for (let s = data.first; s <= data.last; s += Math.ceil((data.last - data.first) / 10)) {
			slider.value = s;
			slider.dispatchEvent(new Event("input"));
			trees.add(` + tree + `);
		}
		return trees.size;
	})()`

	current = `document.getElementById("now").textContent.split(":")[0] + " " + document.querySelector("li.now").id`
)

// mutantPage makes the folder of a mutant and returns its page.
func mutantPage(t *testing.T, name string) string {
	t.Helper()
	_, dir := folder(t, name)
	path, err := filepath.Abs(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAPageCanBeSteppedThrough(t *testing.T) {
	b := newBrowser(t)
	for _, name := range []string{"lock/plain-create", "lock/no-own-check", "lock/watch-first", "lock/closed-spin",
		"lock/stale-try"} {
		path := mutantPage(t, name)
		b.script(false)
		b.open(path, "")
		static := b.text(standing)
		b.script(true)
		b.open(path, "")
		b.is(standing, static)
		b.is(inView, "true")
		b.is(`document.querySelector("h1").getBoundingClientRect().top >= 0 && `+
			`document.querySelector(".lanes").getBoundingClientRect().top < innerHeight`, "true")
		place, first, last := b.text("data.place"), b.text("data.first"), b.text("data.last")
		b.is(current, "step "+place+" s"+place)
		shown := b.text(`document.getElementById("state").innerText`)
		b.press("k")
		before := fmt.Sprint("step ", b.text("data.place - 1"), " s", b.text("data.place - 1"))
		b.is(current, before)
		b.is("location.hash", "#s"+b.text("data.place - 1"))
		b.press(kb.ArrowRight)
		b.is(current, "step "+place+" s"+place)
		b.press(kb.ArrowLeft)
		b.is(current, before)
		b.is(`(() => { const s = document.getElementById("slider"); s.value = data.first; s.dispatchEvent(new `+
			`Event("input")); return data.first })()`, first)
		b.is(current, "step "+first+" s"+first)
		b.press("k")
		b.is(current, "step "+first+" s"+first) // there is nothing before it
		if strings.HasPrefix(name, "lock/closed") {
			b.is(`document.body.innerText.includes("Showing steps `+first+` to `+last+` of 4000")`, "true")
		} else if b.text(tree) == strings.Split(shown, "Pending")[0] {
			t.Errorf("%s: the tree is the same at the first step", name)
		}
		b.press("j")
		b.is(current, fmt.Sprint("step ", b.text("data.first + 1"), " s", b.text("data.first + 1")))
		b.press("e")
		b.is(current, "step "+place+" s"+place)
		b.is(`document.getElementById("state").innerText`, shown)
		b.quiet()
	}
}

// lives opens pages: nothing is complained of or asked for elsewhere, the violation and
// the curve can be seen, and keys move through the run.
func lives(t *testing.T, pages []string) {
	b := newBrowser(t)
	for _, path := range pages {
		full, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		b.do(chromedp.Navigate("file://" + full))
		got := b.text(`[` + inView + `, document.querySelector("h1").innerText.includes(" violated"), document.querySelector("polygon.chance").getBoundingClientRect().width > 0,
			document.getElementById("decision").innerText.length > 20, data.first > 1 || ` + trees + ` > 1].join()`)
		if got != "true,true,true,true,true" {
			t.Errorf("%s: %s", path, got)
		}
		b.press("e")
		place := b.text(current)
		b.press("k")
		back := b.text(current)
		b.press("j")
		if want := b.text("`step ${data.place} s${data.place},step ${data.place - 1} s${data.place - 1}`"); place+","+
			back != want || b.text(current) != place {
			t.Errorf("%s: keys lead to %s, and k to %s, want %s", path, place, back, want)
		}
		b.quiet()
	}
}

// TestTheTablesFollowTheRun looks at steps of the first museum piece, of which is
// known what they do.
func TestTheTablesFollowTheRun(t *testing.T) {
	b := newBrowser(t)
	path := filepath.Join(replayed(t), "index.html")
	rows := func(table string) string {
		return b.text(`[...document.querySelectorAll("#` + table +
			` tbody tr")].map((tr) => [...tr.cells].map((td) => td.innerText.trim()).join("|") + (tr.className ? "!" + ` +
			`tr.className : "")).join(" ; ")`)
	}
	for _, x := range []struct{ fragment, table, want string }{
		{"#s2", "table0", "/||||0|0x0 ; /lock||||0|0x1"},
		{"#s3", "table0", "lock#0||c1, 0x1001|0|0x3!new"},
		{"#s4", "table0", "lock#0||c1, 0x1001|0|0x3"},
		{"#s29", "table0", "lock#1||c2, 0x2001|0|0x6!gone"},
		{"#s2", "table2", "c1|create /lock/_c_37e8…-lock-|waits for the server!new"},
		{"#s3", "table3", "c1|runs|none|0x1001!new"},
		{"#s46", "table1", "c1 znode lock#2|at s1"},
		{"#s46", "table2", "c1||waits for lock#2 ; c2||waits for lock#3!new ; c3||waits for lock#0"},
		{"#s46", "table4", "0x1001|c1|s1 ; 0x2001|c2|s1 ; 0x3001|c3|s1"},
	} {
		b.open(path, x.fragment)
		if got := rows(x.table); !strings.Contains(strings.ReplaceAll(got, "||||", "|||"),
			strings.ReplaceAll(x.want, "||||", "|||")) {
			t.Errorf("%s: %s is\n%s\nwant\n%s", x.fragment, x.table, got, x.want)
		}
	}
	b.do(chromedp.Click(chromedp.CSS(`#filter button:nth-child(2)`)))
	b.is(`[...document.querySelectorAll("#story li")].filter((li) => li.offsetHeight > 0 && li.innerText.includes("c2 `+
		`calls")).length`, "0")
	if n := b.text(`[...document.querySelectorAll("#story li")].filter((li) => li.offsetHeight > 0 && ` +
		`li.innerText.includes("c1 calls")).length`); n == "0" {
		t.Error("c1 is not shown when it is chosen")
	}
	b.do(chromedp.Click(chromedp.CSS(`#s10 p`)))
	b.is(current, "step 10 s10")
	b.quiet()
}

func TestAPageFitsItsReader(t *testing.T) {
	b := newBrowser(t)
	path := mutantPage(t, "lock/no-own-check")
	const paper = `getComputedStyle(document.body).backgroundColor`
	b.open(path, "")
	light := b.text(paper)
	dark := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
	protocol(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: dark})
	if dark := b.text(paper); dark == light {
		t.Errorf("the page is %s in the dark, too", dark)
	}
	for _, width := range []int64{400, 1280} {
		b.do(chromedp.EmulateViewport(width, 800))
		b.open(path, "")
		b.is(`document.documentElement.scrollWidth <= innerWidth`, "true")
		b.is(inView, "true")
	}
	b.do(chromedp.EmulateViewport(400, 800))
	b.script(false)
	b.open(path, "")
	b.is(inView, "true")
	b.is(`document.querySelector(".controls").offsetHeight`, "0")
	b.is(`document.getElementById("state").innerText.includes("/lock")`, "true")
	b.is(`document.querySelector("polygon.chance").getBoundingClientRect().height > 20 && `+
		`document.querySelector(".decides").textContent.startsWith("decides: learn-late c1, from 0% to ")`, "true")
	b.is(`document.getElementById("decision").innerText.startsWith("Decided at step 10: learn-late c1: ")`, "true")
	b.is(`document.getElementById("s10").innerText.includes("learn-late c1")`, "true")
	b.quiet()
}

func TestAPageDoesNotRunWhatARunContains(t *testing.T) {
	b := newBrowser(t)
	f := failureOf(t, "lock/plain-create")
	const name = `/<script>document.title = "mine"</script><img src=x onerror='document.title = "mine"'>"'` +
		"\u2028\n\xff"
	f.Report.Scenario, f.Report.Reproduce, f.Doc, f.Verdict.Message = name, []string{name}, name, name
	f.Trace.Rows = append(f.Trace.Rows, history.Row{Table: history.Znodes, Key: name + strings.Repeat("x", 10_000),
		Cells: []string{name, name, name, name}})
	f.Trace.Steps[4].Did = name
	for i := range f.History.Events {
		f.History.Events[i].Path += name
	}
	path := filepath.Join(t.TempDir(), "index.html")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := reports.WritePage(file, f); err != nil {
		t.Fatal(err)
	}
	b.open(path, "#s5")
	b.is(`document.title.includes("seed")`, "true")
	b.is(`document.querySelectorAll("img, script").length`, "2")
	b.is(`document.getElementById("s5").innerText.includes('<script>document.title = "mine"</script>')`, "true")
	if got := b.text(tree); !strings.Contains(got, `"mine"`) || !strings.Contains(got, "bytes)") {
		t.Errorf("the tree is %s", got)
	}
	b.quiet()
}
