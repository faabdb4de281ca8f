package simrun

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"zksim/scenarios/catalog"
)

func decimal(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Error(err)
	}
	return n
}

// TestCheckSearchesASmallScopeExhaustively has one seed, which does not find the flaw.
func TestCheckSearchesASmallScopeExhaustively(t *testing.T) {
	t.Chdir(t.TempDir())
	one := []string{"check", "-run", "^lock/(plain-create|fan-out)$", "-seeds", "1", "-v"}
	r := simrun(t, one...)
	broken, err := (&app{all: catalog.All}).pick("^lock/plain-create$")
	if err != nil {
		t.Fatal(err)
	}
	held := regexp.MustCompile(`(?m)^held    lock/fan-out             1 run, .*; every schedule of 2 clients with no ` +
		`fault$`)
	// Which of its checkers is the first depends on the way of the search.
	caught := regexp.MustCompile(`(?m)^caught  lock/plain-create        by (` + strings.Join(broken[0].Caught, "|") +
		`) in exhaustive search in (\d+) steps
      lock/plain-create  exhaustive search  (.+)
      minimal    (\d+) of (\d+) steps, 2 clients, 1 round, faults: lose-reply c\d
(?:      .+\n)*      replayed   2 of 2 identical, .+
(?:      .+\n)*      or         go run \./cmd/simrun prove -run '\^lock/plain-create\$' -clients 2 -rounds 1$`)
	got := caught.FindStringSubmatch(r.out)
	if !held.MatchString(r.out) || got == nil {
		t.Fatalf("want\n%s\n%s\nin\n%s", held, caught, r.out)
	}
	checker, steps, verdict, minimal, of := got[1], decimal(t, got[2]), got[3], decimal(t, got[4]), decimal(t, got[5])
	if !strings.HasPrefix(verdict, checker+": ") || steps != of || minimal >= of {
		t.Error(r.out)
	}
	if r.code != exitHeld || r.err != "" {
		t.Errorf("%+v", r)
	}
	if again := simrun(t, one...); again != r {
		t.Errorf("once\n%s\nand again\n%s", r.out, again.out)
	}
	dir := filepath.Join("out", "lock.plain-create", "prove")
	for _, name := range []string{"schedule.txt", "schedule.full.txt", "index.html", "report.json", "history.jsonl"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if r := simrun(t, "replay", filepath.Join(dir, "schedule.txt")); r.code != exitViolation ||
		!strings.Contains(r.out, verdict) {
		t.Errorf("%+v", r)
	}
	for _, other := range []string{"-strategy=random", "-strategy=pct", "-shard=1/2"} {
		if r := simrun(t, append(one, other, "-seeds", "1-2", "-run", "^lock/fan-out$")...); r.code != exitHeld ||
			strings.Contains(r.out, "every schedule") {
			t.Errorf("%s: %+v", other, r)
		}
	}
}
