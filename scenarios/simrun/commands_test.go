package simrun

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"zksim/scenarios/catalog"
	"zksim/scenarios/catalog/variants"
)

func TestEveryCommandHasAHelpWithASentenceExamplesAndExitStatuses(t *testing.T) {
	for _, c := range commands() {
		for _, args := range [][]string{{c.name, "-h"}, {"help", c.name}, {c.name, "--help"}} {
			r := simrun(t, args...)
			head := "Usage: go run ./cmd/simrun " + c.name
			for _, want := range []string{"\nExamples:\n  go run ./cmd/simrun " + c.name, "\nExit status:\n  0  ",
				"\n  2  "} {
				if r.code != exitHeld || !strings.HasPrefix(r.out, head) || !strings.Contains(r.out, want) ||
					r.err != "" {
					t.Errorf("%v: %+v, want %q and %q", args, r, head, want)
				}
			}
			_, text, _ := strings.Cut(r.out, "\n\n")
			if strings.ContainsAny(text, "{}") {
				t.Errorf("%v has a word in braces: %s", args, text)
			}
			if sentence, _, ended := strings.Cut(text, "."); !ended || len(sentence) < 20 {
				t.Errorf("%v has no sentence: %q", args, text)
			}
		}
		for _, x := range append(slices.Clone(c.codes), statusUsage) {
			if r := simrun(t, c.name, "-h"); !strings.Contains(strings.Join(strings.Fields(r.out), " "), x.doc) {
				t.Errorf("%s -h does not say %q", c.name, x.doc)
			}
		}
	}
	usage := simrun(t, "help").out
	for line := range strings.Lines(usage) {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("more than 80 columns: %s", line)
		}
	}
	for _, c := range commands() {
		if !strings.Contains(usage, "\n  "+c.name+" ") {
			t.Errorf("the usage does not have %s", c.name)
		}
	}
}

// exampleFolder makes a folder in which the examples can be run: with the schedules of a failure, a module with a
// recipe, and a recording.
func exampleFolder(t *testing.T) {
	t.Helper()
	recording, err := filepath.Abs(filepath.Join(recordings, "golden", "h07_set_versions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	explained, err := filepath.Abs("../../internal/explain/testdata")
	if err != nil {
		t.Fatal(err)
	}
	explained += string(filepath.Separator)
	_, dir := folder(t, "lock/plain-create")
	write(t, "go.mod", "module example.com/mine\n\ngo 1.26\n")
	write(t, "mine.go", "// Package mine is a recipe.\npackage mine\n")
	for _, folder := range []string{"recordings", "run"} {
		if err := os.Mkdir(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "history.jsonl", `{"kind":"call","client":"c1","op":"exists","path":"/a"}`+"\n"+`{"kind":"end","lines":1}`)
	for name, from := range map[string]string{"schedule.txt": filepath.Join(dir, "schedule.txt"),
		"run/history.jsonl": explained + "history.jsonl", "run/report.json": explained + "report.json",
		"schedule.full.txt": filepath.Join(dir, "schedule.full.txt"), "recordings/one.jsonl": recording} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		write(t, name, string(text))
	}
}

// exampleApp is the app of these tests.
func exampleApp() *app {
	return &app{all: catalog.All, variants: variants.All, command: "go run ./cmd/simrun"}
}

// Each line of each help is executed, as a reader would, and ends as the table says.
func TestTheExamplesOfTheHelpWork(t *testing.T) {
	if testing.Short() {
		t.Skip("hunts all mutants once")
	}
	binary := build(t)
	exampleFolder(t)
	for _, c := range commands() {
		help := simrun(t, c.name, "-h").out
		for _, x := range c.examples {
			a := exampleApp()
			line, ok := a.filled(x.line)
			if !ok || !strings.Contains(help, "  "+line+"\n") {
				t.Errorf("%s -h does not have %q", c.name, line)
				continue
			}
			command := strings.ReplaceAll(line, a.command, binary)
			cmd := exec.Command("sh", "-c", command)
			out, err := cmd.CombinedOutput()
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if strings.Contains(string(out), "; or give -servers host:port,... of a running one") {
				t.Logf("not run without a server: %s", line)
				continue
			}
			if code := cmd.ProcessState.ExitCode(); code != x.code {
				t.Errorf("%s: status %d, not %d\n%s", line, code, x.code, out)
			}
		}
	}
	for _, file := range []string{"junit.xml", "cert.json", "page/index.html", "small.txt", "museum.md",
		"out/herd/herd.html",
		"completion.bash", "_completion"} {
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			t.Errorf("the examples leave no %s: %v", file, err)
		}
	}
}

func TestAnExampleWithoutItsScenarioIsNotShown(t *testing.T) {
	var out strings.Builder
	a := &app{name: "mine", command: "go run .", all: exampleApp().all[:1], out: &out}
	if code := a.main(context.Background(), []string{"check", "-h"}); code != exitHeld ||
		strings.Count(out.String(), "  go run . check ") != 3 || strings.Contains(out.String(), "{") {
		t.Errorf("%d, %s", code, &out)
	}
}

func TestScenariosAreSelectedByNamesFoldersAndPatterns(t *testing.T) {
	for _, x := range []struct{ args, want string }{
		{"lock/lock", "lock/lock"},
		{"lock/workers lock/lock lock/lock", "lock/lock lock/workers"},
		{"lock/we*", "lock/wedged"},
		{"counter/*get counter/stale-get", "counter/stale-get"},
		{"-run ^.*/lock$ lock", "lock/lock"},
		{"lock/l??k", "lock/lock"},
	} {
		r := simrun(t, append([]string{"list", "-short"}, strings.Fields(x.args)...)...)
		var names []string
		for line := range strings.Lines(r.out) {
			names = append(names, strings.Fields(line)[0])
		}
		if got := strings.Join(names, " "); r.code != exitHeld || got != x.want {
			t.Errorf("%s: %q, want %q; %+v", x.args, got, x.want, r)
		}
	}
	lock := simrun(t, "list", "-short", "-run", "^lock/")
	for _, arg := range []string{"lock", "lock/", "lock/...", "lock/*"} {
		if r := simrun(t, "list", "-short", arg); r != lock || r.out == "" {
			t.Errorf("%s: %+v", arg, r)
		}
	}
	all := simrun(t, "list", "-short")
	if r := simrun(t, "list", "-short", "..."); r != all {
		t.Errorf("...: %+v", r)
	}
	t.Chdir(t.TempDir())
	if r := simrun(t, "check", "lock/lock", "-seeds", "1-200", "queue/queue"); !strings.HasSuffix(r.out,
		"2 scenarios: 2 held\n") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "prove", "-most", "0", "lock/lock"); r.code != exitHeld || !strings.HasPrefix(r.out,
		"holds: lock/lock") ||
		!strings.HasSuffix(r.out, "\n1 scenario: 1 held\n") {
		t.Errorf("%+v", r)
	}
}

func TestCompletionKnowsWhatTheUsageKnows(t *testing.T) {
	complete := func(words ...string) string {
		return strings.Join(strings.Fields(simrun(t, append([]string{"completion", "words"}, words...)...).out), " ")
	}
	for _, x := range []struct{ words, want string }{
		{"", strings.Join(commandNames(), " ")},
		{"ch", "check"},
		{"check -fai", "-failfast"},
		{"check -v lock/loc", "lock/lock"},
		{"check -strategy p", "pct portfolio"},
		{"check --strategy p", "pct portfolio"},
		{"check -faults lose", "lose-request lose-reply"},
		{"check -failfast lock/loc", "lock/lock"},
		{"check -strategy = p", "pct portfolio"}, // as bash splits -strategy=p
		{"check -strategy =", "random pct portfolio"},
		{"check -strategy=p", "-strategy=pct -strategy=portfolio"}, // as zsh does
		{"check -seeds = lock/loc", ""},
		{"check -v = lock/loc", ""},
		{"check -nothing = lock/loc", ""},
		{"herd -backend ", "sim zookeeper"},
		{"prove -like ", "zookeeper keeper zookeeper-3.9 zookeeper-3.6"},
		{"herd -variants lock/", "lock/single-node lock/sequential"},
		{"replay ", ""},
		{"completion b", "bash"},
		{"help w", "why"},
		{"nothing ", ""},
	} {
		if got := complete(strings.Split(x.words, " ")...); sorted(got) != sorted(x.want) {
			t.Errorf("%q: %q, want %q", x.words, got, x.want)
		}
	}
	for _, c := range commands() {
		var out strings.Builder
		a := exampleApp()
		a.out = &out
		c.run(t.Context(), a, []string{"-h"})
		var names []string
		a.flagsOf(&c).VisitAll(func(f *flag.Flag) { names = append(names, "-"+f.Name) })
		for _, name := range names {
			if !strings.Contains(out.String(), "\n  "+name) {
				t.Errorf("%s -h does not have %s", c.name, name)
			}
		}
		if got := complete(c.name, "-"); got != strings.Join(names, " ") {
			t.Errorf("%s: %s, want %s", c.name, got, names)
		}
	}
}

func sorted(words string) string {
	list := strings.Fields(words)
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestWhatIsMisspeltGetsTheNearestName(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, x := range []struct{ args, want string }{
		{"chekc", `simrun: no command "chekc"; there are list, check, prove, merge, serve, replay`},
		{"check lock/lokc", `simrun check: no scenario is called "lock/lokc"; "go run ./cmd/simrun list" shows ` +
			`them; did you mean lock/lock?`},
		{"check lock/lock zzz", `simrun check: no scenario is called "zzz"; "go run ./cmd/simrun list" shows them`},
		{"check lock/[", `simrun check: "lock/[" is no pattern, expected one as 'lock/*'`},
		{"check lock/lock -run queue", `simrun check: -run: none of the scenarios that are named matches "queue"`},
		{"check -bogus", `simrun check: flag provided but not defined: -bogus; -h shows those that there are`},
		{"check -sedes 5", `simrun check: flag provided but not defined: -sedes; did you mean -seeds?`},
		{"check -strategy pctt", `simrun check: -strategy is random, pct or portfolio, not "pctt"; did you mean pct?`},
		{"check -backend zookeper", `simrun check: -backend is sim or zookeeper, not "zookeper"; did you mean ` +
			`zookeeper?`},
		{"list -run lock/wokrers", `simrun list: -run: no scenario matches "lock/wokrers"; "go run ./cmd/simrun ` +
			`list" shows them; did you mean lock/workers?`},
		{"strategies lock/lock", `simrun strategies: none of these is a mutant; "go run ./cmd/simrun list" shows what`},
		{"herd -variants lock/sequental", `simrun herd: -variants: nothing matches "lock/sequental"; there are `},
		{"help chekc", `simrun help: no command "chekc"; there are list, `},
		{"help check prove", `simrun help: unexpected argument "prove"`},
		{"completion fish", `simrun completion: the shell is bash or zsh, not "fish"`},
		{"completion zhs", `simrun completion: the shell is bash or zsh, not "zhs"; did you mean zsh?`},
		{"diff - -", `simrun diff: both are the standard input, expected one of them at most`},
		{"check -json -junit -", `simrun check: -json and -junit - both write to the standard output`},
		{"prove lock/lock -json -cert -", `simrun prove: -json and -cert - both write to the standard output`},
		{"replay typo.txt", `simrun replay: typo.txt: no scenario is called "lock/lokc"; "go run ./cmd/simrun ` +
			`list" shows them; did you mean lock/lock?`},
	} {
		write(t, "typo.txt", "zksim schedule 1\nscenario lock/lokc\n")
		r := simrun(t, strings.Fields(x.args)...)
		if r.code != exitUsage || r.out != "" || !strings.HasPrefix(r.err, x.want) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("simrun %s: %+v\nwant %s", x.args, r, x.want)
		}
	}
	r := simrun(t, "herd", "-variants", "lock/sequental")
	if !strings.HasSuffix(r.err, "; did you mean lock/sequential?\n") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "check", "-faults", "lose-replies"); !strings.HasSuffix(r.err, "; did you mean lose-reply?\n") {
		t.Errorf("%+v", r)
	}
}

// A schedule of zktest belongs to a test or a subtest. The command that replays it finds that.
func TestScheduleOfATest(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, x := range []struct{ scenario, run string }{
		{"zktest/TestLock", "'^TestLock$'"},
		{"zktest/TestLock-2", "'^TestLock$'"},
		{"zktest/TestLock.three.servers", "'^TestLock$/^three$/^servers$'"},
		{"zktest/TestLock.one_server-3", "'^TestLock$/^one_server$'"},
		{"zktest/TestLock.-1_-weird--e0ed78be", "'^TestLock$/^.+1_.+weird.+$'"},
		{"zktest/TestLock.-1_-weird--e0ed78be-2", "'^TestLock$/^.+1_.+weird.+$'"},
	} {
		write(t, "s.txt", "zksim schedule 1\nscenario "+x.scenario+"\n\n")
		want := fmt.Sprintf("simrun replay: s.txt: %q is a test; \"go test -run %s -zksim.schedule FILE\" in its package "+
			"replays a schedule of it\n", x.scenario, x.run)
		if r := simrun(t, "replay", "s.txt"); r.code != exitUsage || r.out != "" || r.err != want {
			t.Errorf("%+v\nwant %s", r, want)
		}
	}
}
