package simrun

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"zksim/scenarios/catalog"
	"zksim/scenarios/catalog/variants"
	"zksim/scenarios/engine"
)

// strategiesPage runs simrun strategies and returns the rows of its table, cell by cell.
func strategiesPage(t *testing.T, args ...string) [][]string {
	t.Helper()
	var out, problems strings.Builder
	a := &app{all: catalog.All, variants: variants.All, command: "go run ./cmd/simrun", out: &out, err: &problems}
	if code := a.main(context.Background(), append([]string{"strategies"}, args...)); code != exitHeld {
		t.Fatalf("exit %d: %s", code, &problems)
	}
	return tableRows(out.String())
}

// tableRows returns the rows of a page's table, header and ruler left out.
func tableRows(text string) (rows [][]string) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		rows = append(rows, cells)
	}
	return rows[2:]
}

// schedules leaves of a row what does not depend on the machine.
func schedules(row []string) []string {
	kept := slices.Clone(row[:3])
	for i := 3; i+1 < len(row); i += 2 {
		kept = append(kept, row[i])
	}
	return append(kept, row[len(row)-1])
}

func TestThePageOfTheStrategiesIsWhatTheToolPrints(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "strategies.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := tableRows(string(text))
	all := (&app{all: catalog.All}).mutants()
	if len(rows) != len(all)+1 {
		t.Fatalf("docs/strategies.md has %d rows, expected one for each of %d mutants and a mean: go run ./cmd/simrun "+
			"strategies > docs/strategies.md",
			len(rows), len(all))
	}
	for i, s := range all {
		if rows[i][0] != fmt.Sprint(s.Notes().Number) || rows[i][1] != s.Name {
			t.Errorf("row %d is that of %s, expected %s", i+1, rows[i][1], s.Name)
		}
	}
	for _, row := range strategiesPage(t, "-run", "^(lock/(plain|ignore|name)|queue/put)") {
		i := slices.IndexFunc(rows, func(x []string) bool { return x[1] == row[1] })
		if row[0] != "" && (i < 0 || !slices.Equal(schedules(rows[i]), schedules(row))) {
			t.Errorf("docs/strategies.md is out of date: %v, now %v", rows[i], row)
		}
	}
}

func TestTheStrategiesAreComparedWithTheFirst(t *testing.T) {
	rows := strategiesPage(t, "-reps", "2", "-run", "^lock/ignore-exists$")
	number := regexp.MustCompile(`^[0-9.]+(e[+-][0-9]+)?$`)
	if len(rows) != 2 || rows[0][1] != "lock/ignore-exists" || len(rows[0]) != 2+2*len(engine.Strategies) {
		t.Fatalf("got %v", rows)
	}
	for _, cell := range rows[0][2 : len(rows[0])-1] {
		if !number.MatchString(cell) {
			t.Errorf("%q is no number in %v", cell, rows[0])
		}
	}
	if got := (effort{cpu: 3 * time.Second}).times(effort{cpu: 2 * time.Second}); got != 1.5 {
		t.Errorf("3 s are %v times 2 s", got)
	}
	if got := (effort{}).times(effort{}); got != 1 {
		t.Errorf("nothing is %v times nothing", got)
	}
}

// A hunt that escapes counts for what it took.
func TestAHuntThatIsGivenUpEscapes(t *testing.T) {
	s := *(&app{all: catalog.All}).mutants()[0]
	s.Caught = []string{"nobody"}
	hunt := func(_ *engine.Runner, number uint64) (uint64, bool) { return 7, number == 0 }
	if e := measure(context.Background(), &s, 3, hunt); e.escaped != 2 || e.schedules != 7 {
		t.Errorf("got %+v", e)
	}
}

func TestTheStrategiesSayWhatIsWrongWithTheirFlags(t *testing.T) {
	for _, x := range []struct{ args, want string }{
		{"-reps 0", "-reps is a number from 1 to 1000000, not 0"},
		{"-reps -3", "-reps is a number from 1 to 1000000, not -3"},
		{"-run ^lock/lock$", `none of these is a mutant; "go run ./cmd/simrun list" shows what must be caught`},
		{"-run (", "-run"},
		{"more", `no scenario is called "more"`},
	} {
		var out, problems strings.Builder
		a := &app{all: catalog.All, variants: variants.All, command: "go run ./cmd/simrun", out: &out, err: &problems}
		code := a.main(context.Background(), append([]string{"strategies"}, strings.Fields(x.args)...))
		if code != exitUsage || !strings.Contains(problems.String(), x.want) || strings.Count(problems.String(), "\n") != 1 ||
			out.Len() > 0 {
			t.Errorf("%s: exit %d, %q", x.args, code, &problems)
		}
	}
}

func TestInterruptedStrategiesPrintNoPage(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, problems strings.Builder
	a := &app{all: catalog.All, variants: variants.All, command: "go run ./cmd/simrun", out: &out, err: &problems}
	code := a.main(ctx, []string{"strategies"})
	if code != exitInconclusive || out.Len() > 0 ||
		!strings.HasPrefix(problems.String(), "simrun strategies: interrupted; not done: lock/plain-create, lock/") {
		t.Errorf("exit %d, %q, %q", code, &problems, &out)
	}
}
