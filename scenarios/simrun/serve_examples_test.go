package simrun

import (
	"os"
	"os/exec"
	"testing"
)

// The examples for other languages run where what they need is installed; the one in Go always does.
func TestTheExamplesOfServeFindTheirBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles")
	}
	binary := build(t)
	for _, x := range []struct{ folder, needs, command string }{
		{"go", "go version", "go vet ./... && go test -count=1 ./..."},
		{"python", "python3 -c 'import kazoo, pytest'", "python3 -B -m pytest -q -p no:cacheprovider"},
		{"node", "test -d node_modules", "node --test"},
		{"java", "test -d target", "mvn -q -o -B test"},
	} {
		t.Run(x.folder, func(t *testing.T) {
			run := func(command string) ([]byte, error) {
				c := exec.Command("sh", "-c", command)
				c.Dir, c.Env = "../../examples/serve/"+x.folder, append(os.Environ(), "SIMRUN="+binary)
				return c.CombinedOutput()
			}
			if out, err := run(x.needs); err != nil {
				t.Skipf("%s: %v\n%s", x.needs, err, out)
			}
			if out, err := run(x.command); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
