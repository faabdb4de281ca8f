package simrun

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zksim/scenarios/catalog"
	"zksim/scenarios/catalog/variants"
)

func TestTheMuseumPageIsWhatTheToolPrints(t *testing.T) {
	if testing.Short() {
		t.Skip("hunts all mutants many times")
	}
	want, err := os.ReadFile(filepath.Join("..", "..", "docs", "museum.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out, problems strings.Builder
	a := &app{all: catalog.All, variants: variants.All, command: "go run ./cmd/simrun", out: &out, err: &problems}
	if code := a.main(context.Background(), []string{"museum"}); code != exitHeld || out.String() != string(want) {
		t.Errorf("docs/museum.md is out of date (exit %d, %s): go run ./cmd/simrun museum > docs/museum.md", code, &problems)
	}
}

func TestTheMuseumIsComplete(t *testing.T) {
	rows := map[int]string{}
	for i := range catalog.All {
		s := &catalog.All[i]
		if !s.Broken() {
			if s.Row != 0 || s.Wakes != "" {
				t.Errorf("%s holds and has no place in the museum", s.Name)
			}
			continue
		}
		if s.Row == 0 || s.Wakes == "" || s.Source == "" || s.Doc == "" {
			t.Errorf("%s: row %d, wakes %q, source %q", s.Name, s.Row, s.Wakes, s.Source)
		}
		if other, twice := rows[s.Row]; twice {
			t.Errorf("%s and %s are both number %d", s.Name, other, s.Row)
		}
		rows[s.Row] = s.Name
	}
	for row := 1; row <= documented; row++ {
		if rows[row] == "" {
			t.Errorf("number %d is missing", row)
		}
	}
}

// documented is how many bugs were found in shipped recipes and texts.
const documented = 36
