package zktest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// inputs are the environment variables and the files that processes for runs have read. The command go test runs a test
// again when one of them has changed, but it only knows what its own process has read.
type inputs struct{ list []input }

type input struct{ op, name string }

// logFlag is the flag of package testing for the log of what a process reads. logFile is the name of that log in the
// temporary folder of a process for runs.
const (
	logFlag = "test.testlogfile"
	logFile = "inputs"
)

// of adds the inputs of a process that has ended.
func (x *inputs) of(p *process) {
	text, _ := os.ReadFile(filepath.Join(p.tmp, logFile))
	lines := strings.SplitAfter(string(text), "\n")
	dir := folder
	for _, line := range lines[:len(lines)-1] { // the last one has no newline
		op, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case op == "chdir":
			dir = name
			continue
		case op != "getenv" && !filepath.IsAbs(name):
			name = filepath.Join(dir, name)
		}
		if in := (input{op, name}); !slices.Contains(x.list, in) && !strings.HasPrefix(name, p.tmp) {
			x.list = append(x.list, in)
		}
	}
}

// tell reads the inputs once more, so that package testing logs them.
func (x *inputs) tell() {
	for _, in := range x.list {
		switch in.op {
		case "getenv":
			os.Getenv(in.name)
		case "stat":
			os.Stat(in.name)
		case "open":
			if info, err := os.Stat(in.name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
				continue // opening it may take forever
			}
			if f, err := os.Open(in.name); err == nil {
				f.Close()
			}
		}
	}
}
