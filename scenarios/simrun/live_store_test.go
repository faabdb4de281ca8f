package simrun

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/ensemble"
	"zksim/internal/zkserver"
	"zksim/model/history"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

func TestAStoreThatFailsIsNoReasonToStop(t *testing.T) {
	s := catalog.Named("lock/lock")
	x := &liveCheck{checkFlags: &checkFlags{}}
	x.out = t.TempDir()
	r := &liveResult{status: engine.Held}
	step := func(seed uint64, run ensemble.LiveRun, want bool) {
		t.Helper()
		if over, err := x.judge(t.Context(), s, r, seed, &run, nil); err != nil || over != want {
			t.Fatalf("seed %d: over %v, %v", seed, over, err)
		}
	}
	step(1, ensemble.LiveRun{Verdict: checkers.Verdict{Level: checkers.OK}}, false)
	asked := &history.History{Events: []history.Event{{Kind: history.Reply, Client: 1, Op: "exists", Path: "/a"}}}
	step(2, ensemble.LiveRun{Store: "zxids out of order", Txns: []string{"0x1", "0x2"}, History: asked}, false)
	step(3, ensemble.LiveRun{Store: "a txn is missing", History: &history.History{}}, false)
	step(4, ensemble.LiveRun{Verdict: checkers.Verdict{Level: checkers.OK}}, false)
	if r.status != engine.Inconclusive || r.says != "seed 2: the store, not your recipe: zxids out of order" ||
		r.runs != 4 || len(r.aborted) != 2 || !strings.HasPrefix(r.aborted[1], "seed 3: the store, ") {
		t.Errorf("%+v", r)
	}
	if r.left == nil || r.left.err != nil || !strings.HasPrefix(r.left.files[0], x.out) {
		t.Errorf("%+v", r.left)
	}
	const told = `{"i":0,"step":0,"kind":"reply","client":"c1","op":"exists","path":"/a"}
{"kind":"end","lines":1}
`
	for i, want := range []string{told, "0x1\n0x2\n"} {
		if got, err := os.ReadFile(r.left.files[len(r.left.files)-1-i]); string(got) != want {
			t.Errorf("%q, %v, expected %q", got, err, want)
		}
	}
	step(5, ensemble.LiveRun{Verdict: checkers.Verdict{Level: checkers.Violated, Checker: "fenced"}}, true)
	if r.status != engine.Violation || r.seed != 5 || r.run.Verdict.Checker != "fenced" {
		t.Errorf("%+v", r)
	}
}

func TestARunThatIsAbortedLeavesWhatStruckAndWhereItHangs(t *testing.T) {
	t.Chdir(t.TempDir())
	x := &liveCheck{checkFlags: &checkFlags{}, plan: faults.MustParse("disconnect=1")}
	x.out = "out"
	r := &liveResult{status: engine.Held}
	why := &ensemble.Aborted{Cause: errors.New("nobody serves"), Plan: x.plan, Diary: []string{"0.1s s1 died"},
		Stacks: "goroutine 1"}
	if over, err := x.judge(t.Context(), catalog.Named("lock/lock"), r, 1, nil, why); over || err != nil ||
		r.says != "seed 1 was aborted: nobody serves" {
		t.Fatalf("over %v, %v: %+v", over, err, r)
	}
	var out bytes.Buffer
	x.tellEvidence(&app{out: &out}, r.left)
	const dir = "out/lock.lock/aborted/"
	const want = "        left       " + dir + diaryFile + "\n        left       " + dir + stacksFile + "\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("%s, expected %s", out.String(), want)
	}
	struck, _ := os.ReadFile(dir + diaryFile)
	stacks, _ := os.ReadFile(dir + stacksFile)
	if !strings.HasSuffix(string(struck), "plan disconnect=1\n\n0.1s s1 died\n") || string(stacks) != "goroutine 1" {
		t.Errorf("%q, %q", struck, stacks)
	}
}

func TestNewServersGetMoreThanOneTry(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{"zookeeper.jar": "", "bin/java": "#!/bin/sh\necho run >>$0.runs\nexit 7\n"} {
		name = filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("JAVA_HOME", home)
	t.Setenv(zkserver.EnvZooKeeper, filepath.Join(home, "zookeeper.jar"))
	runs := func(start func(ctx context.Context) error) int {
		err := start(t.Context())
		text, _ := os.ReadFile(filepath.Join(home, "bin", "java.runs"))
		if err == nil || os.Remove(filepath.Join(home, "bin", "java.runs")) != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "run")
	}
	x := &liveCheck{checkFlags: &checkFlags{}}
	x.nodes, x.session = 1, time.Second
	if first, again := runs(x.start), runs(x.startAgain); again != startTries*first {
		t.Errorf("%d starts of java, and %d of servers that have served", first, again)
	}
}

func TestARuleThatStrikesNothingIsNamedAndSoIsWhatNoRunHad(t *testing.T) {
	s := catalog.Named("lock/lock")
	x := &liveCheck{checkFlags: &checkFlags{}, plan: faults.MustParse("pause=1 expire=1 cancel=1")}
	x.checkFlags.plan = x.plan.String()
	r := &liveResult{status: engine.Held, struck: make([]liveStrikes, 3)}
	never, once := "herd: it needs a client that is notified", "conflict: it needs an update"
	for seed, waived := range [][]string{{never, once}, {never}} {
		run := &ensemble.LiveRun{Plan: x.plan, Struck: []int{1, 0, 0}, Waived: waived,
			Verdict: checkers.Verdict{Level: checkers.OK}}
		run.Plan[2].Budget = 0 // which no seed drew
		if over, err := x.judge(t.Context(), s, r, uint64(seed), run, nil); over || err != nil {
			t.Fatalf("over %v, %v", over, err)
		}
	}
	var out bytes.Buffer
	x.tell(t.Context(), &app{out: &out}, s, r)
	want := "      expire=1 has struck nothing in 2 runs: no client made the requests at which it would, or it had no " +
		"connection any more\n"
	if !strings.HasSuffix(out.String(), "2 seeds\n"+want) {
		t.Errorf("%s, expected %s", out.String(), want)
	}
	out.Reset()
	x.verbose = true
	x.tell(t.Context(), &app{out: &out}, s, r)
	if want := "      in none of 2 runs      " + never + "\n"; !strings.HasSuffix(out.String(), want) ||
		strings.Contains(out.String(), once) {
		t.Errorf("%s, expected %s", out.String(), want)
	}
}

func TestAnInterruptedScenarioTellsWhatItsSeedsCameTo(t *testing.T) {
	s := catalog.Named("lock/lock")
	x := &liveCheck{checkFlags: &checkFlags{}}
	x.out = t.TempDir()
	r := &liveResult{status: engine.Held}
	run := &ensemble.LiveRun{Store: "zxids out of order", History: &history.History{}}
	if over, err := x.judge(t.Context(), s, r, 1, run, nil); over || err != nil {
		t.Fatalf("over %v, %v", over, err)
	}
	for _, c := range []struct {
		r     *liveResult
		seeds uint64
		want  string
	}{
		{&liveResult{status: engine.Held}, 0, "interrupted\n"},
		{&liveResult{status: engine.Held}, 1, "interrupted after 1 seed\n"},
		{r, 2, "interrupted after 2 seeds; seed 1: the store, not your recipe: zxids out of order\n        version "},
	} {
		var out bytes.Buffer
		c.r.interrupt(c.seeds)
		x.tell(t.Context(), &app{out: &out}, s, c.r)
		if want := "inconclusive lock/lock                on ZooKeeper  " + c.want; !strings.HasPrefix(out.String(), want) {
			t.Errorf("%s, expected %s", &out, want)
		}
	}
}

func TestARunThatJudgesNothingIsNotTheLast(t *testing.T) {
	s := catalog.Named("monitor/asked")
	x := &liveCheck{checkFlags: &checkFlags{}}
	r := &liveResult{status: engine.Held}
	nothing := checkers.Verdict{Level: checkers.Unknown, Checker: "overdue", Message: "judged nothing"}
	for seed, level := range []checkers.Verdict{nothing, nothing, {Level: checkers.OK}, nothing} {
		over, err := x.judge(t.Context(), s, r, uint64(seed), &ensemble.LiveRun{Verdict: level}, nil)
		if silent := seed < 2; over || err != nil || r.silent(s) != silent {
			t.Errorf("seed %d: over %v, %v, silent %v", seed, over, err, r.silent(s))
		}
		if want := seed < 2; (r.status == engine.Inconclusive) != want {
			t.Errorf("seed %d: %v: %s", seed, r.status, r.says)
		}
	}
}

func TestFaultsAreDrawnFromWhatTheClientsOfASimulatedRunDo(t *testing.T) {
	run := usual(catalog.Named("lock/lock"), 4)
	creates := map[int32]int{}
	for i := range run.Events {
		if e := &run.Events[i]; e.Kind == history.Call && e.Op == "create" {
			creates[e.Client]++
		}
	}
	strikes := func(e history.Event) bool { return e.Kind == history.Fault }
	if len(creates) != 4 || slices.ContainsFunc(run.Events, strikes) {
		t.Errorf("creates by client: %v", creates)
	}
	if again := usual(catalog.Named("lock/lock"), 4); !slices.Equal(run.Events, again.Events) {
		t.Error("another one")
	}
}

func TestARunOnARealEnsembleCanBeRepeatedWhateverItsScenarioIsCalled(t *testing.T) {
	x := &liveCheck{checkFlags: &checkFlags{nodes: 3, session: time.Second}, plan: faults.MustParse("lose-reply=1")}
	const want = `mine check -backend zookeeper -nodes 3 -session-timeout 1s -faults lose-reply=1 -seeds 7 'two words'`
	if got := x.again("mine", &engine.Scenario{Name: "two words"}, 7); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
