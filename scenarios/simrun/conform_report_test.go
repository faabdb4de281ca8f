package simrun

import (
	"strings"
	"testing"

	"zksim/internal/conform"
	"zksim/model"
	"zksim/scenarios/catalog"
	"zksim/scenarios/serve"
)

// deviating is a failure in which the last of some operations differs in these fields.
func deviating(seed uint64, ops []conform.Op, fields ...string) conform.Failure {
	f := conform.Failure{Seed: seed, Original: 60, Repeated: true}
	for _, o := range ops {
		f.Steps = append(f.Steps, conform.Step{Op: o})
	}
	for _, field := range fields {
		f.Differences = append(f.Differences, conform.Difference{Step: len(ops) - 1, Field: field, Real: "a|b", Sim: "c"})
	}
	return f
}

func TestThePageOfDifferencesPutsTheSameOnesTogether(t *testing.T) {
	create := conform.Op{Session: 1, Kind: conform.Create, Path: "/a"}
	get := conform.Op{Session: 1, Kind: conform.Get, Path: "/a"}
	multi := conform.Op{Session: 1, Kind: conform.Multi}
	watching := conform.Op{Session: 1, Kind: conform.Children, Path: "/a", Watch: true}
	p := conformPage{servers: "host:2181", seed: 1, calls: callers(catalog.All),
		command: "simrun conform -servers host:2181",
		report: &conform.Report{Servers: 1, Sequences: 9, Ops: 540, Failures: []conform.Failure{
			deviating(1, []conform.Op{create, get, get}, "stat.cversion"),
			deviating(2, []conform.Op{create, get}, "stat.cversion"),
			deviating(3, []conform.Op{create, multi}, "results[0].err", "results[1].err"),
			deviating(4, []conform.Op{watching, create}, "events"),
			deviating(5, []conform.Op{{Session: 1, Kind: conform.Expire}}, "states"),
			deviating(6, []conform.Op{{Session: 1, Kind: conform.CreateTTL, Path: "/t"}}, "err"),
		}}}
	var b strings.Builder
	if err := p.write(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"# Differences between host:2181 and the simulator\n",
		"540 operations in 9 sequences from seed 1 on, 1 server: 5 kinds of differences, in 6 sequences.\n",
		"## 1. get: stat.cversion\n\nIn 2 sequences; the shortest, of seed 2, has 2 of 60 operations:\n\n```\n  0  ",
		"| stat.cversion | `a\\|b` | `c` |\n",
		"## 2. multi: results.err\n",
		"## 3. create: events\n", "scenarios that must hold call childrenW, and may break: ",
		"## 4. expire: states\n", "Every recipe has sessions, and may meet this.\n",
		"None of the scenarios that must hold calls createTTL.\n",
		"Again: `simrun conform -servers host:2181 -seed 2 -ops 1`\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	_, about, _ := strings.Cut(text, "call childrenW, and may break: ")
	line, _, _ := strings.Cut(about, "\n")
	if !strings.Contains(line, "members/members") || strings.Contains(line, "lock/lock") {
		t.Errorf("those that call childrenW are %q", line)
	}
}

func TestAPageThatCannotBeWrittenIsAnErrorBeforeTheWork(t *testing.T) {
	t.Chdir(t.TempDir())
	if r := simrun(t, "conform", "-report", "./", "-servers", "127.0.0.1:1"); r.code != exitUsage ||
		r.err != "simrun conform: -report: ./ is a folder, not a file\n" {
		t.Errorf("%+v", r)
	}
}

func TestAPageOnTheStandardOutputHasNothingElseInIt(t *testing.T) {
	t.Chdir(t.TempDir())
	e, err := serve.Start(serve.Options{Like: model.Keeper})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r := simrun(t, "conform", "-report", "-", "-servers", e.Addrs()[0], "-ops", "1")
	if r.code != exitViolation || !strings.HasPrefix(r.out, "# Differences between ") ||
		strings.Contains(r.out, "DIFF ") {
		t.Errorf("%+v", r)
	}
	for _, want := range []string{"DIFF  seed 1  step 2: s1 reconnect\n", ", 1 difference\n"} {
		if !strings.Contains(r.err, want) {
			t.Errorf("no %q in %s", want, r.err)
		}
	}
}
