package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func source(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAllErrorsAreToldApart compares with the sources of go-zookeeper and of package recipes.
func TestAllErrorsAreToldApart(t *testing.T) {
	for path, file := range map[string]string{ // order-free: each by itself
		"github.com/go-zookeeper/zk": "../../model/history/errors.go", "zksim/recipes": "errors.go",
	} {
		dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		known, declared, found := source(t, file), regexp.MustCompile(`(?m)^(?:var|\t) ?(Err\w+) += errors\.New`), 0
		for _, name := range files {
			for _, x := range declared.FindAllStringSubmatch(source(t, name), -1) {
				if found++; !regexp.MustCompile(`\b` + filepath.Base(path) + `\.` + x[1] + `\b`).MatchString(known) {
					t.Errorf("%s of %s is not told apart", x[1], path)
				}
			}
		}
		if found < 20 {
			t.Errorf("%s has %d errors", path, found)
		}
	}
}
