package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios"
)

// fail shrinks a failure, writes its folder, replays the schedule from there, and
// prints the block that leads to it.
func (c *checkFlags) fail(a *app, s *scenarios.Scenario, rep scenarios.Report) error {
	full := rep.Failure.Schedule
	full.Checker = rep.Failure.Verdict.Checker
	small, err := shrunk(s, full)
	if err != nil {
		return err
	}
	f, err := traced(s, small.Schedule)
	if err != nil {
		return err
	}
	small.Schedule.Notes = reports.Notes(f)
	dir := filepath.Join(c.out, strings.ReplaceAll(s.Name, "/", "."), fmt.Sprint(full.Seed))
	file := filepath.Join(dir, "schedule.txt")
	if err = save(dir, "schedule.full.txt", full.Write); err == nil {
		err = save(dir, "schedule.txt", small.Schedule.Write)
	}
	if err != nil {
		return fmt.Errorf("seed %d of %s fails (%s), but no report can be written: %w", full.Seed, s.Name, full.Checker, err)
	}
	again, err := replayTwice(s, file)
	if err != nil {
		return err
	}
	if !again.same || again.hash != small.Hash || again.verdict != small.Verdict {
		return fmt.Errorf("the schedule in %s does not repeat the failure of seed %d", file, full.Seed)
	}
	r := &f.Report
	r.Steps, r.Reproduce = len(full.Names), c.reproduce(s, file, full.Seed)
	if err := writeReport(dir, f); err != nil {
		return err
	}
	head := "FAIL  "
	if s.Broken() {
		head = "      "
	}
	fmt.Fprintf(a.out, "%s%s  seed %d  %s: %s\n", head, s.Name, r.Seed, r.Checker, r.Message)
	fmt.Fprintf(a.out, "      minimal    %d of %d steps, faults: %s\n", r.Minimal, r.Steps, orNone(r.Struck))
	fmt.Fprintf(a.out, "      replayed   2 of 2 identical, hash %s\n", r.Hash)
	fmt.Fprintf(a.out, "      report     %s\n", filepath.Join(dir, "index.html"))
	fmt.Fprintf(a.out, "      reproduce  %s\n      or         %s\n", r.Reproduce[0], r.Reproduce[1])
	return nil
}

// writeReport writes what tells of a failure beside its schedule.
func writeReport(dir string, f *reports.Failure) error {
	for _, x := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"history.jsonl", func(w io.Writer) error { return reports.WriteHistory(w, f.History) }},
		{"porcupine.html", func(w io.Writer) error { _, err := w.Write(f.Search); return err }},
		{"index.html", func(w io.Writer) error { return reports.WritePage(w, f) }},
		{"report.json", f.Report.Write},
	} {
		if x.name == "porcupine.html" && len(f.Search) == 0 {
			continue
		}
		if err := save(dir, x.name, x.write); err != nil {
			return err
		}
	}
	return nil
}

// traced replays a schedule and returns what there is to tell of the run.
func traced(s *scenarios.Scenario, schedule scenarios.Schedule) (*reports.Failure, error) {
	r := scenarios.NewRunner()
	defer r.Close()
	trace, result, err := r.Trace(s, schedule)
	if err != nil {
		return nil, err
	}
	f := &reports.Failure{Doc: s.Doc, Source: s.Source, Verdict: result.Verdict, History: result.History, Trace: trace}
	f.Report = reports.Report{Format: reports.Format, Scenario: s.Name, Seed: schedule.Seed, Servers: schedule.Servers,
		Clients: s.Clients, Faults: schedule.Faults.String(), Steps: len(schedule.Names), Minimal: len(schedule.Names),
		Struck: reports.Struck(f.History), Hash: fmt.Sprintf("%016x", result.Hash)}
	f.Report.SetVerdict(result.Verdict)
	for _, c := range s.Checkers {
		if c.Name() == result.Verdict.Checker {
			f.Property = c.Doc()
		}
	}
	f.Search, err = drawn(s, f.History)
	return f, err
}

// drawn returns the page on which porcupine shows whether the history is
// linearizable; empty if no checker of the scenario asks that, or it is too long.
func drawn(s *scenarios.Scenario, h *history.History) ([]byte, error) {
	var page bytes.Buffer
	for _, c := range s.Checkers {
		if d, ok := c.(checkers.Drawer); ok {
			if _, err := d.Draw(&page, h); err != nil {
				return nil, err
			}
			break
		}
	}
	return page.Bytes(), nil
}

// reproduce returns the two command lines that repeat a failure.
func (c *checkFlags) reproduce(s *scenarios.Scenario, file string, seed uint64) []string {
	byFile := "go run ./cmd/simrun replay " + quote(file)
	bySeed := fmt.Sprintf("go run ./cmd/simrun check -run '^%s$' -seeds %d", s.Name, seed)
	if c.plan != "" {
		bySeed += " -faults " + quote(c.plan)
	}
	if c.strategy != string(scenarios.Portfolio) {
		bySeed += " -strategy " + c.strategy
	}
	if s.Broken() {
		bySeed += " -v"
	}
	return []string{byFile, bySeed}
}

func shrunk(s *scenarios.Scenario, full scenarios.Schedule) (scenarios.Result, error) {
	r := scenarios.NewRunner()
	defer r.Close()
	return r.Shrink(s, full)
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// writable makes the folder for reports and tries to write there, so that a
// mistake is known before hours of work and not after.
func writable(dir string) error {
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(dir, "probe.*"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err != nil {
		return err
	}
	return nil
}

// save writes a file whole or not at all: under another name first.
func save(dir, name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(dir, name), err)
	}
	tmp, err := os.CreateTemp(dir, name+".*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(dir, name), err)
	}
	err = errors.Join(write(tmp), tmp.Chmod(0o666), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("writing %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// quote makes a word safe for a shell.
func quote(s string) string {
	if strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-=", r)
	}) < 0 && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
