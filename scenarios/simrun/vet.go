package simrun

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/go/analysis/unitchecker"

	"zksim/internal/vet"
)

// isVetTool reports whether the arguments are those with which "go vet -vettool" runs its tool: a query, or flags and
// the description of a package in a file.
func isVetTool(args []string) bool {
	if len(args) == 0 {
		return false
	}
	last := args[len(args)-1]
	if len(args) == 1 && (last == "-V=full" || last == "-flags") {
		return true
	}
	noFlag := func(s string) bool { return !strings.HasPrefix(s, "-") }
	return filepath.Base(last) == "vet.cfg" && !slices.ContainsFunc(args[:len(args)-1], noFlag)
}

// vetTool analyses a package for "go vet", and ends the process.
func vetTool() { unitchecker.Main(vet.Analyzer) }

// vetCommand finds in the user's packages what simulated code must not have. The go command loads the packages, and
// runs this program as its tool on each.
func vetCommand(ctx context.Context, a *app, args []string) (int, error) {
	f := a.flags("vet")
	raw := f.Bool("json", false, "print the output of \"go vet -json\"")
	tags := f.String("tags", "", "build `tags`, separated by commas")
	patterns, err := parseMixed(f, args)
	if err != nil {
		return 0, err
	}
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	for _, p := range patterns {
		if p == "" || p[0] == '-' {
			return 0, fmt.Errorf("%q is no package, expected a pattern as ./...", p)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	command := []string{"vet", "-json", "-vettool=" + self}
	if *tags != "" { // without the flag GOFLAGS decides
		command = append(command, "-tags="+*tags)
	}
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", append(command, patterns...)...)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it then stops its tools
	cmd.WaitDelay = 10 * time.Second
	failed := cmd.Run()
	if ctx.Err() != nil {
		a.interrupted("vet", nil)
		return exitInconclusive, nil
	}
	if _, ran := errors.AsType[*exec.ExitError](failed); failed != nil && !ran {
		return 0, fmt.Errorf("the packages are loaded by the go command: %w", failed)
	}
	findings, err := readFindings(out.Bytes())
	if err != nil {
		return 0, err
	}
	if *raw {
		a.out.Write(out.Bytes())
	} else {
		for _, x := range findings {
			fmt.Fprintf(a.out, "%s:%d:%d: %s\n", x.file, x.line, x.column, x.Message)
		}
	}
	if failed == nil {
		a.warn(complaints.Bytes())
	}
	switch {
	case failed != nil:
		a.err.Write(complaints.Bytes())
		return 0, fmt.Errorf("go vet: %w, expected packages that load and compile", failed)
	case len(findings) > 0:
		return exitViolation, nil
	case !*raw:
		a.unported(ctx, *tags, patterns)
	}
	return exitHeld, nil
}

// warn prints the warnings of the go command, such as of a pattern that matches no package.
func (a *app) warn(complaints []byte) {
	for line := range bytes.Lines(complaints) {
		if bytes.HasPrefix(line, []byte("go: warning: ")) {
			a.err.Write(line)
		}
	}
}

// unported prints that there was nothing to look at, if no package imports what makes code simulated.
func (a *app) unported(ctx context.Context, tags string, patterns []string) {
	const imports = `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}{{range .TestImports}} {{.}}{{end}}` +
		`{{range .XTestImports}} {{.}}{{end}}`
	command := []string{"list", "-f", imports}
	if tags != "" {
		command = append(command, "-tags="+tags)
	}
	out, err := exec.CommandContext(ctx, "go", append(command, patterns...)...).Output()
	known := func(path string) bool {
		return strings.HasPrefix(path, "zksim/recipes") || strings.HasPrefix(path, "zksim/scenarios")
	}
	if err == nil && !slices.ContainsFunc(strings.Fields(string(out)), known) {
		a.says("vet", "there is no simulated code: nothing imports zksim/recipes; where code takes a *zk.Conn, let it "+
			"take a recipes.Conn, and run this again")
	}
}

// vetFinding is a finding as "go vet -json" writes it.
type vetFinding struct {
	Posn    string // file:line:column
	Message string

	file         string // of Posn, as the user would name it
	line, column int
}

// readFindings reads what "go vet -json" prints, an object for each package, and sorts it. Findings in a file that
// belongs to two packages are reported once.
func readFindings(text []byte) ([]vetFinding, error) {
	folder, _ := os.Getwd() // "": the names of files stay absolute
	var all []vetFinding
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var packages map[string]map[string]json.RawMessage // by name and analyzer
		if err := d.Decode(&packages); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading what go vet prints: %w", err)
		}
		for name, analyzers := range packages {
			var found []vetFinding
			if err := json.Unmarshal(analyzers[vet.Analyzer.Name], &found); err != nil {
				return nil, fmt.Errorf("%s: %s, expected a list of findings", name, analyzers[vet.Analyzer.Name])
			}
			all = append(all, found...)
		}
	}
	for i := range all {
		all[i].place(folder)
	}
	slices.SortFunc(all, func(a, b vetFinding) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column),
			strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(all), nil
}

// place reads the position of a finding, and shortens the name of a file below the folder.
func (x *vetFinding) place(folder string) {
	x.file = x.Posn
	for _, number := range []*int{&x.column, &x.line} {
		if i := strings.LastIndexByte(x.file, ':'); i >= 0 {
			*number, _ = strconv.Atoi(x.file[i+1:])
			x.file = x.file[:i]
		}
	}
	if rel, err := filepath.Rel(folder, x.file); err == nil && filepath.IsLocal(rel) {
		x.file = rel
	}
}
