package faults

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestTheDocumentationListsEveryFault compares docs/faults.md with the table.
func TestTheDocumentationListsEveryFault(t *testing.T) {
	text, err := os.ReadFile("../docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Table {
		if row := fmt.Sprintf("| `%s` | %s |\n", f.Name, f.Doc); !strings.Contains(string(text), row) {
			t.Errorf("docs/faults.md lacks the row %s", row)
		}
	}
}
