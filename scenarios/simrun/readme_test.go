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

func TestTheReadmeCountsTheMutants(t *testing.T) {
	const file = "../../README.md"
	mutants := strings.Count(simrun(t, "list", "-short").out, "(must be caught by ")
	text, err := os.ReadFile(file)
	if counted := fmt.Sprintf(": %d mutants, each", mutants); err != nil || !strings.Contains(string(text), counted) {
		t.Errorf("%s: expected %q, %v", file, counted, err)
	}
}
