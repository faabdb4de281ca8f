package faults

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// needs is what the table says of it.
func (f *Fault) needs() string {
	text := f.Needs
	if f.Add != "" {
		text += "; " + f.Add
	}
	if f.rare {
		text += " (rare)"
	}
	return text
}

// TestTheDocumentationListsEveryFault compares docs/faults.md, and the number in the README, with the table.
func TestTheDocumentationListsEveryFault(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if link := fmt.Sprintf("[%d faults](docs/faults.md)", len(Table)); !strings.Contains(string(readme), link) {
		t.Errorf("README.md lacks %s", link)
	}
	text, err := os.ReadFile("../docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Table {
		if row := fmt.Sprintf("| `%s` | %s | %s |\n", f.Name, f.Doc, f.needs()); !strings.Contains(string(text), row) {
			t.Errorf("docs/faults.md lacks the row %s", row)
		}
	}
}
