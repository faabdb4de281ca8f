package simrun

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"zksim/faults"
	"zksim/internal/files"
	"zksim/internal/nemesis"
	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// The files that only failures on real ensembles leave.
const (
	serversFile = "servers.log"
	diaryFile   = "faults.txt"
	stacksFile  = "stacks.txt"
	txnsFile    = "txns.txt"
)

// serverLog keeps the latest log lines of servers.
type serverLog struct {
	mu    sync.Mutex
	lines []logLine
}

// logLine is a line and the time when it came.
type logLine struct {
	at   time.Time
	text string
}

// String implements [fmt.Stringer].
func (l logLine) String() string { return l.at.UTC().Format("15:04:05.000 ") + l.text }

// logLines is how many lines are kept.
const logLines = 20_000

// Write implements [io.Writer]: each call is a line.
func (l *serverLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == logLines {
		l.lines = l.lines[logLines/2:]
	}
	l.lines = append(l.lines, logLine{time.Now(), strings.TrimSuffix(string(line), "\n")})
	return len(line), nil
}

// aboutLines is how many lines are shown at most.
const aboutLines = 10

// about returns the latest lines since a time that contain one of words.
func (l *serverLog) about(since time.Time, words ...string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		has := func(word string) bool { return strings.Contains(line.text, word) }
		if !line.at.Before(since) && slices.ContainsFunc(words, has) {
			found = append(found, line.String())
		}
	}
	return found[max(0, len(found)-aboutLines):]
}

// write writes all lines.
func (l *serverLog) write(w io.Writer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// report writes the folder of a failure on a real ensemble, and returns its row of the index.
func (x *liveCheck) report(
	ctx context.Context, a *app, s *engine.Scenario, r *liveResult, where string,
) *reports.RowFailure {
	dir := filepath.Join(x.out, pipeline.FileName(s), "zookeeper")
	f, err := x.failure(a.command, s, r)
	if err == nil && x.seeded() {
		err = x.leave(dir, r.run.Plan, r.run.Diary)
	}
	if err == nil {
		err = pipeline.WriteReport(dir, f)
	}
	if err != nil {
		x.noReport(a, fmt.Errorf("%s fails (%s), but no report can be written: %w", s.Name, r.run.Verdict.Checker, err))
		return nil
	}
	fmt.Fprintf(a.out, "        report     %s\n", filepath.Join(dir, "index.html"))
	if x.seeded() {
		fmt.Fprintf(a.out, "        again      %s\n", f.Report.Reproduce[0])
		if !s.Broken() || x.verbose {
			x.followed(ctx, a, s, r, dir)
		}
	}
	return reports.NewRowFailure(f, where, x.pageOf(dir))
}

// leave writes what struck and when, and the log of the servers, beside the report.
func (x *liveCheck) leave(dir string, plan faults.Plan, diary []string) error {
	err := files.Save(dir, diaryFile, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "ZooKeeper %s, plan %s\n\n%s\n", cmp.Or(x.version, "of somebody else"),
			nemesis.Part(plan), strings.Join(diary, "\n"))
		return err
	})
	if err != nil || x.ours == nil {
		return err
	}
	return files.Save(dir, serversFile, x.log.write)
}

// failure returns the failure of a run on a real ensemble.
func (x *liveCheck) failure(command string, s *engine.Scenario, r *liveResult) (f *reports.Failure, err error) {
	h, v := r.run.History, r.run.Verdict
	f = reports.Recorded(h)
	f.Doc, f.Source, f.Verdict, f.Property = s.Doc, s.Notes().Source, v, pipeline.Property(s, v)
	f.Report = reports.Report{Format: reports.Format, Scenario: s.Name, Backend: "zookeeper", Servers: len(x.addrs),
		Clients: h.Clients, Rounds: s.Rounds,
		Faults: nemesis.Part(r.run.Plan).String(), Steps: len(h.Events), Struck: reports.Struck(h), Reproduce: []string{}}
	if x.seeded() {
		f.Report.Seed = r.seed
		f.Report.Reproduce = append(f.Report.Reproduce, x.again(command, s, r.seed))
		f.Files = append(f.Files, reports.File{Name: diaryFile, What: "what struck, and when"})
		if x.ours != nil {
			f.Files = append(f.Files, reports.File{Name: serversFile, What: "what the servers have logged"})
		}
	}
	f.Report.SetVerdict(v)
	f.Search, err = pipeline.Drawing(s, h)
	return f, err
}
