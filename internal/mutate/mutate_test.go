package mutate

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/sample.txt anew; read the difference before you commit it")

// TestEveryMutantIsThatOneChange builds the sample with all its mutants, runs each, and compares with what is recorded:
// the mutant and what the program returns then. The first line is the program without a mutant.
func TestEveryMutantIsThatOneChange(t *testing.T) {
	s, err := Load("zksim/internal/mutate/testdata/sample", "hint")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay, err := s.Overlay(dir)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "sample")
	build := exec.Command("go", "build", "-overlay", overlay, "-o", program, "zksim/internal/mutate/testdata/sample/run")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program, fmt.Sprint(len(s.Mutants))).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(s.Mutants)+1 {
		t.Fatalf("%d mutants print %d lines", len(s.Mutants), len(lines))
	}
	var b strings.Builder
	fmt.Fprintln(&b, lines[0])
	kinds := map[Operator]bool{}
	names := map[string]bool{}
	for i, m := range s.Mutants {
		if kinds[m.Operator] = true; names[m.String()] || m.ID != i+1 {
			t.Errorf("mutant %d is called %s, which is no name of its own", m.ID, &m)
		}
		names[m.String()] = true
		if m.Func != "Shown" {
			fmt.Fprintf(&b, "%s\n    %s\n", &m, strings.ReplaceAll(lines[i+1], lines[0], "the same"))
		}
	}
	for _, o := range []Operator{Negate, Skip, Bound, Swap, Remove, RemoveLate, DropError, PlusOne, MinusOne, Flip, Return,
		Jump} {
		if !kinds[o] {
			t.Errorf("the sample has no mutant of the operator %s", o)
		}
	}
	golden := filepath.Join("testdata", "sample.txt")
	if *rewrite {
		if err := os.WriteFile(golden, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the mutants are other ones now, or do something else; look at the difference and use -rewrite:\n%s", &b)
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	for path, want := range map[string]string{
		"zksim/internal/mutate/none":         "none",
		"zksim/internal/...":                 "packages, expected one",
		"zksim/internal/mutate/testdata/nil": "there is nothing to change",
	} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%q): %v, expected %q", path, err, want)
		}
	}
}
