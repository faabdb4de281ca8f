package zksim_test

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// published is where the module is published in these tests.
const published = "example.com/team/zksim"

// nested are folders with a module of their own, which is not a part of this one.
var nested = regexp.MustCompile(`^(examples/[^/]+|deploy/kubernetes)/`)

// sh runs commands with a shell in a folder, and returns what they print.
func sh(t *testing.T, dir string, env []string, commands string) (out string, code int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", commands)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	text, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(text), c.ProcessState.ExitCode()
}

// must is sh for commands that must succeed.
func must(t *testing.T, dir string, env []string, commands string) string {
	t.Helper()
	out, code := sh(t, dir, env, commands)
	if code != 0 {
		t.Fatalf("%s: exit status %d\n%s", commands, code, out)
	}
	return out
}

// copied copies the files of the checkout into a folder.
func copied(t *testing.T, to string) {
	t.Helper()
	for name := range strings.SplitSeq(must(t, ".", nil, "git ls-files -z -co --exclude-standard"), "\x00") {
		info, err := os.Stat(name)
		if name == "" || err != nil { // removed and not committed
			continue
		}
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o777)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), text, info.Mode())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// proxy makes a module proxy of files, with one version of the module in a folder.
func proxy(t *testing.T, from, to string) {
	t.Helper()
	const version = "v0.1.0"
	dir := filepath.Join(to, published, "@v")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mod, err := os.ReadFile(filepath.Join(from, "go.mod"))
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	write("list", version+"\n")
	write(version+".info", fmt.Sprintf("{\"Version\":%q,\"Time\":\"2026-01-01T00:00:00Z\"}", version))
	write(version+".mod", string(mod))
	file, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(file)
	err = filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(from, path)
		if err != nil || d.IsDir() || nested.MatchString(filepath.ToSlash(name)) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		w, err := z.Create(published + "@" + version + "/" + filepath.ToSlash(name))
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	})
	if err := errors.Join(err, z.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
}

// readme returns the blocks of the README with that start, without their fences.
func readme(t *testing.T, dir, start string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```[a-z]*\n("+regexp.QuoteMeta(start)+
		".*?)^```$").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, m[1])
	}
	if len(blocks) == 0 {
		t.Fatalf("no block of README.md begins with %q", start)
	}
	return blocks
}

// naive is the lock of the README, with bugs: when the answer to its create is lost, it creates once more, and when it
// gives up waiting, its znode stays.
const naive = `package mylock

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"

	"PATH/recipes"
)

type Lock struct {
	conn recipes.Conn
	env  recipes.Env
	dir  string
	own  string
}

func New(conn recipes.Conn, env recipes.Env, dir string) *Lock { return &Lock{conn: conn, env: env, dir: dir} }

func (l *Lock) Lock(ctx context.Context) error {
	acl := zk.WorldACL(zk.PermAll)
	if _, err := l.conn.Create(l.dir, nil, 0, acl); err != nil && err != zk.ErrNodeExists {
		return err
	}
	own, err := l.conn.Create(l.dir+"/n-", nil, zk.FlagEphemeral|zk.FlagSequence, acl)
	for err == zk.ErrConnectionClosed {
		own, err = l.conn.Create(l.dir+"/n-", nil, zk.FlagEphemeral|zk.FlagSequence, acl)
	}
	if err != nil {
		return err
	}
	l.own = own
	for {
		names, _, err := l.conn.Children(l.dir)
		if err != nil {
			return err
		}
		slices.Sort(names)
		at := slices.Index(names, own[len(l.dir)+1:])
		if at <= 0 {
			return nil
		}
		there, _, gone, err := l.conn.ExistsW(l.dir + "/" + names[at-1])
		if err == nil && there {
			_, _, err = l.env.Await(ctx, gone)
		}
		if err != nil {
			return err
		}
	}
}

func (l *Lock) Unlock(ctx context.Context) error {
	own := l.own
	l.own = ""
	return l.conn.Delete(own, -1)
}

func (l *Lock) Token() int64 { return 0 }

func (l *Lock) Znodes() []string {
	if l.own == "" {
		return nil
	}
	return []string{l.own}
}
`

// user makes a module with the lock and the tests of the README: the short one, and the one that says everything.
func user(t *testing.T, dir, path string) {
	t.Helper()
	blocks := readme(t, ".", "func TestMyLock(")
	for name, text := range map[string]string{
		"go.mod":           "module example.com/mine\n\ngo 1.26\n",
		"mylock/mylock.go": naive,
		"mine_test.go": "package mine\n\nimport " +
			"(\n\t\"testing\"\n\n\t\"example.com/mine/mylock\"\n\t\"PATH/scenarios\"\n)\n\n" + blocks[0],
		"whole/mine_test.go": "package mine\n\nimport " +
			"(\n\t\"testing\"\n\n\t\"example.com/mine/mylock\"\n\t\"PATH/checkers\"\n" +
			"\t\"PATH/faults\"\n\t\"PATH/scenarios\"\n)\n\n" + blocks[1],
	} {
		file := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(file), 0o777)
		if err == nil {
			err = os.WriteFile(file, []byte(strings.ReplaceAll(text, "PATH", path)), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// finds runs the test of a package of the user, which must fail with an explanation, and the line that it prints.
func finds(t *testing.T, dir, pkg string, env []string) {
	t.Helper()
	dir = filepath.Join(dir, pkg)
	out, code := sh(t, dir, env, "go test .")
	m := regexp.MustCompile(`minimal    \d+ of \d+ steps, .*
 +decided    step \d+, after .*
(?:.*\n)* +page       (/.*/index\.html)
 +replayed   2 of 2 identical, hash ([0-9a-f]{16})
 +reproduce  (go test example.com/\S+ -run '\^TestMyLock\$' -zksim\.schedule (testdata/zksim/\S+))\n`).FindStringSubmatch(out)
	if code != 1 || m == nil {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	for _, file := range []string{m[1], filepath.Join(dir, m[4])} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	again, code := sh(t, filepath.Join(dir, "testdata"), env, m[3]) // it works in every folder of the module
	if code != 1 || !strings.Contains(again, m[2]) {
		t.Errorf("%s: exit status %d\n%s", m[3], code, again)
	}
	if again, code := sh(t, dir, env, "ZKSIM_SEEDS=1 go test ."); code != 1 || !strings.Contains(again, m[2]) {
		t.Errorf("a later run: exit status %d\n%s", code, again)
	}
}

// gained returns the lines of the user's go.mod, and the packages that his tests consist of.
func gained(t *testing.T, dir string, env []string) (list []string) {
	t.Helper()
	for line := range strings.Lines(must(t, dir, env,
		"go mod tidy 2>tidy.txt && cat go.mod && go list -deps -test ./...")) {
		list = append(list, strings.TrimSpace(line))
	}
	return list
}

// The script changes lines of the program, so it fails where these have changed.
func TestTheScriptOfVariantsFitsTheProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	out, code := sh(t, ".", nil, "scripts/defaults 0 >/dev/null")
	if want := "defaults: the number of hunts is above 0, not \"0\"\n"; code != 2 || out != want {
		t.Errorf("exit status %d, %s\nexpected 2, %s", code, out, want)
	}
}

// TestTheModuleCanBePublishedAnywhere gives the module another path, serves it from files, and does what the README
// says in a new module.
func TestTheModuleCanBePublishedAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the module under another path")
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	copied(t, src)
	must(t, src, nil, "git init -q && git add -A && scripts/module "+published)
	if left := must(t, src, nil, `grep -rlE '"zksim/' --include='*.go' --include=defaults . || true`); left != "" {
		t.Errorf("these still import the old path: %s", left)
	}
	want := "go mod edit -require " + published + "@v0.0.0 -replace " + published + "=../zksim\n"
	if line := readme(t, src, "go mod edit ")[0]; !strings.HasPrefix(line, want) {
		t.Errorf("README says %q, expected %q", line, want)
	}
	if out, code := sh(t, src, nil, "scripts/module zksim"); code != 2 || !strings.HasPrefix(out, "usage: ") {
		t.Errorf("exit status %d, %s", code, out)
	}
	proxy(t, src, filepath.Join(dir, "proxy"))
	cache := strings.TrimSpace(must(t, ".", nil, "go env GOMODCACHE")) + "/cache/download"
	env := []string{"GOFLAGS=-mod=mod -modcacherw", "GOMODCACHE=" + filepath.Join(dir, "cache"), "GOSUMDB=off", "TMPDIR=" +
		dir,
		"GOPROXY=file://" + filepath.Join(dir, "proxy") + ",file://" + cache + "," +
			strings.TrimSpace(must(t, ".", nil, "go env GOPROXY"))}
	mine := filepath.Join(dir, "mine")
	user(t, mine, published)
	must(t, mine, env, readme(t, src, "go get ")[0])
	finds(t, mine, ".", env)
	finds(t, mine, "whole", env)
	list := gained(t, mine, env)
	if mod := strings.Join(list, "\n"); !strings.Contains(mod, "go-zookeeper/zk v1") ||
		strings.Count(mod, " v0.")+strings.Count(mod, " v1.") != 3 {
		t.Errorf("go.mod requires more than zksim, go-zookeeper and porcupine, or less:\n%.600s", mod)
	}
	for _, word := range []string{"gonum.org", "chromedp", "progressbar", "zksim/scenarios/catalog",
		"zksim/recipes/live"} {
		if i := slices.IndexFunc(list, func(s string) bool { return strings.Contains(s, word) }); i >= 0 {
			t.Errorf("a test that imports the harness needs %s", list[i])
		}
	}
}

// TestACheckoutCanBeUsedInAnotherModule does the same with a replacement.
func TestACheckoutCanBeUsedInAnotherModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another module")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(here, filepath.Join(dir, "zksim")); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "mine")
	user(t, mine, "zksim")
	env := []string{"TMPDIR=" + dir}
	must(t, mine, env, readme(t, ".", "go mod edit ")[0])
	finds(t, mine, ".", env)
	finds(t, mine, "whole", env)
}
