package simrun

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// lines returns what was on a terminal after each write.
func screens(text string) []string { return strings.Split(text, "\r") }

func TestProgressFitsTheTerminalAndNamesWhichScenarioOfHowMany(t *testing.T) {
	for _, columns := range []int{80, 40, 20, 1} {
		var out bytes.Buffer
		a := (&app{err: &out, terminal: true, columns: func() int { return columns }}).nth(101, 112)
		b := a.progress("check", "lock/cancel-leak", 1000)
		b.add()
		b.drawn = time.Time{}
		b.describe("faults <= 2: 123456 states", "frontier 12345", "60% new", "1234567 transitions", "deepest 77")
		b.clear()
		for _, screen := range screens(out.String()) {
			if n := utf8.RuneCountInString(screen); n >= max(2, columns) {
				t.Errorf("%d columns: %d in %q", columns, n, screen)
			}
		}
		all := screens(out.String())
		if last := all[len(all)-2]; strings.TrimSpace(last) != "" {
			t.Errorf("%d columns: %q is left", columns, last)
		}
		if columns >= 40 && !strings.Contains(out.String(), "\r102/112 lock/cancel-leak, 1 of 1000") {
			t.Errorf("%d columns: %q", columns, &out)
		}
		if columns == 80 && !strings.Contains(out.String(), "\r102/112 lock/cancel-leak, faults <= 2: 123456 "+
			"states, frontier 12345, 60% new") {
			t.Errorf("%q", &out)
		}
	}
}

// stopper is a standard error that has the command interrupted by the first line on it.
type stopper struct {
	mu   sync.Mutex
	text bytes.Buffer
	stop context.CancelFunc
}

func (s *stopper) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	return s.text.Write(text)
}

// The run has no end but that which the first line makes.
func TestWithoutATerminalALineTellsNowAndThenHowFarItHasCome(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds, engine.Scenario{Name: "test/then", Clients: 1, Program: idle})
	for _, args := range []string{"check -seeds 1-9000000000 test/holds test/then",
		"prove -p 1 queue/claims -clients 3 -for 10h"} {
		ctx, cancel := context.WithCancel(t.Context())
		errs := &stopper{stop: cancel}
		var out bytes.Buffer
		a := &app{all: catalog.All, command: "mine", name: "mine", out: &out, err: errs, beat: time.Millisecond}
		code := a.main(ctx, strings.Fields(args))
		cancel()
		want := regexp.MustCompile(`^mine check: 1/2 test/holds, \d+ of 9000000000(, \d+/s)?, after \d+s\n`)
		if strings.HasPrefix(args, "prove") {
			want = regexp.MustCompile(`^mine prove: queue/claims, .*, after \d+s\n`)
		}
		if code != exitInconclusive || !want.MatchString(errs.text.String()) {
			t.Errorf("%s: %d, %s", args, code, &errs.text)
		}
	}
}

func TestProgressThatHasEndedSaysNothing(t *testing.T) {
	var out bytes.Buffer
	b := (&app{err: &out}).progress("check", "lock/lock", 10)
	b.add()
	b.line()
	b.clear()
	b.line()
	b.add()
	b.clear()
	if want := "simrun check: lock/lock, 1 of 10, after 0s\n"; out.String() != want {
		t.Errorf("%q, want %q", &out, want)
	}
}

func TestFitLeavesOutWhatIsLeastImportant(t *testing.T) {
	parts := []string{"lock/lock", "1 of 9", "5/s"}
	for room, want := range []string{"…", "…", "l…", "lo…"} {
		if got := fit(parts, room); got != want {
			t.Errorf("%d: %q", room, got)
		}
	}
	for room, want := range map[int]string{9: "lock/lock", 16: "lock/lock", 17: "lock/lock, 1 of 9",
		22: "lock/lock, 1 of 9, 5/s"} {
		if got := fit(parts, room); got != want {
			t.Errorf("%d: %q", room, got)
		}
	}
	if got := fmt.Sprint((&bar{head: "x", count: 3}).state(0)); got != "[x 3]" {
		t.Error(got)
	}
}
