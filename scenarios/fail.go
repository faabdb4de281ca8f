package scenarios

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/internal/files"
	"zksim/internal/pipeline"
	"zksim/internal/turns"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// fail fails a test with an explained violation: it shrinks the schedule, tells its steps, and writes the page. It
// writes the schedule into the corpus, unless it is already there, in file, and cannot be made shorter. where says
// which run failed.
func (r *record) fail(t T, found *engine.Result, where, file string) {
	t.Helper()
	s := r.s
	ctx, cancel := within(t, explaining(t, s))
	defer cancel()
	again, repeats := r.repeats(t, found, where)
	if !repeats {
		return
	}
	found.Schedule.Again = again
	f, err := explain(ctx, s, found, where)
	if err != nil {
		r.parts(t, found, where, err)
		return
	}
	var b strings.Builder
	f.PrintVerdict(&b, "    ")
	text := strings.TrimLeft(b.String(), " ")
	b.Reset()
	b.WriteString(text)
	if err := reports.WriteGist(&b, f.Failure); err != nil {
		t.Fatalf("%v", err)
		return
	}
	dir, page, err := r.folder()
	if err != nil {
		t.Fatalf("%s    not written: %v", b.String(), err)
		return
	}
	var lost []error
	own := filepath.Join(dir, pipeline.ScheduleFile)
	file, archived, err := r.archived(f, found, file)
	if err != nil {
		lost = append(lost, err)
		file = own
	}
	line := command(t.Name(), reachable(file))
	if err = f.Write(dir, line); err != nil {
		page = ""
	}
	f.Report.Reproduce = []string{line}
	r.row.Failure = reports.NewRowFailure(f.Failure, where, page)
	if err == nil {
		fmt.Fprintf(&b, "    page       %s\n", absolute(filepath.Join(dir, "index.html")))
	} else if x := (*pipeline.Unrepeatable)(nil); !errors.As(err, &x) {
		lost = append(lost, err)
		if file != own { // what stands in the folder may be older
			err = f.Verify(file)
		}
	}
	switch x := (*pipeline.Unrepeatable)(nil); {
	case errors.As(err, &x):
		if archived {
			os.Remove(file)
		}
		r.parts(t, found, where, err)
		return
	case f.Small.Schedule.Loose():
		fmt.Fprintf(&b, "    %s\n", suspects(f.Small.Schedule.Again))
	case err == nil:
		fmt.Fprintf(&b, "    replayed   2 of 2 identical, hash %s\n", f.Report.Hash)
	}
	for _, err := range lost {
		fmt.Fprintf(&b, "    not written: %v\n", err)
	}
	if err == nil { // otherwise no file has it
		fmt.Fprintf(&b, "    reproduce  %s", line)
	}
	t.Fatalf("%s", strings.TrimRight(b.String(), "\n"))
}

// explain shrinks and explains a failure. Runs of code outside of the simulator may part in one of the hundreds of runs
// that this takes, although the replays before it did not. The failure is then explained once more, as one whose runs
// part.
func explain(ctx context.Context, s *Scenario, found *engine.Result, where string) (*pipeline.Failure, error) {
	f, err := pipeline.Explain(ctx, s, found, where, engine.ShrinkOptions{})
	if err == nil || s.Outside == nil || found.Schedule.Loose() || ctx.Err() != nil {
		return f, err
	}
	found.Schedule.Again = engine.Repeats{Of: engine.Repetitions, Failed: engine.Repetitions}
	return pipeline.Explain(ctx, s, found, where, engine.ShrinkOptions{})
}

// absolute returns the absolute name of a file, or the name itself if that cannot be told.
func absolute(name string) string {
	if whole, err := filepath.Abs(name); err == nil {
		return whole
	}
	return name
}

// reachable returns a name of a file for "go test", which looks for it in the package's folder. A test that was built
// by "go test -c" may run in another folder, so the name is then absolute.
func reachable(file string) string {
	if f := flag.Lookup("test.paniconexit0"); f != nil && f.Value.String() == "true" { // "go test" sets it
		return file
	}
	return absolute(file)
}

// explaining returns how long the run of a scenario may be shrunk; 0: no limit. For code outside of the simulator it is
// a third of the time that the test has left, so that there is time to report what was found.
func explaining(t T, s *Scenario) time.Duration {
	if x, ok := t.(interface{ Context() context.Context }); ok && s.Outside != nil {
		if end, ok := x.Context().Deadline(); ok {
			return max(1, time.Until(end)/3)
		}
	}
	return 0
}

// archived returns the file of the corpus with the schedule of a failure, and whether it was written now: not if the
// schedule is already in file, and cannot be made shorter.
func (r *record) archived(f *pipeline.Failure, found *engine.Result, file string) (name string, now bool, err error) {
	if file != "" && len(f.Small.Schedule.Names) >= len(found.Schedule.Names) && f.Verify(file) == nil {
		return file, false, nil
	}
	name, err = r.archive(f)
	return name, err == nil, err
}

// archive writes the schedule of a failure into the corpus, and returns the file's name.
func (r *record) archive(f *pipeline.Failure) (file string, err error) {
	name := fmt.Sprintf("%s-%s.txt", f.Report.Checker, f.Report.Hash[:8])
	folder := filepath.Join(Corpus, pipeline.FileName(r.s))
	return filepath.Join(folder, name), files.Save(folder, name, f.Small.Schedule.Write)
}

// parts fails a test with a failure that does not happen again when its schedule is shortened or told. That is an error
// of the simulator, unless the code is outside of it: then the run is told as it was.
func (r *record) parts(t T, found *engine.Result, where string, err error) {
	t.Helper()
	if r.s.Outside == nil {
		r.unrepeatable(t, err)
		return
	}
	schedule := found.Schedule
	schedule.Checker, schedule.Again = found.Verdict.Checker, engine.Repeats{}
	r.untold(t, found, where, &schedule, "not made shorter: "+err.Error())
}

// unrepeatable fails a test with a failure that does not happen again.
func (r *record) unrepeatable(t T, err error) {
	t.Helper()
	r.to(engine.Nondeterministic, err.Error())
	t.Fatalf("%s: nondeterministic: %v", r.s.Name, err)
}

// told fails a test with what a replayed schedule shows, without shrinking it.
func told(t T, s *Scenario, res *engine.Result) {
	t.Helper()
	stack := indented(res.History.PanicStack())
	text := fmt.Sprintf("%s: %s in %s: %s%s", s.Name, res.Verdict.Checker, history.Counted(res.Steps, "step"),
		res.Verdict.Message, stack)
	if res.Verdict.Level != checkers.Violated {
		t.Fatalf("%s", text)
		return
	}
	f, err := pipeline.Trace(s, res.Schedule)
	if err != nil {
		t.Fatalf("%s: nondeterministic: %v", text, err)
		return
	}
	var b strings.Builder
	if err := reports.WriteGist(&b, f); err != nil {
		t.Fatalf("%v", err)
		return
	}
	t.Fatalf("%s\n%s    hash       %016x", text, b.String(), res.Hash)
}

// command returns the command that replays a schedule in a test. It names the package, so that it works in every folder
// of the module; the file is looked for in the package's folder. It has the flags that the test was built with: without
// -race no race is found again, and without its tags the test may not exist. It also has what code can see: -short, and
// the flags of the test itself.
func command(test, file string) string {
	parts := strings.Split(test, "/")
	for i := range parts {
		parts[i] = "^" + regexp.QuoteMeta(parts[i]) + "$"
	}
	words := []string{testCommand(turns.Exact)}
	if info, ok := debug.ReadBuildInfo(); ok {
		words = append(words, buildFlags(info.Settings)...)
		if info.Path != "" { // another build system may leave it out
			words = append(words, tested(info.Path))
		}
	}
	if testing.Testing() && testing.Short() {
		words = append(words, "-short")
	}
	words = append(words, ownFlags()...)
	return strings.Join(append(words, "-run", quoted(strings.Join(parts, "/")), "-zksim.schedule", pipeline.Quote(file)),
		" ")
}

// ownFlags returns the flags given to this process that belong neither to package testing nor to zksim.
func ownFlags() (list []string) {
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") && !strings.HasPrefix(f.Name, "zksim.") {
			list = append(list, pipeline.Quote("-"+f.Name+"="+f.Value.String()))
		}
	})
	return list
}

// tested returns the argument of "go test" for the package of a test binary, by the path in its build information. The
// path ends in ".test", unless the package is a command. A package of named files, as in "go test my_test.go", has no
// path: its argument is the folder.
func tested(binary string) string {
	path := strings.TrimSuffix(binary, ".test")
	if path == "command-line-arguments" {
		return pipeline.Quote(absolute("."))
	}
	return path
}

// testCommand returns the command that runs tests the way this one runs: the one in the environment if there is one, or
// a command with the overlay if the test was built with it, as by "go test $(go tool simrun overlay)".
func testCommand(exact bool) string {
	switch run, told := os.LookupEnv(engine.CommandVariable); {
	case told:
		return run
	case exact:
		return engine.ExactTest
	}
	return "go test"
}

// buildFlags returns the flags of "go test" that change which code is built. The tag of the overlay is left out: it
// comes with the overlay.
func buildFlags(settings []debug.BuildSetting) (list []string) {
	for _, x := range settings {
		switch x.Key {
		case "-race", "-msan", "-asan":
			if x.Value == "true" {
				list = append(list, x.Key)
			}
		case "-tags":
			tags := slices.DeleteFunc(strings.Split(x.Value, ","), func(tag string) bool { return tag == turns.Tag })
			if len(tags) > 0 {
				list = append(list, "-tags="+pipeline.Quote(strings.Join(tags, ",")))
			}
		}
	}
	return list
}

// quoted quotes a word for a shell, even if it need not be.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
