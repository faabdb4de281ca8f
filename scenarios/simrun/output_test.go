package simrun

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"zksim/internal/conform"
)

// modeOf returns what kind of file something is, without following links.
func modeOf(t *testing.T, name string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Type()
}

func mkfifo(t *testing.T, name string) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

// The whole run, its verdict included, is over before anybody reads the pipe.
func TestAPipeIsWrittenToAndNeitherReplacedNorWaitedForTooEarly(t *testing.T) {
	binary := build(t)
	t.Chdir(t.TempDir())
	mkfifo(t, "pipe")
	for _, x := range []struct{ args, last, want string }{
		{"check -run ^lock/lock$ -seeds 1-500 -junit pipe", "1 scenario: 1 held\n", `<testcase name="lock/lock"`},
		{"prove -run ^lock/lock$ -most 0 -cert pipe", "holds: lock/lock ", `"outcome": "holds"`},
	} {
		c := exec.Command(binary, strings.Fields(x.args)...)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if strings.HasPrefix(line, x.last) {
				break
			}
			if err != nil {
				t.Fatalf("%s: no line %q: %v", x.args, x.last, err)
			}
		}
		text, err := os.ReadFile("pipe")
		if err != nil || !strings.Contains(string(text), x.want) {
			t.Errorf("%s: %v, %s", x.args, err, text)
		}
		if err := c.Wait(); err != nil {
			t.Errorf("%s: %v", x.args, err)
		}
		if modeOf(t, "pipe") != fs.ModeNamedPipe {
			t.Errorf("%s has replaced the pipe", x.args)
		}
	}
	if files, err := filepath.Glob("*"); err != nil || len(files) != 1 {
		t.Errorf("%q is left, %v", files, err)
	}
}

// Nobody reads it, ever: a signal ends that.
func TestAPipeThatNobodyReadsIsAnErrorOnceTheCommandIsInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	mkfifo(t, "pipe")
	var said strings.Builder
	a := &app{err: &said}
	o, err := a.openOutput("check", "junit", "pipe")
	if err != nil {
		t.Fatal(err)
	}
	write := func(w io.Writer) error { _, err := w.Write([]byte("x")); return err }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- o.write(ctx, write) }()
	cancel()
	if err := <-ended; !errors.Is(err, errNoReader) || err.Error() != "writing pipe: nobody reads the pipe" {
		t.Error(err)
	}
	const waits = "simrun check: -junit is a pipe, and waits for its reader; a signal ends that\n"
	if got := said.String(); got != "" && got != waits { // the signal may have come first
		t.Errorf("%q", got)
	}
	// One that somebody reads is written to although the command was interrupted.
	r, err := os.OpenFile("pipe", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := o.write(ctx, write); err != nil {
		t.Error(err)
	}
	if text, err := io.ReadAll(r); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestALinkStaysOneAndLeadsToWhatWasWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds)
	if err := os.Mkdir("there", 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, "there/old", "old")
	link(t, "there/old", "first")
	link(t, "there/new", "second") // leads to nothing yet
	link(t, "second", "third")
	link(t, "loop", "loop")
	for name, target := range map[string]string{"first": "there/old", "third": "there/new"} {
		if r := simrun(t, "check", "-run", "^test/holds$", "-seeds", "1", "-junit", name); r.code != exitHeld {
			t.Errorf("%s: %+v", name, r)
		}
		text, err := os.ReadFile(target)
		if err != nil || !strings.Contains(string(text), `<testcase name="test/holds"`) ||
			modeOf(t, name) != fs.ModeSymlink {
			t.Errorf("%s: %v, %s", name, err, text)
		}
		if err := os.Remove(target); err != nil {
			t.Fatal(err)
		}
		if r := simrun(t, "prove", "-run", "^lock/name-sort$", "-clients", "2", "-cert", name); r.code != exitHeld {
			t.Errorf("%s: %+v", name, r)
		}
		if text, err := os.ReadFile(target); err != nil || !strings.HasPrefix(string(text), "{\n  \"format\": ") {
			t.Errorf("%s: %v, %s", name, err, text)
		}
		if err := os.Remove(target); err != nil {
			t.Fatal(err)
		}
		r := simrun(t, "prove", "-run", "^lock/lock$", "-for", "1ns", "-checkpoint", name)
		if r.code != exitInconclusive {
			t.Errorf("%s: %+v", name, r)
		}
		if _, err := os.Stat(target); err != nil || modeOf(t, name) != fs.ModeSymlink {
			t.Errorf("the checkpoint is not behind %s: %v", name, err)
		}
	}
	r := simrun(t, "check", "-junit", "loop")
	if r.code != exitUsage || r.err != "simrun check: -junit: too many symbolic links lead from loop\n" {
		t.Errorf("%+v", r)
	}
}

// The standard output is a pipe, and then a file: what was printed before is still there.
func TestTheStandardOutputMayBeTheFile(t *testing.T) {
	binary := build(t)
	t.Chdir(t.TempDir())
	const command = "check -run ^lock/lock$ -seeds 1-500 -junit /dev/stdout"
	r := shell(t, binary, "go run ./cmd/simrun "+command)
	if s := shell(t, binary, "go run ./cmd/simrun "+command+" >out.txt"); s.code != exitHeld || s.out != "" {
		t.Errorf("%+v", s)
	}
	text, err := os.ReadFile("out.txt")
	for _, out := range []string{r.out, string(text)} {
		if r.code != exitHeld || err != nil || !strings.HasPrefix(out, "held    lock/lock ") ||
			!strings.Contains(out, "1 scenario: 1 held\n<?xml version=") ||
			!strings.HasSuffix(out, "</testsuites>\n") {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// The disk is full in the end. The link is there so that a mistake would not replace the device.
func TestAFileThatCannotBeWrittenInTheEndLosesNoVerdict(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	t.Chdir(t.TempDir())
	add(t, fails, holds)
	link(t, "/dev/full", "full")
	write(t, "s.txt", "zksim schedule 1\nscenario lock/lock\norder 0x1\nfaults none\n")
	for _, x := range []struct{ args, out string }{
		{"check -junit full -run ^test/ -seeds 1-3", "2 scenarios: 1 held, 1 violated\n"},
		{"prove -cert full -run ^lock/name-sort$ -clients 2", "violated: lock/name-sort with 2 clients"},
		{"replay -perfetto full s.txt", "ok  everything held"},
	} {
		r := simrun(t, strings.Fields(x.args)...)
		if r.code != exitUsage || !strings.Contains(r.out, x.out) ||
			!strings.Contains(r.err, ": writing full: write full: no space left on device\n") {
			t.Errorf("%+v", r)
		}
		if modeOf(t, "full") != fs.ModeSymlink || modeOf(t, "/dev/full")&fs.ModeDevice == 0 {
			t.Fatal("the device is not there any more")
		}
	}
	if r := simrun(t, "prove", "-run", "^lock/lock$", "-checkpoint", "full"); r.code != exitUsage || r.out != "" ||
		r.err != "simrun prove: -checkpoint: full is no regular file, which a search can be read from again\n" {
		t.Errorf("%+v", r)
	}
}

// All scenarios have their verdicts, also those after the one whose report cannot be written.
func TestAReportThatCannotBeWrittenLosesNoVerdict(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, fails, stuck, holds)
	write(t, "out", "in the way")
	r := simrun(t, "check", "-json", "-junit", "j.xml", "-run", "^test/", "-seeds", "1-3")
	if r.code != exitUsage || !strings.HasSuffix(r.err, ": mkdir out: not a directory; and 1 more\n") {
		t.Errorf("%d, %s", r.code, r.err)
	}
	want := "fail check/test/fails, fail check/test/panics, pass check/test/holds, fail check, fail "
	if got := actions(t, r.out); got != want {
		t.Error(got)
	}
	text, err := os.ReadFile("j.xml")
	doc := readSuite(t, text)
	want = "check: error error, test/fails: failure violation, test/panics: failure violation, test/holds: pass"
	const again = "      reproduce  go run ./cmd/simrun check -run '^test/fails$' -seeds 1\n"
	if err != nil || doc.String() != want || !strings.Contains(doc.Cases[1].Failure.Text, again) {
		t.Errorf("%v, %s", err, text)
	}
	r = simrun(t, "prove", "-run", "^lock/(name-sort|plain-create)$", "-clients", "2")
	const file = "out/lock.plain-create/prove/schedule.full.txt"
	if r.code != exitUsage || strings.Count(r.out, "violated: ") != 2 || strings.Count(r.out, "      minimal  ") != 2 ||
		!strings.Contains(r.err, "writing "+file+": mkdir out: not a directory; and 1 more\n") {
		t.Errorf("%+v", r)
	}
	var printed strings.Builder
	c := &conformFlags{out: "out"}
	steps := conform.Sequence{Steps: make([]conform.Step, 1)}
	c.difference(&app{command: "go run ./cmd/simrun", out: &printed}, conform.Failure{Seed: 17, Sequence: steps}, 1)
	if !strings.HasPrefix(printed.String(), "DIFF  seed 17  step 0: ") || len(c.lost) != 1 ||
		!strings.Contains(printed.String(), "      no transcript: writing out/conform/seed-17.jsonl: ") {
		t.Errorf("%s, %v", &printed, c.lost)
	}
}

func TestOutputsThatCannotBeWrittenAreKnownBeforehand(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds)
	write(t, "file", "")
	write(t, "first.txt", firstPiece)
	for _, args := range []string{"check -junit file/j.xml", "check -o file", "prove -cert file/c",
		"prove -checkpoint file/c", "prove -o file", "herd -o file", "conform -o file",
		"replay -o file first.txt", "why -o file first.txt"} {
		words := strings.Fields(args)
		flag := words[1]
		if words[0] == "check" || words[0] == "prove" {
			words = append(words, "-run", "^test/holds$")
		}
		r := simrun(t, words...)
		want := "simrun " + words[0] + ": " + flag + ": mkdir file: not a directory\n"
		if r.code != exitUsage || r.out != "" || r.err != want {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

// Files are written under a longer name first, so a name may fit that cannot be written.
func TestANameThatIsTooLongIsKnownBeforehand(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds)
	for _, command := range []string{"check -junit", "prove -cert"} {
		r := simrun(t, append(strings.Fields(command), strings.Repeat("n", 255), "test/holds")...)
		if r.code != exitUsage || r.out != "" || !strings.HasSuffix(r.err, ": . cannot be written to: file name too long\n") {
			t.Errorf("%s: %+v", command, r)
		}
	}
}
