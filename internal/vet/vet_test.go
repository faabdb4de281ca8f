package vet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"zksim/internal/vet"
)

// userModule makes a module of a user, who has this one in the state of this checkout
// beside it, and returns its folder.
func userModule(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/user")); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	mod := strings.Replace(read("go.mod"), "module zksim\n", "module example.com/user\n", 1) +
		"\nrequire zksim v0.0.0\n\nreplace zksim => " + root + "\n"
	for name, text := range map[string]string{"go.mod": mod, "go.sum": read("go.sum")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFindingsAreThoseThatTheSourceWants holds the analyzer against the "want" comments
// in testdata/user: a line without one must have no finding.
func TestFindingsAreThoseThatTheSourceWants(t *testing.T) {
	analysistest.Run(t, userModule(t), vet.Analyzer, "./...")
}

func TestTheAnalyzerIsValid(t *testing.T) {
	if err := analysis.Validate([]*analysis.Analyzer{vet.Analyzer}); err != nil {
		t.Error(err)
	}
}
