package simrun

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/scenarios/catalog"
	"zksim/scenarios/catalog/variants"
	"zksim/scenarios/engine"
)

// everyMutant is whether tests take all mutants, and hunt for each as often as the page of the museum says.
var everyMutant = os.Getenv("ZKSIM_WHOLE") == "1"

// manyHunts is what a page says of all hunts but the first for a mutant.
var manyHunts = regexp.MustCompile(`(\d+ \(\d+\)), \d+(, \d+ escaped)?|over \d+ hunts?`)

// TestTheMuseumPageIsWhatTheToolPrints hunts once for each mutant, and as often as the page says with ZKSIM_WHOLE=1.
func TestTheMuseumPageIsWhatTheToolPrints(t *testing.T) {
	if testing.Short() {
		t.Skip("hunts all mutants")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "museum.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out, problems strings.Builder
	a := &app{all: catalog.All, variants: variants.All, command: "go run ./cmd/simrun", out: &out, err: &problems}
	args := []string{"museum", "-reps", "1"}
	page := func(text string) string { return manyHunts.ReplaceAllString(text, "$1") }
	if everyMutant {
		args, page = args[:1], strings.Clone
	}
	if code := a.main(context.Background(), args); code != exitHeld || page(out.String()) != page(string(text)) {
		t.Errorf("docs/museum.md is out of date (exit %d, %s): go run ./cmd/simrun museum > docs/museum.md", code, &problems)
	}
}

func TestTheMuseumIsComplete(t *testing.T) {
	rows := map[int]string{}
	for i := range catalog.All {
		s := &catalog.All[i]
		if !s.Broken() {
			if n := s.Notes(); n.Number != 0 || n.Source == "" {
				t.Errorf("%s holds, and its notes are %+v", s.Name, n)
			}
			continue
		}
		n := s.Notes()
		if n.Number == 0 || n.Wakes == "" || n.Source == "" || s.Doc == "" {
			t.Errorf("%s, %q: %+v", s.Name, s.Doc, n)
		}
		if other, twice := rows[n.Number]; twice {
			t.Errorf("%s and %s are both number %d", s.Name, other, n.Number)
		}
		rows[n.Number] = s.Name
	}
	for row := 1; row <= documented; row++ {
		if rows[row] == "" {
			t.Errorf("number %d is missing", row)
		}
	}
}

func TestThePageOfTheMuseumOnARealEnsembleHasEveryMutantOnce(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "museum-zookeeper.md"))
	if err != nil {
		t.Fatal(err)
	}
	caught, not, _ := strings.Cut(string(text), "\n## Not caught")
	rows := map[string]int{}
	rate := regexp.MustCompile(`^(\d+) of [1-9]\d*$`)
	for i, row := range slices.Concat(tableRows(caught), tableRows(not)) {
		rows[row[0]]++
		if k := rate.FindStringSubmatch(row[2]); k == nil || (k[1] == "0") != (i >= len(tableRows(caught))) {
			t.Errorf("%s: %q belongs in the other table, or is not k of n", row[0], row[2])
		}
	}
	expected := map[string]string{}
	for _, row := range tableRows(caught) {
		expected[row[0]] = row[4]
	}
	all := (&app{all: catalog.All}).mutants()
	for _, s := range all {
		if want := strings.Join(s.Caught, " or "); expected[s.Name] != "" && expected[s.Name] != want {
			t.Errorf("%s: in the simulator by %s, expected %s", s.Name, expected[s.Name], want)
		}
		if rows[s.Name] != 1 {
			t.Errorf("%s has %d rows: scripts/museum-zookeeper 5 %s", s.Name, rows[s.Name], s.Name)
		}
		delete(rows, s.Name)
	}
	if len(rows) > 0 {
		t.Errorf("no mutants: %v", rows)
	}
	want := fmt.Sprintf("of %d mutants %d were caught", len(all), len(tableRows(caught)))
	if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
		t.Errorf("expected %q", want)
	}
}

func TestAMutantIsToldByWhatIsKnownOfIt(t *testing.T) {
	ours := engine.Scenario{Name: "a", Doc: "forgets"}.With(engine.Notes{Number: 7, Wakes: "expire", Source: "a book"})
	for want, s := range map[string]engine.Scenario{
		"7, `a`: forgets. Wakes with: expire. Seen: a book.": ours,
		"`b`: forgets.":      {Name: "b", Doc: "forgets"},
		"`c`.":               {Name: "c"},
		"`d`. Seen: a book.": engine.Scenario{Name: "d"}.With(engine.Notes{Source: "a book"}),
	} {
		if got := wrong(&s); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		number, rule := numberColumn([]*engine.Scenario{{Name: "other"}, &ours})
		if got := number(&s); rule != "---|" || number(nil) != " # |" || (got == " 7 |") != (s.Name == "a") ||
			(got == " |") != (s.Name != "a") {
			t.Errorf("%s: %q, %q", s.Name, got, rule)
		}
	}
}

// documented is how many bugs were found in shipped recipes and texts.
const documented = 36

func TestAMutantThatEndsItsGoroutineEndsTheMuseum(t *testing.T) {
	for _, command := range []string{"museum", "strategies"} {
		var out, err strings.Builder
		a := &app{out: &out, err: &err, all: []engine.Scenario{{Name: "x/goner", Clients: 2, Caught: []string{"steps"},
			Program: func(*engine.Process) { runtime.Goexit() }, Checkers: []checkers.Checker{checkers.Steps{}}}}}
		if code := a.main(context.Background(), []string{command, "-reps", "1"}); code != exitUsage ||
			!strings.Contains(err.String(), "x/goner: "+engine.ErrEnded.Error()[:40]) {
			t.Errorf("%s: status %d, %s", command, code, &err)
		}
	}
}
