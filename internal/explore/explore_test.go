package explore_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"zksim/checkers"
	"zksim/internal/explore"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// failing is a short schedule that violates something.
const failing = `zksim schedule 1
scenario lock/plain-create
servers 3
order 0xba450a33ef6ff86c
faults lose-reply=1
clients 2
rounds 1
seed 2

run c1
connect c1 s2
lose-reply c1
`

func session(t *testing.T) *explore.Session {
	t.Helper()
	p, err := engine.ParseSchedule(strings.NewReader(failing))
	if err != nil {
		t.Fatal(err)
	}
	x, err := explore.New(catalog.Named(p.Scenario), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	return x
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Every transition that is shown can be taken, whatever was taken before, and the schedule that is written replays to
// the same verdict.
func TestWhatIsPossibleCanBeTakenAndIsReplayed(t *testing.T) {
	s := catalog.Named("lock/plain-create")
	r := engine.NewRunner()
	defer r.Close()
	run := r.Seed(s, 2)
	r.Names(&run)
	p := run.Schedule
	names := p.Names
	p.Names = nil
	x, err := explore.New(s, p)
	must(t, err)
	defer x.Close()
	for i, name := range names {
		if choices := x.Choices(); !slices.Contains(choices, name) {
			t.Fatalf("step %d: %s is not among %v", i+1, name, choices)
		} else if distinct := slices.Compact(slices.Sorted(slices.Values(choices))); len(distinct) < len(choices) {
			t.Errorf("step %d: something is listed twice: %v", i+1, choices)
		}
		must(t, x.Take(name))
	}
	if !x.Over() || x.Verdict() != run.Verdict || x.Verdict().Level != checkers.Violated {
		t.Fatalf("over %v, %v, want %v", x.Over(), x.Verdict(), run.Verdict)
	}
	written, err := x.Schedule()
	must(t, err)
	again, err := r.Replay(s, written)
	must(t, err)
	if again.Verdict != run.Verdict || written.Checker != run.Verdict.Checker || len(written.Notes) != len(names) {
		t.Errorf("replayed: %v, written %+v", again.Verdict, written)
	}
}

func TestBackAndForwardKeepWhatWasTaken(t *testing.T) {
	x := session(t)
	must(t, x.Goto(1))
	choices := x.Choices()
	must(t, x.Take("connect c1 s2"))
	if x.Steps() != 3 {
		t.Error("what lies ahead is forgotten, although it begins with what was taken")
	}
	must(t, x.Goto(1))
	if !slices.Equal(x.Choices(), choices) {
		t.Error("what is possible has changed on the way")
	}
	must(t, x.Take("connect c1 s1"))
	if x.Steps() != 2 {
		t.Errorf("%d steps, want 2: another way was taken", x.Steps())
	}
	for _, step := range []int{-1, 3} {
		if err := x.Goto(step); err == nil || !strings.HasSuffix(err.Error(), "expected one from 0 to 2") {
			t.Errorf("%d: %v", step, err)
		}
	}
	must(t, x.Fair())
	if !x.Over() {
		t.Error("a fair run comes to no end")
	}
	if err := x.Take("run c1"); err == nil || !strings.Contains(err.Error(), "the run is over") {
		t.Error(err)
	}
	must(t, x.Goto(1))
	must(t, x.Random(7))
	one := x.Steps()
	must(t, x.Goto(1))
	must(t, x.Random(7))
	if x.Steps() != one || !x.Over() {
		t.Error("a seed goes on in two ways")
	}
}

// unsaved is a Saver for sessions that save nothing.
func unsaved(*explore.Session, string) error { return errors.New("not to be saved") }

func TestLinesAreObeyed(t *testing.T) {
	var out strings.Builder
	saved := ""
	save := func(x *explore.Session, file string) error {
		p, err := x.Schedule()
		saved = file + " " + strings.Join(p.Names, ", ")
		return err
	}
	script := "b # back\n\ng 0\n1\nconnect c1 s2\nlose-reply c1\nw mine.txt\nr\nl\nh\nq\nnever reached"
	must(t, session(t).Lines(strings.NewReader(script), &out, 100, save))
	if saved != "mine.txt run c1, connect c1 s2, lose-reply c1" {
		t.Error(saved)
	}
	text := out.String()
	for _, want := range []string{"step 3 of 3", "step 2 of 3", "step 0 of 3", "written: 3 steps, mine.txt\n",
		"VIOLATED  quiescence: c1 waits", "The run is over.", "step | s1",
		"  w FILE    write the schedule", "8 lose-reply c1"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(line) > 101 && !strings.HasPrefix(line, "VIOLATED") {
			t.Errorf("wider than 100 columns: %s", line)
		}
	}
}

func TestASharpSignWithinANameBeginsNoComment(t *testing.T) {
	var files []string
	save := func(_ *explore.Session, file string) error {
		files = append(files, file)
		return nil
	}
	must(t, session(t).Lines(strings.NewReader("# all\nw a#1.txt # the first\n\t# more\nw b.txt #"), io.Discard, 80, save))
	if want := []string{"a#1.txt", "b.txt"}; !slices.Equal(files, want) {
		t.Errorf("written: %q, want %q", files, want)
	}
}

func TestALineThatCannotBeObeyedIsNamed(t *testing.T) {
	for _, x := range []struct{ script, want string }{
		{"b\nZ", "line 2: no transition has the key Z here"},
		{"run c9", `line 1: "run c9" is not possible here, expected one of `},
		{"rum", `line 1: "rum" is no key, command or transition, expected one of those shown, or h for help`},
		{"g x", `line 1: the step is a number, not "x"`},
		{"g 9", "line 1: there is no step 9, expected one from 0 to 3"},
		{"b -1", `line 1: how many steps is a number, not "-1"`},
		{"r x", `line 1: the seed is a number of 64 bits, not "x"`},
		{"w", "line 1: w needs a file, as w schedule.txt"},
		{"w f", "line 1: not to be saved"},
		{"l 3", `line 1: l takes nothing, not "3"`},
		{"f", "line 1: there is no step to go forward to; r runs on"},
		{"b 3\nb", "line 2: there is no step before this one"},
		{"b\n#" + strings.Repeat("x", 1<<16), "line 2: expected at most 65536 bytes"},
	} {
		err := session(t).Lines(strings.NewReader(x.script), io.Discard, 80, unsaved)
		if err == nil || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("%q: %v, want %s", x.script, err, x.want)
		}
	}
	broken := io.MultiReader(strings.NewReader("b\n"), iotest.ErrReader(os.ErrClosed))
	if err := session(t).Lines(broken, io.Discard, 80, unsaved); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

func TestKeysOnATerminal(t *testing.T) {
	x := session(t)
	var out bytes.Buffer
	saved := ""
	k := explore.NewConsole(x, &out, func() (int, int) { return 70, 24 }, func(_ *explore.Session, f string) error {
		saved = f
		return nil
	})
	must(t, k.Begin())
	for _, press := range []struct {
		typed, want string
		step        int
	}{
		{"b", "step 2 of 3", 2},
		{"\x1b[D", "step 1 of 3", 1},
		{"\x1b[C", "step 2 of 3", 2},
		{"8", "step 3 of 3", 3},
		{"Z", "no transition has the key Z here", 3},
		{"é", "all keys are ASCII, expected one of those shown", 3},
		{"g9\b0\r", "step 0 of 3", 0},
		{"gx\r", `the step is a number, not "x"`, 0},
		{":run c1\r", "step 1 of 3", 1},
		{"g", "g ", 1},
		{"\x1b", "1-9 A-Z take", 1},
		{"h", "q         quit", 1},
		{"f", "step 2 of 3", 2},
		{"ww.txt\r", "written: 2 steps, w.txt", 2},
		{"r7\r", "VIOLATED", 0},
	} {
		out.Reset()
		must(t, k.Type([]byte(press.typed)))
		if !strings.Contains(out.String(), press.want) || press.step != x.Step() && !x.Over() {
			t.Errorf("%q: step %d, want %d and %q in\n%s", press.typed, x.Step(), press.step, press.want, &out)
		}
		if lines := strings.Count(out.String(), "\n"); lines >= 24 {
			t.Errorf("%q: %d lines on a terminal of 24", press.typed, lines+1)
		}
	}
	if saved != "w.txt" {
		t.Error(saved)
	}
	for _, end := range []string{"q", "\x03", "\x04"} {
		if err := k.Type([]byte(end)); !errors.Is(err, explore.ErrQuit) {
			t.Errorf("%q: %v", end, err)
		}
	}
}

func TestAScheduleThatDoesNotFitIsAnError(t *testing.T) {
	p, err := engine.ParseSchedule(strings.NewReader(failing + "run c9\n"))
	must(t, err)
	_, err = explore.New(catalog.Named(p.Scenario), p)
	if err == nil || !strings.Contains(err.Error(), `"run c9" is not possible here`) {
		t.Error(err)
	}
}
