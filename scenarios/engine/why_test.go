package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model/history"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

func scheduleFile(name string) string {
	return filepath.Join("..", "catalog", "testdata", "schedules", strings.ReplaceAll(name, "/", ".")+".txt")
}

func committed(t *testing.T, s *engine.Scenario) engine.Schedule {
	t.Helper()
	text, err := os.ReadFile(scheduleFile(s.Name))
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.ParseSchedule(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Where a bug needs a fault, that fault is the step that decides.
func TestTheStepThatDecidesIsTheOneAPersonWouldName(t *testing.T) {
	for mutant, verb := range map[string]string{
		"lock/plain-create":  "lose-reply ",
		"lock/leak-on-error": "lose-request ",
		"lock/keep-held":     "lose-request ",
		"lock/cancel-leak":   "lose-reply ",
		"lock/no-own-check":  "learn-late ",
		"lock/wedged":        "disconnect ",
		"names/delete-again": "lose-reply ",
		"members/forgetful":  "disconnect ",
		"commit/blind-abort": "tick",
	} {
		s := catalog.Named(mutant)
		f, whole, err := engine.Why(context.Background(), s, committed(t, s), 30, 0)
		if err != nil || !s.Catches(whole.Verdict) {
			t.Fatalf("%s: %v, %+v", mutant, err, whole.Verdict)
		}
		if f.Step == 0 || !strings.HasPrefix(f.Name, verb) || f.Name != whole.Schedule.Names[f.Step-1] ||
			f.Chance(f.Step-1) > 0.1 || f.Chance(f.Step) < 0.1 {
			t.Errorf("%s: step %d: %s", mutant, f.Step, &f)
		}
		if f.Chance(whole.Steps) != 1 || f.Cut {
			t.Errorf("%s: at its end the run has failed in %.2f of its futures", mutant, f.Chance(whole.Steps))
		}
	}
}

// TestThePageOfStepsThatDecideIsOfTheSchedules compares the table of docs/why.md with the schedules of the mutants: the
// number of steps and the name of the one that decides, and with "simrun why" where that is quick; with ZKSIM_WHOLE=1
// everywhere.
func TestThePageOfStepsThatDecideIsOfTheSchedules(t *testing.T) {
	page, err := os.ReadFile("../../docs/why.md")
	if err != nil {
		t.Fatal(err)
	}
	r := engine.NewRunner()
	defer r.Close()
	for _, s := range catalog.All {
		if !s.Broken() {
			continue
		}
		row := string(regexp.MustCompile("(?m)^\\| `" + s.Name + "` \\|.*").Find(page))
		cells := strings.Split(row, " | ")
		if len(cells) < 3 {
			t.Errorf("docs/why.md lacks %s", s.Name)
			continue
		}
		res, err := r.Replay(&s, committed(t, &s))
		if err != nil {
			t.Fatal(err)
		}
		r.Names(&res)
		var at, of int
		if n, _ := fmt.Sscanf(cells[1], "%d of %d", &at, &of); n == 2 &&
			(of != res.Steps || at > of || res.Schedule.Names[at-1] != cells[2]) {
			t.Errorf("docs/why.md is out of date: the schedule of %s is another one: %s", s.Name, row)
		}
		if os.Getenv("ZKSIM_WHOLE") != "1" && res.Steps > 40 {
			continue
		}
		f, _, err := engine.Why(t.Context(), &s, committed(t, &s), 30, 0)
		if want := deciding(&s, &f, res.Steps); err != nil || want != row {
			t.Errorf("docs/why.md is out of date: %v\ngot  %s\nwant %s", err, row, want)
		}
	}
}

// deciding returns a row of docs/why.md.
func deciding(s *engine.Scenario, f *history.Futures, steps int) string {
	percent := func(step int) string { return history.Percent(f.Chance(step)) }
	if f.Step == 0 {
		return fmt.Sprintf("| `%s` | none | | %s | | |", s.Name, percent(0))
	}
	return fmt.Sprintf("| `%s` | %d of %d | %s | %s | %s | %s |", s.Name, f.Step, steps, f.Name, percent(0),
		percent(f.Step-1), percent(f.Step))
}

// A limit ends the search at the same step every time, and is told.
func TestTheSearchForTheStepThatDecidesIsBounded(t *testing.T) {
	s := catalog.Named("lock/wedged")
	p := committed(t, s)
	whole, _, err := engine.Why(context.Background(), s, p, 20, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		f, _, err := engine.Why(context.Background(), s, p, 20, 5000)
		if err != nil || !f.Cut || len(f.Failed) < 2 || len(f.Failed) >= len(whole.Failed) || f.Known(len(f.Failed)) ||
			!f.Known(0) ||
			!slices.Equal(f.Failed, whole.Failed[:len(f.Failed)]) {
			t.Errorf("%+v, %v; in whole %+v", f, err, whole)
		}
	}
}

func TestFuturesAreTheSameEveryTime(t *testing.T) {
	s := catalog.Named("lock/wedged")
	a, _, _ := engine.Why(context.Background(), s, committed(t, s), 20, 0)
	b, _, _ := engine.Why(context.Background(), s, committed(t, s), 20, 0)
	for i := range a.Failed {
		if a.Failed[i] != b.Failed[i] {
			t.Fatalf("after %d steps %d futures fail, and then %d", i, a.Failed[i], b.Failed[i])
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := engine.Why(ctx, s, committed(t, s), 20, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestFuturesInWhichCodeSaysSomethingElseDoNotCount has a program that breaks another sentence where no reply is lost.
func TestFuturesInWhichCodeSaysSomethingElseDoNotCount(t *testing.T) {
	s := &engine.Scenario{Name: "my/sentences", Clients: 1, Servers: []int{1},
		Faults: faults.MustParse("lose-reply=1"),
		Program: func(p *engine.Process) {
			if _, err := p.Conn.Create(p.Path("/x"), nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
				p.Always("the answer comes", false)
			}
			p.Always("there is no znode", false)
		}}
	text := "zksim schedule 1\nscenario my/sentences\norder 1\nfaults lose-reply=1\nchecker always\n\n" +
		"run c1\nconnect c1 s1\nlose-reply c1\n"
	p, err := engine.ParseSchedule(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	f, whole, err := engine.Why(context.Background(), s, p, 20, 0)
	if err != nil || !strings.HasPrefix(whole.Verdict.Message, `"the answer comes" `) {
		t.Fatalf("%v, %+v", err, whole.Verdict)
	}
	if f.Step != 3 || f.Chance(2) != 0 || f.Chance(3) != 1 {
		t.Errorf("step %d: %s", f.Step, &f)
	}
}
