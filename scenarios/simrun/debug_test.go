package simrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// fakeDebugger is a dlv that prints its arguments and the file with which it is to begin.
const fakeDebugger = `#!/bin/sh
echo "$@"
while [ "$1" != --init ]; do shift; done
cat "$2"
exit ${FAKE_STATUS:-0}
`

func TestADebuggerIsRunForTheStep(t *testing.T) {
	inShortRun(t)
	if err := os.WriteFile("dlv", []byte(fakeDebugger), 0o777); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	t.Setenv("XDG_CACHE_HOME", filepath.Join(here, "cache"))
	t.Setenv("PATH", here+string(os.PathListSeparator)+path)
	r := simrun(t, "replay", "-debug", "1", "schedule.txt")
	for _, want := range []string{"step 1  c1 begins with zksim/scenarios/", "\ndlv ", " -- replay -stop 1 schedule.txt\n",
		"\nbreak zksim/scenarios/simrun.goOn\ncontinue\nsource "} {
		if r.code != exitHeld || !strings.Contains(r.out, want) {
			t.Errorf("no %q in %+v", want, r)
		}
	}
	// The command that is printed can be run again.
	line := r.out[strings.Index(r.out, "\ndlv ")+1:]
	line, _, _ = strings.Cut(line, "\n")
	again, err := exec.Command("sh", "-c", line).Output()
	if want := r.out[strings.Index(r.out, line)+len(line)+1:]; err != nil || string(again) != want {
		t.Errorf("%s prints %s, %v, expected %s", line, again, err, want)
	}
	if r := simrun(t, "replay", "-debug", "8", "schedule.txt"); !strings.Contains(r.out,
		"step 8  c1 goes on in zksim/internal/mutants.(*Lock).create, ") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "replay", "-stop", "8", "schedule.txt"); r.code != exitHeld || r.out != "" {
		t.Errorf("%+v", r)
	}
	t.Setenv("FAKE_STATUS", "3")
	for _, x := range []struct{ step, file, want string }{
		{"1", "schedule.txt", "simrun replay: dlv: exit status 3\n"},
		{"4", "schedule.txt", "simrun replay: -debug: step 4, calm, runs no code of a client; the next that does is " +
			"step 8, run c1\n"},
		{"0", "schedule.txt", "simrun replay: -debug: there is no step 0, expected one from 1 to 40\n"},
		{"99", "schedule.txt", "simrun replay: -debug: there is no step 99, expected one from 1 to 40\n"},
	} {
		if r := simrun(t, "replay", "-debug", x.step, x.file); r.code != exitUsage || r.err != x.want {
			t.Errorf("%+v, want %s", r, x.want)
		}
	}
	if r := typing(t, shortRun, "replay", "-debug", "1", "-"); r.code != exitUsage ||
		!strings.HasSuffix(r.err, "expected a schedule in a file\n") {
		t.Errorf("%+v", r)
	}
	t.Setenv("PATH", filepath.Join(here, "nothing"))
	if r := simrun(t, "replay", "-debug", "1", "schedule.txt"); r.code != exitUsage ||
		!strings.Contains(r.err, "go install github.com/go-delve/delve/cmd/dlv@latest installs it") ||
		!strings.Contains(r.out, "\ndlv ") {
		t.Errorf("%+v", r)
	}
}

// A module may have a cmd/simrun of its own: that is another program.
func TestTheFolderOfAProgramIsInItsOwnModule(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("cmd", "simrun"), 0o777); err != nil {
		t.Fatal(err)
	}
	info := &debug.BuildInfo{Path: "zksim/cmd/simrun", Main: debug.Module{Path: "zksim"}}
	if got := folderOf(info); got != "" {
		t.Errorf("without go.mod: %s", got)
	}
	for mod, want := range map[string]string{"module example.com/mine\n": "", "module zksim/more\n": "",
		"// ours\nmodule zksim // as it is\n\ngo 1.26\n": "./cmd/simrun", "module \"zksim\"\n": "./cmd/simrun"} {
		write(t, "go.mod", mod)
		if got := folderOf(info); got != want {
			t.Errorf("%s: %q, expected %q", mod, got, want)
		}
	}
	info.Path = "zksim/cmd/other"
	if got := folderOf(info); got != "" {
		t.Errorf("no such folder: %s", got)
	}
}

// The debugger builds the program once more, which takes a minute: only where ZKSIM_DELVE is set.
func TestDelveStopsInTheCodeOfTheClient(t *testing.T) {
	if os.Getenv("ZKSIM_DELVE") == "" {
		t.Skip("ZKSIM_DELVE is not set")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	binary := build(t)
	inShortRun(t)
	schedule, err := filepath.Abs("schedule.txt")
	if err != nil {
		t.Fatal(err)
	}
	for step, want := range map[string]string{"1": "Breakpoint 2] zksim/scenarios/workload.",
		"8": "Breakpoint 2] zksim/internal/mutants.(*Lock).create()"} {
		cmd := exec.Command(binary, "replay", "-debug", step, schedule)
		cmd.Dir, cmd.Stdin = root, strings.NewReader("bt\nquit\n")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("step %s: %v\n%s", step, err, out)
		}
	}
}
