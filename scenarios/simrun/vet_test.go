package simrun

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// vetted is a recipe as a user writes it, with what the simulator does not see.
const vetted = `package retry

import (
	"time"

	"zksim/recipes"
)

func sleep(env recipes.Env) {
	time.Sleep(time.Second)
	go pause()
	pause()
}

func pause() {
	time.Sleep(time.Second)
}
`

const vettedFindings = `retry/retry.go:10:2: time.Sleep blocks outside of the simulator; use Env.Sleep
retry/retry.go:11:2: a go statement starts a goroutine outside of the simulator; use Env.Go
retry/retry.go:16:2: time.Sleep blocks outside of the simulator; use Env.Sleep (simulated because sleep uses pause)
`

// besideCheckout goes to a new folder with a module of that path, which uses this checkout.
func besideCheckout(t *testing.T, path string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	_, rest, _ := strings.Cut(string(mod), "\n")
	write(t, "go.mod", "module "+path+"\n"+rest+"\nrequire zksim v0.0.0\n\nreplace zksim => "+root+"\n")
	write(t, "go.sum", string(sum))
}

// userModule makes a module of a user beside this checkout, and goes there.
func userModule(t *testing.T) {
	t.Helper()
	besideCheckout(t, "example.com/user")
	for name, text := range map[string]string{
		"retry/retry.go":   vetted,
		"fine/fine.go":     "package fine\n\nimport \"zksim/recipes\"\n\nfunc Wait(env recipes.Env) { env.Now() }\n",
		"tagged/tagged.go": "package tagged\n",
		"tagged/slow.go":   "//go:build slow\n\n" + strings.Replace(vetted, "package retry", "package tagged", 1),
		"none/README":      "no package\n",
		"wrong/wrong.go":   "package wrong\n\nvar x int = \"a\"\n",
		"broken/broken.go": "package broken\n\nfunc {\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, name, text)
	}
}

// process runs a command to its end.
func process(t *testing.T, name string, args ...string) result {
	t.Helper()
	var out, errs strings.Builder
	c := exec.Command(name, args...)
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

func TestVetOfAUsersModule(t *testing.T) {
	binary := build(t)
	userModule(t)
	const failed = "simrun vet: go vet: exit status 1, expected packages that load and compile\n"
	tagged := strings.NewReplacer("retry/retry.go", "tagged/slow.go", ":10:", ":12:", ":11:", ":13:", ":16:", ":18:").
		Replace(vettedFindings)
	for _, x := range []struct {
		args     string
		code     int
		out, err string
	}{
		{"./fine", exitHeld, "", ""},
		{"./fine ./retry", exitViolation, vettedFindings, ""},
		{"example.com/user/retry", exitViolation, vettedFindings, ""},
		{"./tagged", exitHeld, "", "simrun vet: there is no simulated code: nothing imports zksim/recipes; where code " +
			"takes a *zk.Conn, let it take a recipes.Conn, and run this again\n"},
		{"./tagged ./fine", exitHeld, "", ""},
		{"./tagged -tags slow,other", exitViolation, tagged, ""},
		{"./none/... ./fine", exitHeld, "", "go: warning: \"./none/...\" matched no packages\n"},
		{"./wrong ./retry", exitUsage, vettedFindings, "# example.com/user/wrong\n" +
			"wrong/wrong.go:3:13: cannot use \"a\" (untyped string constant) as int value in variable declaration\n" + failed},
		{"./broken", exitUsage, "", "# example.com/user/broken\n" +
			"broken/broken.go:3:6: expected 'IDENT', found '{'\n" + failed},
		{"./nothing", exitUsage, "", "nothing: directory not found\n" + failed},
	} {
		r := process(t, binary, append([]string{"vet"}, strings.Fields(x.args)...)...)
		if r.code != x.code || r.out != x.out || !strings.HasSuffix(r.err, x.err) || x.err == "" && r.err != "" {
			t.Errorf("%s: %+v, want %+v", x.args, r, x)
		}
	}
	if r := process(t, binary, "vet", "-json", "./retry"); r.code != exitViolation || r.err != "" ||
		!strings.HasPrefix(r.out, "{\n\t\"example.com/user/retry\": {\n\t\t\"zksim\": [\n") {
		t.Errorf("-json: %+v", r)
	}
	r := process(t, "go", "vet", "-vettool="+binary, "./retry", "./fine")
	if r.code == 0 || r.out+r.err != vettedFindings {
		t.Errorf("go vet -vettool: %+v, want %q", r, vettedFindings)
	}
	for _, name := range []string{"wrong", "broken", "retry"} {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	if r := process(t, binary, "vet"); r.code != exitHeld || r.out+r.err != "" {
		t.Errorf("without packages: %+v", r)
	}
}

func TestVetWithoutAGoCommandSaysSo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := simrun(t, "vet")
	const want = "simrun vet: the packages are loaded by the go command: " +
		"exec: \"go\": executable file not found in $PATH\n"
	if r.code != exitUsage || r.out != "" || r.err != want {
		t.Errorf("%+v, want %q", r, want)
	}
}

func TestTheDocumentOfVetShowsWhatItPrints(t *testing.T) {
	doc, err := os.ReadFile("../../docs/vet.md")
	if err != nil || !strings.Contains(string(doc), "```\n$ simrun vet ./...\n"+vettedFindings+"```\n") {
		t.Errorf("docs/vet.md (%v), want\n%s", err, vettedFindings)
	}
}

// TestVetFindsNothingHere holds this module to its own rule.
func TestVetFindsNothingHere(t *testing.T) {
	if testing.Short() {
		t.Skip("loads every package")
	}
	if r := process(t, build(t), "vet", "zksim/..."); r.code != exitHeld || r.out+r.err != "" {
		t.Errorf("%+v", r)
	}
}

func TestTheToolOfGoVetIsToldFromACommand(t *testing.T) {
	for args, want := range map[string]bool{
		"-V=full": true, "-flags": true, "/tmp/b1/vet.cfg": true, "-json -zksim /tmp/b1/vet.cfg": true,
		"": false, "vet": false, "vet ./...": false, "replay vet.cfg": false, "-h": false, "my.cfg": false,
	} {
		if got := isVetTool(strings.Fields(args)); got != want {
			t.Errorf("%q: %v, want %v", args, got, want)
		}
	}
}
