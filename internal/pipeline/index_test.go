package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zksim/internal/pipeline"
	"zksim/reports"
)

func TestTheIndexHasAllRowsWhateverItsFolderIsCalled(t *testing.T) {
	for _, name := range []string{"out", "out[1]", "*", `a\b`} {
		dir := filepath.Join(t.TempDir(), name)
		for _, scenario := range []string{"lock/a", "lock/b"} {
			row := reports.Row{Format: reports.RowFormat, Scenario: scenario, Status: "held"}
			if err := pipeline.KeepRow(dir, row); err != nil {
				t.Fatal(err)
			}
		}
		page, err := os.ReadFile(filepath.Join(dir, "index.html"))
		if err != nil || !strings.Contains(string(page), "2 results: 2 held") {
			t.Errorf("%s: %v, expected an index of two results", name, err)
		}
	}
}
