package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"zksim/reports"
	"zksim/scenarios"
)

// fail writes the folder of a failure, replays the schedule from there, and
// prints the block that leads to it.
func (c *checkFlags) fail(a *app, s *scenarios.Scenario, rep scenarios.Report) error {
	f := rep.Failure
	f.Schedule.Checker = f.Verdict.Checker
	dir := filepath.Join(c.out, strings.ReplaceAll(s.Name, "/", "."), fmt.Sprint(f.Schedule.Seed))
	file := filepath.Join(dir, "schedule.txt")
	reproduce := []string{
		"go run ./cmd/simrun replay " + quote(file),
		fmt.Sprintf("go run ./cmd/simrun check -run '^%s$' -seeds %d", s.Name, f.Schedule.Seed),
	}
	if c.plan != "" {
		reproduce[1] += " -faults " + quote(c.plan)
	}
	if s.Broken() {
		reproduce[1] += " -v"
	}
	if err := save(dir, "schedule.txt", f.Schedule.Write); err != nil {
		return err
	}
	again, err := replayTwice(s, file)
	if err != nil {
		return err
	}
	if !again.same || again.hash != f.Hash || again.verdict != f.Verdict {
		return fmt.Errorf("the schedule in %s does not repeat the failure of seed %d", file, f.Schedule.Seed)
	}
	if err := save(dir, "history.jsonl", func(w io.Writer) error { return reports.WriteHistory(w, again.history) }); err != nil {
		return err
	}
	r := reports.Report{Format: reports.Format, Scenario: s.Name, Seed: f.Schedule.Seed, Servers: f.Schedule.Servers,
		Clients: s.Clients, Faults: f.Schedule.Faults.String(), Steps: f.Steps, Struck: reports.Struck(again.history),
		Hash: fmt.Sprintf("%016x", f.Hash), Reproduce: reproduce}
	r.SetVerdict(f.Verdict)
	if err := save(dir, "report.json", r.Write); err != nil {
		return err
	}
	head := "FAIL  "
	if s.Broken() {
		head = "      "
	}
	fmt.Fprintf(a.out, "%s%s  seed %d  %s: %s\n", head, s.Name, f.Schedule.Seed, f.Verdict.Checker, f.Verdict.Message)
	fmt.Fprintf(a.out, "      steps      %d, faults: %s\n", f.Steps, orNone(r.Struck))
	fmt.Fprintf(a.out, "      replayed   2 of 2 identical, hash %016x\n", f.Hash)
	fmt.Fprintf(a.out, "      report     %s\n", filepath.Join(dir, "report.json"))
	fmt.Fprintf(a.out, "      reproduce  %s\n      or         %s\n", reproduce[0], reproduce[1])
	return nil
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// save writes a file whole or not at all: under another name first.
func save(dir, name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	tmp, err := os.CreateTemp(dir, name+".*")
	if err != nil {
		return fmt.Errorf("-o: %w", err)
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
