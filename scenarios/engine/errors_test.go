package engine

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestAllErrorsOfTheRecipesAreToldApart compares with the source of package recipes.
func TestAllErrorsOfTheRecipesAreToldApart(t *testing.T) {
	known, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../recipes/*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared, found := regexp.MustCompile(`(?m)^(?:var|\t) ?(Err\w+) += errors\.New`), 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range declared.FindAllSubmatch(text, -1) {
			if found++; !regexp.MustCompile(`recipes\.` + string(x[1]) + `\b`).Match(known) {
				t.Errorf("recipes.%s is not told apart", x[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("package recipes has %d errors", found)
	}
}
