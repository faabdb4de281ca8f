package simrun

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestTheReadmeShowsWhatTheToolPrints runs the command of the README's first
// screen: what it prints stands there, byte for byte.
func TestTheReadmeShowsWhatTheToolPrints(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const command = "$ go run ./cmd/simrun check -v -run plain-create\n"
	_, shown, ok := strings.Cut(string(readme), command)
	shown, _, closed := strings.Cut(shown, "```\n")
	if !ok || !closed {
		t.Fatalf("the README does not show %q", command)
	}
	t.Chdir(t.TempDir())
	if r := simrun(t, "check", "-v", "-run", "plain-create"); r.out != shown {
		t.Errorf("the README shows\n%s\nthe tool prints\n%s", shown, r.out)
	}
	const second = "$ go run ./cmd/simrun why "
	_, shown, ok = strings.Cut(string(readme), second)
	file, shown, _ := strings.Cut(shown, "\n")
	shown, _, closed = strings.Cut(shown, "```\n")
	if r := simrun(t, "why", file); !ok || !closed || !strings.HasPrefix(r.out, shown) {
		t.Errorf("the README shows\n%s\nthe tool prints\n%s", shown, r.out)
	}
}

func TestTheDocumentsCountWhatThereIs(t *testing.T) {
	list := simrun(t, "list", "-short").out
	for file, counted := range map[string]string{
		"../../README.md":     fmt.Sprintf(": %d mutants, each", strings.Count(list, "(must be caught by ")),
		"../../docs/scale.md": fmt.Sprintf(" of our %d scenarios:", strings.Count(list, "(must hold)")),
	} {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), counted) {
			t.Errorf("%s: expected %q, %v", file, counted, err)
		}
	}
}
