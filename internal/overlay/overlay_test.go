package overlay

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fake makes a GOROOT with the files of the runtime that are changed.
func fake(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, e := range edits {
		text, err := os.ReadFile(filepath.Join(goroot(t, nil), "src", "runtime", e.file))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(root, "src", "runtime", e.file), string(text))
	}
	return root
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func goroot(t *testing.T, env []string) string {
	t.Helper()
	return strings.TrimSpace(command(t, env, "go", "env", "GOROOT"))
}

// command runs a command, and returns what it writes to its standard output; the go command says on the other one
// that it loads a release.
func command(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Env = append(os.Environ(), env...)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, &said)
	}
	return string(out)
}

func TestTheSameRuntimeGivesTheSameOverlay(t *testing.T) {
	root, dir := fake(t), t.TempDir()
	one, err := Generate(root, runtime.Version(), "probe", dir)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := Generate(root, runtime.Version(), "probe", dir); err != nil || two != one {
		t.Errorf("%s, then %s, %v", one, two, err)
	}
	if other, err := Generate(root, runtime.Version(), "probe/turns", dir); err != nil || other == one {
		t.Errorf("for another package it is %s, too, %v", other, err)
	}
	if name := filepath.Base(filepath.Dir(one)); name[0] != '_' {
		t.Errorf("the folder is %s, in which the go command finds a package", name)
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(one), saved(filepath.Join("runtime", addedName))))
	if err != nil || !strings.Contains(string(text), "//go:linkname turnSeed probe.seedBubble\n") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestAnUnknownRuntimeIsRefusedInOneLine(t *testing.T) {
	dir := t.TempDir()
	for _, x := range []struct{ name, version, file, from, to, want string }{
		{"release", "go1.25.4", "", "", "", "overlay: the runtime of go1.25.4 is not known, expected one of go1.26, go1.27"},
		{"devel", "devel go1.28-abcdef", "", "", "", "is not known, expected one of"},
		{"gone", "go1.26.8", "select.go", "cheaprandn(", "other(", `select.go has 0 times "\t\tj := cheaprandn(`},
		{"twice", "go1.26.8", "synctest.go", "type synctestBubble struct {\n",
			"type synctestBubble struct {\ntype synctestBubble struct {\n", `has 2 times "type synctestBubble struct`},
	} {
		t.Run(x.name, func(t *testing.T) {
			root := fake(t)
			if x.file != "" {
				name := filepath.Join(root, "src", "runtime", x.file)
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				put(t, name, strings.Replace(string(text), x.from, x.to, 1))
			}
			file, err := Generate(root, x.version, "probe", dir)
			if err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, %v, want %q", file, err, x.want)
			}
		})
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("it leaves %v, %v", list, err)
	}
	if _, err := Generate(filepath.Join(dir, "nothing"), "go1.26.8", "probe", dir); err == nil {
		t.Error("no error without a GOROOT")
	}
}

// TestTurnsComeFromTheSeed builds code in which everything shows that the runtime decides, and runs it in processes of
// its own. ZKSIM_OVERLAY has it do so with other releases, as "go1.26.0 go1.27.2", and with -race.
func TestTurnsComeFromTheSeed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the standard library")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "probe"))); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "go.mod"), "module probe\n\ngo 1.26.0\n")
	t.Chdir(dir)
	probe(t, "local", false)
	if others := os.Getenv("ZKSIM_OVERLAY"); others != "" {
		probe(t, "local", true)
		for version := range strings.FieldsSeq(others) {
			probe(t, version, false)
			probe(t, version, true)
		}
	}
}

// probe does so with one release.
func probe(t *testing.T, toolchain string, race bool) {
	t.Run(toolchain, func(t *testing.T) {
		env, dir := []string{"GOTOOLCHAIN=" + toolchain}, t.TempDir()
		root, version := goroot(t, env), strings.TrimSpace(command(t, env, "go", "env", "GOVERSION"))
		if toolchain != "local" { // it is in the module cache
			var err error
			if root, err = Link(root, dir); err != nil {
				t.Fatal(err)
			}
			env = []string{"GOTOOLCHAIN=local", "GOROOT=" + root}
		}
		file, err := Generate(root, version, "probe", dir)
		if err != nil {
			t.Fatal(err)
		}
		binary, args, runs := filepath.Join(dir, "probe.test"), []string{"test", "-c", "-overlay", file}, "200"
		if race {
			args, runs = append(args, "-race"), "50"
		}
		command(t, env, filepath.Join(root, "bin", "go"), append(args, "-o", binary)...)
		var first string
		for _, procs := range []string{"1", "2", "2", "4"} {
			said := command(t, []string{"GOMAXPROCS=" + procs, "PROBE_RUNS=" + runs}, binary)
			if first == "" {
				first = said
			}
			if said != first || !strings.Contains(said, "different "+runs+",") {
				t.Errorf("GOMAXPROCS=%s: %s, with 1 %s", procs, said, first)
			}
		}
	})
}

func TestALinkedGorootHasWhatTheOtherHas(t *testing.T) {
	root, dir := fake(t), t.TempDir()
	for range 2 { // the second time it is there
		link, err := Link(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(link, "src", "runtime", "proc.go")); err != nil {
			t.Error(err)
		}
	}
	if _, err := Link(filepath.Join(dir, "nothing"), dir); err == nil {
		t.Error("no error without a GOROOT")
	}
}
