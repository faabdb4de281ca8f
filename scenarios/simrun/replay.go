package simrun

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"zksim/checkers"
	"zksim/internal/files"
	"zksim/internal/pipeline"
	"zksim/internal/recording"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/scenarios/serve"
)

func replay(ctx context.Context, a *app, args []string) (int, error) {
	f := a.flags("replay")
	var v views
	v.flags(f)
	debugged := f.Int("debug", 0, "run Delve, and stop where the code of a client continues in this step")
	stop := f.Int("stop", 0, "used by -debug: run once, and let the debugger stop before this step")
	out := f.String("o", "", "folder for the report of a violation (default: no report)")
	if err := parse(f, args, 1); err != nil {
		return 0, err
	}
	toDebug := false
	f.Visit(func(x *flag.Flag) { toDebug = toDebug || x.Name == "debug" })
	file := f.Arg(0)
	if err := v.open(a, file); err != nil {
		return 0, err
	}
	in, err := a.open(file, pipeline.ScheduleFile)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	text := bufio.NewReader(in)
	schedule, s, err := a.loadFrom(file, text)
	if errors.Is(err, serve.ErrNoRecording) {
		return exitHeld, a.viewHistory(ctx, &v, file, text, toDebug || *stop > 0 || *out != "")
	}
	if err != nil {
		return 0, err
	}
	switch {
	case (toDebug || *stop != 0) && (v.any() || *out != ""):
		return 0, errors.New("-debug runs Delve and shows nothing else, expected none of -v, -columns, -perfetto, -shiviz " +
			"and -o")
	case toDebug:
		return exitHeld, a.replayDebugged(ctx, s, schedule, file, *debugged)
	case *stop != 0:
		return exitHeld, replayStopping(s, schedule, *stop)
	}
	if err := reportFolder(*out); err != nil {
		return 0, err
	}
	return a.replayed(ctx, &v, s, schedule, file, *out)
}

// replayed runs a schedule twice, shows the run and prints its verdict. The report of a violation goes to the folder
// out, if it is given.
func (a *app) replayed(ctx context.Context, v *views, s *engine.Scenario, schedule engine.Schedule, file, out string,
) (int, error) {
	name := a.fileName(file)
	r, err := pipeline.ReplayTwice(s, schedule)
	if misused(a.out, s, err) {
		return exitUsage, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if r.Parted != "" {
		fmt.Fprintf(a.out, "FAIL  %s  nondeterministic: two runs of the schedule %s\n", s.Name, r.Parted)
		return exitNondeterministic, nil
	}
	told := &reports.Failure{History: r.History}
	if v.any() || r.Verdict.Level == checkers.Violated { // a trace takes a few times as long as a run
		if told, err = pipeline.Trace(s, schedule); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
	}
	unshown := v.write(ctx, a, told) // for example, a disk is full
	if v.alone() {
		a = a.to(a.err)
	}
	code, err := a.replayedVerdict(ctx, s, schedule, r, told, file, out)
	return code, errors.Join(unshown, err)
}

// replayedVerdict prints the verdict of a run.
func (a *app) replayedVerdict(ctx context.Context, s *engine.Scenario, schedule engine.Schedule, r pipeline.Repeated,
	told *reports.Failure, file, out string,
) (_ int, err error) {
	fmt.Fprintf(a.out, "%s  %s, replayed 2 of 2 identical, hash %016x\n", s.Name, history.Counted(len(r.Names), "step"),
		r.Hash)
	switch r.Verdict.Level {
	case checkers.Violated:
		fmt.Fprintf(a.out, "FAIL  %s: %s\n", r.Verdict.Checker, reports.Printable(r.Verdict.Message))
		pipeline.PrintCalls(a.out, r.Stack)
		pipeline.PrintWaits(a.out, "      ", told.History)
		if out == "" {
			return exitViolation, nil
		}
		if told.Report.Why, err = pipeline.Curve(ctx, s, schedule); err != nil {
			return 0, fmt.Errorf("%s: %w", a.fileName(file), err)
		}
		return exitViolation, replayReport(a, out, file, schedule, told)
	case checkers.Unknown:
		fmt.Fprintf(a.out, "inconclusive  %s: %s\n", r.Verdict.Checker, reports.Printable(r.Verdict.Message))
		return exitInconclusive, nil
	}
	if recorded, ok := strings.CutPrefix(s.Name, recording.Prefix); ok {
		why, err := recording.NotReproduced(recorded, told.History)
		if why != "" {
			fmt.Fprintf(a.out, "inconclusive  %s\n", reports.Printable(why))
		}
		if why != "" || err != nil {
			return exitInconclusive, err
		}
	}
	said := ""
	if schedule.Checker != "" {
		said = fmt.Sprintf(", and the file says that it violates %s: the code was mended, or the file changed",
			schedule.Checker)
	}
	fmt.Fprintf(a.out, "ok  everything held%s\n", said)
	return exitHeld, nil
}

// reportFolder checks that the folder of -o, if it is given, can be written.
func reportFolder(dir string) error {
	if dir == "" {
		return nil
	}
	if err := files.Writable(dir, "probe"); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	return nil
}

// replayReport writes the report of a failure that was replayed from a file. A schedule from the standard input is
// written beside it, so that it can be run again.
func replayReport(a *app, dir, file string, schedule engine.Schedule, f *reports.Failure) error {
	if file == stdStream {
		file = filepath.Join(dir, pipeline.ScheduleFile)
		if err := files.Save(dir, pipeline.ScheduleFile, schedule.Write); err != nil {
			return err
		}
		f.Files = []reports.File{{Name: pipeline.ScheduleFile, What: "the schedule"}}
	}
	f.Report.Reproduce = []string{a.command + " replay " + pipeline.QuoteFile(file)}
	if err := pipeline.WriteReport(dir, f); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "      report     %s\n", filepath.Join(dir, "index.html"))
	return nil
}

// load reads a schedule and finds its scenario, or makes both of a recording of serve.
func (a *app) load(file string) (engine.Schedule, *engine.Scenario, error) {
	in, err := a.open(file, pipeline.ScheduleFile)
	if err != nil {
		return engine.Schedule{}, nil, err
	}
	defer in.Close()
	schedule, s, err := a.loadFrom(file, bufio.NewReader(in))
	if errors.Is(err, serve.ErrNoRecording) && flows(file) {
		err = a.onlyFromFile(file)
	}
	return schedule, s, err
}

// onlyFromFile is the error for what cannot be run, or only by the name of the file in which it is: the schedule of a
// recording names it.
func (a *app) onlyFromFile(file string) error {
	return fmt.Errorf("%s: a history cannot be run again, and a recording of serve only from a regular file",
		a.fileName(file))
}

// flows reports whether a file can be read only once: it is the standard input or a pipe.
func flows(file string) bool {
	info, err := os.Stat(file)
	return file == stdStream || err == nil && !info.IsDir() && !info.Mode().IsRegular()
}

// loadFrom is load for an open file. It fails with [serve.ErrNoRecording] if that is a history of which nothing can be
// run, or one that flows: whether a recording is behind it, only its end tells.
func (a *app) loadFrom(file string, text *bufio.Reader) (engine.Schedule, *engine.Scenario, error) {
	if isHistory(text) {
		if flows(file) {
			return engine.Schedule{}, nil, serve.ErrNoRecording
		}
		s, schedule, err := a.recorded(file)
		if errors.Is(err, serve.ErrNoRecording) {
			return schedule, nil, err
		}
		if err != nil {
			return schedule, nil, fmt.Errorf("%w; expected a schedule, as schedule.txt of a failure, or what serve -record "+
				"writes", err)
		}
		if s.Notes().Source != "" {
			a.says("replay", "%s", s.Notes().Source)
		}
		return schedule, s, nil
	}
	schedule, err := engine.ParseSchedule(text)
	if err != nil {
		return schedule, nil, fmt.Errorf("%s: %w", a.fileName(file), err)
	}
	s, err := a.find(schedule.Scenario)
	if err != nil {
		return schedule, nil, fmt.Errorf("%s: %w", a.fileName(file), err)
	}
	return schedule, s, nil
}

// open opens a file for reading. "-" is the standard input, and the folder of a failure stands for the file inFolder in
// it.
func (a *app) open(file, inFolder string) (io.ReadCloser, error) {
	in, err := until(a.until, func() (io.ReadCloser, error) { return a.file(file, inFolder) })
	if err != nil {
		return nil, err
	}
	return input{a.until, in}, nil
}

func (a *app) file(file, inFolder string) (io.ReadCloser, error) {
	switch {
	case file == stdStream:
		return io.NopCloser(a.in), nil
	case !isFolder(file):
		return os.Open(file)
	}
	in, err := os.Open(fileIn(file, inFolder))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s is a folder without %s, expected that of a failure, or a file", file, inFolder)
	}
	return in, err
}

// fileIn returns the file that is read: inFolder if the argument is a folder, otherwise the argument.
func fileIn(file, inFolder string) string {
	if file == stdStream || !isFolder(file) {
		return file
	}
	return filepath.Join(file, inFolder)
}

// readHistory reads a history from a file.
func (a *app) readHistory(file string) (*history.History, error) {
	in, err := a.open(file, pipeline.HistoryFile)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	h, err := reports.ReadHistory(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.fileName(file), err)
	}
	return h, nil
}

// fileName is what a file is called in errors.
func (a *app) fileName(file string) string {
	if file == stdStream {
		return "standard input"
	}
	return file
}
