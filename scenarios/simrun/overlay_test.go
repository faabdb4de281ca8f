package simrun

import (
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// fakeGo puts a go command first in PATH that says it is of a version, has the library of these tests, and prints what
// it is to do; to test "fail" it fails, to test "signal" it sends one and waits, and to test "command" it prints what
// tests are told that runs them.
func fakeGo(t *testing.T, version, modcache string) (root string) {
	t.Helper()
	root, err := filepath.Abs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(runtime.GOROOT(), "src"), filepath.Join(root, "src")); err != nil {
		t.Fatal(err)
	}
	if modcache == "" {
		modcache = "/nowhere"
	} else {
		modcache = filepath.Dir(root)
	}
	says := "'" + root + "' '" + version + "' '" + modcache + "' \"$GOFLAGS\""
	script := "#!/bin/sh\n[ \"$1\" = env ] && printf '%s\\n' " + says + " && exit\n" +
		"case \"$*\" in *./signal) kill -USR1 $PPID; exec sleep 60;; esac\n" +
		"case \"$*\" in *./command) echo \"$ZKSIM_TEST_COMMAND\"; exit;; esac\n" +
		"echo \"${GOROOT:-none}\" \"$@\"\ncase \"$*\" in *fail*) exit 1;; esac\n"
	if err := os.MkdirAll(filepath.Join(root, "bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "bin", "go"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
	t.Setenv("GOROOT", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	return root
}

func TestOverlayPrintsTheFlagsOfTheGoCommand(t *testing.T) {
	fakeGo(t, runtime.Version(), "")
	dir := t.TempDir()
	r := simrun(t, "overlay", "-o", dir)
	file, tags, ok := strings.Cut(strings.TrimSpace(r.out), " ")
	if r.code != exitHeld || r.err != "" || !ok || tags != "-tags=zksim_exact" {
		t.Fatalf("%+v", r)
	}
	if text, err := os.ReadFile(strings.TrimPrefix(file, "-overlay=")); err != nil ||
		!strings.Contains(string(text), "/src/runtime/proc.go") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestOverlayRefusesAGoThatItDoesNotKnow(t *testing.T) {
	fakeGo(t, "go1.99.1", "")
	for command, of := range map[string]string{"overlay": "", "test": "overlay: "} {
		want := "simrun " + command + ": " + of + "the runtime of go1.99.1 is not known, expected one of go1.26, go1.27\n"
		if r := simrun(t, command); r.code != exitUsage || r.err != want || r.out != "" {
			t.Errorf("%+v, want %q", r, want)
		}
	}
}

func TestTestRefusesASecondOverlay(t *testing.T) {
	fakeGo(t, runtime.Version(), "")
	for _, args := range [][]string{{"-overlay", "x"}, {"./...", "--overlay=x"}} {
		r := simrun(t, append([]string{"test"}, args...)...)
		if r.code != exitUsage || !strings.HasPrefix(r.err, "simrun test: -overlay is what this command gives") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if r := simrun(t, "test", "./...", "-args", "-overlay"); r.code != exitHeld {
		t.Errorf("%+v", r)
	}
	t.Setenv("GOFLAGS", "-v -overlay=x")
	for _, command := range []string{"test", "overlay"} {
		r := simrun(t, command)
		if r.code != exitUsage || !strings.Contains(r.err, "GOFLAGS has an -overlay, which that of the runtime") {
			t.Errorf("%s: %+v", command, r)
		}
	}
}

func TestTestPassesOnWhatTheGoCommandWantsFirst(t *testing.T) {
	fakeGo(t, runtime.Version(), "")
	for _, args := range [][]string{{"-C", "dir"}, {"-C=dir"}, {"--C=dir"}} {
		r := simrun(t, append(append([]string{"test"}, args...), "./...")...)
		if !strings.HasPrefix(r.out, "none test "+strings.Join(args, " ")+" -overlay=") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

func TestTestRunsGoTestWithTheOverlay(t *testing.T) {
	fakeGo(t, runtime.Version(), "")
	r := simrun(t, "test", "-tags=mine", "-run", "x", "./...")
	if words := strings.Fields(r.out); r.code != exitHeld || len(words) != 7 || words[0] != "none" || words[1] != "test" ||
		!strings.HasPrefix(words[2], "-overlay=") || words[3] != "-tags=zksim_exact,mine" || words[6] != "./..." {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "test", "./command"); r.out != "go run ./cmd/simrun test\n" {
		t.Errorf("tests are told that %+v runs them", r)
	}
	if r := simrun(t, "test", "-tags", "mine yours", "./..."); !strings.Contains(r.out, "-tags=zksim_exact,mine,yours ") {
		t.Errorf("%+v", r)
	}
	t.Setenv("GOFLAGS", "-v -tags=ours")
	if r := simrun(t, "test", "./..."); !strings.Contains(r.out, "-tags=zksim_exact,ours ") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "overlay"); !strings.HasSuffix(r.out, " -tags=zksim_exact,ours\n") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "overlay", "-h"); !strings.Contains(r.out, "GOFLAGS") {
		t.Errorf("%+v, expected where other build tags go", r)
	}
	if r := simrun(t, "test", "./fail"); r.code != exitViolation || r.err != "" {
		t.Errorf("%+v", r)
	}
}

func TestTestsThatAreInterruptedHaveNoResult(t *testing.T) {
	fakeGo(t, runtime.Version(), "")
	ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGUSR1)
	defer stop()
	if r := simrunUntil(ctx, "test", "./signal"); r.code != exitInconclusive || r.err != "simrun test: interrupted\n" {
		t.Errorf("%+v", r)
	}
	for _, command := range []string{"test", "vet"} { // before the go command begins
		r := simrunUntil(ctx, command, "./...")
		if r.code != exitInconclusive || r.err != "simrun "+command+": interrupted\n" || r.out != "" {
			t.Errorf("%+v", r)
		}
	}
}

func TestAGoInTheModuleCacheIsUsedByLinks(t *testing.T) {
	root := fakeGo(t, runtime.Version(), "around it")
	r := simrun(t, "test", "./...")
	words := strings.Fields(r.out)
	if r.code != exitHeld || len(words) == 0 || words[0] == root || filepath.Base(words[0]) != filepath.Base(root) {
		t.Errorf("%+v, expected another root than %s", r, root)
	}
	if r := simrun(t, "overlay"); r.code != exitHeld || !strings.Contains(r.err, "GOTOOLCHAIN=local") {
		t.Errorf("%+v", r)
	}
}

func TestBuildTagsAreJoined(t *testing.T) {
	for _, x := range []struct{ args, tags, rest string }{
		{"./...", "", "./..."},
		{"-tags=a,b ./...", "a,b", "./..."},
		{"--tags a -v", "a", "-v"},
		{"-v -args -tags=a", "", "-v -args -tags=a"},
		{"tags=a", "", "tags=a"},
		{"-tags", "", ""},
	} {
		tags, rest := cutTags(strings.Fields(x.args))
		if tags != x.tags || !slices.Equal(rest, strings.Fields(x.rest)) {
			t.Errorf("%s: %q, %q", x.args, tags, rest)
		}
	}
}

func TestWhyTheGoCommandFailsIsSaid(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho 'go: cannot find GOROOT directory: /nowhere' >&2\nexit 2\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	const want = "simrun overlay: go env: exit status 2, expected a Go that works: go: cannot find GOROOT directory: " +
		"/nowhere\n"
	if r := simrun(t, "overlay", "-o", dir); r.code != exitUsage || r.err != want {
		t.Errorf("%+v", r)
	}
}
