package engine_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// picked are five checkers that a user would pick for a lock.
var picked = []checkers.Checker{checkers.Belief{}, checkers.Linearizability{}, checkers.Quiescence{}, checkers.Tree{},
	checkers.Steps{}}

// wrong is a broken lock, in rounds that are recorded by these words, with or without Acquired.
func wrong(try, lock, unlock string, acquired bool) engine.Scenario {
	return engine.Scenario{Name: "my/lock", Clients: 3, Rounds: 2, Setup: lockSetup, Checkers: picked,
		Program: func(p *engine.Process) {
			l := mutants.NewLock(p.Conn, p.Env, "/lock", mutants.NameSort)
			o := p.Register(l.Znodes)
			for r := range p.Rounds {
				op, f := lock, l.Lock
				if (p.ID+r)%3 == 2 {
					op, f = try, l.TryLock
				}
				if ok, _ := o.Attempt(op, f); !ok {
					continue
				}
				if acquired {
					o.Acquired(l.Znodes()[0], l.Token())
					p.Step()
					o.Released()
				}
				o.Must(unlock, l.Unlock)
			}
		}}
}

func TestAWordThatNoCheckerKnowsIsAnErrorThatNamesTheNearest(t *testing.T) {
	const known = `; they know break, campaign, downgrade, lock, resign, rlock, runlock, trylock, tryrlock, ` +
		`unlock, the nearest being `
	const hint = `; a word that nobody is to judge belongs in Scenario.Words`
	for _, x := range []struct{ try, lock, unlock, want string }{
		{"tryacquire", "lock", "unlock", `the operation "tryacquire"` + known + `"trylock"` + hint},
		{"trylock", "lock", "unlok", `the operation "unlok"` + known + `"unlock"` + hint},
		{"trylock", "", "unlock", `the operation ""` + known + `"lock"` + hint},
	} {
		for _, workers := range []int{1, 8} {
			s := wrong(x.try, x.lock, x.unlock, true)
			rep, err := engine.Run(context.Background(), &s,
				engine.Options{Seeds: engine.Range{First: 1, Last: 500}, Workers: workers})
			if want := "my/lock, seed 1: no checker knows " + x.want; fmt.Sprint(err) != want {
				t.Errorf("%+v\n%v\n%s", rep.Status, err, want)
			}
		}
	}
	s := wrong("trylock", "lock", "unlock", true)
	if rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 500}}); rep.Status != engine.Violation {
		t.Errorf("the same lock by the right words: %+v", rep)
	}
	s = wrong("tryacquire", "lock", "unlock", true)
	s.Words = []string{"tryacquire"}
	if _, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: 9}}); err != nil {
		t.Errorf("a free word: %v", err)
	}
}

func TestWhatIsToldByAnUnknownWordIsAnErrorToo(t *testing.T) {
	s := engine.Scenario{Name: "my/lock", Clients: 2, Checkers: picked, Program: func(p *engine.Process) {
		p.Register(nil).Record(history.Event{Kind: history.Told, Op: "lost"})
	}}
	_, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: 9}})
	if err == nil || !strings.Contains(err.Error(),
		`no checker knows the telling "lost"; they know no tellings`) {
		t.Error(err)
	}
	s.Program = func(p *engine.Process) {
		p.Register(nil).Record(history.Event{Kind: history.Acquired, Op: "write"})
	}
	_, err = engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: 9}})
	if err == nil || !strings.Contains(err.Error(), `the mode "write"; they know read, the nearest being "read"`) {
		t.Error(err)
	}
}

// TestAnOperationThatBeginsWithinItselfIsAnError has goroutines that share an object, and one that forgets a Return.
// That another operation goes on there is none.
func TestAnOperationThatBeginsWithinItselfIsAnError(t *testing.T) {
	twice := func(p *engine.Process, o engine.Object) {
		p.Env.Go("other", func() {
			p.Step()
			o.Must("lock", func(context.Context) error { return nil })
		})
		o.Must("lock", func(context.Context) error { p.Step(); p.Step(); return nil })
	}
	for name, x := range map[string]struct {
		program func(p *engine.Process, o engine.Object)
		want    string
	}{
		"shared": {twice, `c1 begins the operation "lock" on an object on which it goes on since step `},
		"no return": {func(p *engine.Process, o engine.Object) {
			o.Invoke("lock")
			p.Step()
			o.Invoke("lock")
		}, `c1 begins the operation "lock" on an object on which it goes on since step 2; each goroutine needs an ` +
			`object of its own, and each Invoke its Return`},
		"two objects": {func(p *engine.Process, o engine.Object) {
			o.Invoke("lock")
			p.Register(nil).Must("lock", func(context.Context) error { return nil })
		}, ""},
		"two operations": {func(p *engine.Process, o engine.Object) {
			o.Must("lock", func(context.Context) error {
				return o.Must("unlock", func(context.Context) error { return nil })
			})
			o.Must("lock", func(context.Context) error { return nil })
		}, ""},
	} {
		s := engine.Scenario{Name: "my/lock", Clients: 1, Checkers: picked, Program: func(p *engine.Process) {
			x.program(p, p.Register(nil))
		}}
		_, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: 20}})
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// own is a checker as users write them: nothing is known of what it judges.
type own struct{}

func (own) Name() string                            { return "own" }
func (own) Doc() string                             { return "nothing is too bad" }
func (own) Check(*history.History) checkers.Verdict { return checkers.Verdict{} }

func TestWordsAreFreeWhereACheckerDoesNotSayWhichItKnowsOrNoneKnowsAny(t *testing.T) {
	for _, x := range [][]checkers.Checker{{own{}}, {checkers.Steps{}, own{}}, {checkers.Steps{},
		checkers.Liveness{}}, nil} {
		s := engine.Scenario{Name: "my/own", Clients: 2, Checkers: x, Program: func(p *engine.Process) {
			o := p.Register(nil)
			o.Invoke("fetch")
			o.Return("fetch", nil)
		}}
		if rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 9}}); rep.Status != engine.Held {
			t.Errorf("%v: %+v", x, rep)
		}
	}
}

func TestACheckerThatHadNothingToJudgeMakesTheResultInconclusive(t *testing.T) {
	s := wrong("trylock", "lock", "unlock", false)
	want := []string{"belief judged nothing in 500 runs: it needs Acquired events; record them with Object.Acquired",
		"linearizability judged nothing in 500 runs: it needs Acquired events; record them with Object.Acquired"}
	for _, workers := range []int{1, 2, 8} {
		rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 500}, Workers: workers})
		if rep.Status != engine.Inconclusive || !reflect.DeepEqual(rep.Gaps, want) ||
			rep.Why != strings.Join(want, "; and ") {
			t.Errorf("%d workers: %v %q", workers, rep.Status, rep.Gaps)
		}
	}
	one := wrong("trylock", "lock", "unlock", true)
	one.Clients = 1
	rep := run(t, one, engine.Options{Seeds: engine.Range{First: 1, Last: 500}})
	if rep.Status != engine.Inconclusive || !strings.HasPrefix(rep.Why,
		"belief judged nothing in 500 runs: it needs Acquired events of 2 clients; let more clients get it in one run") {
		t.Errorf("%+v", rep)
	}
}

func TestACheckerThatNeedsNothingIsNeverWithoutAnythingToJudge(t *testing.T) {
	if idle := engine.NewJudged([]checkers.Checker{checkers.Steps{}}).Idle(); len(idle) > 0 {
		t.Errorf("%q lacks %q without runs", idle[0].Checker, idle[0].Lacks)
	}
}

// TestAProgramThatDoesNothingMakesTheResultInconclusive: it loops over rounds that the scenario does not have.
func TestAProgramThatDoesNothingMakesTheResultInconclusive(t *testing.T) {
	for rounds, want := range map[int]engine.Status{0: engine.Inconclusive, 1: engine.Held} {
		s := engine.Scenario{Name: "my/rounds", Clients: 2, Rounds: rounds, Program: func(p *engine.Process) {
			for range p.Rounds {
				p.Conn.Exists("/a")
			}
		}}
		rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 500}})
		if rep.Status != want || rounds == 0 && !strings.HasPrefix(rep.Why, "liveness judged nothing in 500 runs: ") {
			t.Errorf("%d rounds: %v %s", rounds, rep.Status, rep.Why)
		}
	}
}

func TestGoalsAndNeedsAreOnlyNotedInAFewRunsOrUnderAnotherPlan(t *testing.T) {
	never := engine.Goal{Name: "a blue moon", Reached: func(*history.History) bool { return false }}
	s := engine.Scenario{Name: "test/few", Clients: 1, Program: idle, Goals: []engine.Goal{never},
		Checkers: []checkers.Checker{checkers.Belief{}}}
	for _, x := range []struct {
		s    engine.Scenario
		last uint64
		want engine.Status
	}{{s, 1, engine.Held}, {s, 499, engine.Held}, {s, 500, engine.Inconclusive},
		{s.WithPlan(faults.MustParse("none")), 500, engine.Held}} {
		rep := run(t, x.s, engine.Options{Seeds: engine.Range{First: 1, Last: x.last}})
		if rep.Status != x.want || len(rep.Missed) != 1 {
			t.Errorf("%d runs: %+v", x.last, rep)
		}
		const note = "not judged belief (it needs Acquired events; record them with Object.Acquired)"
		if told := slices.Contains(rep.Summary(), note); told != (x.want == engine.Held) {
			t.Errorf("%d runs: %q", x.last, rep.Summary())
		}
	}
	x := s.WithPlan(faults.MustParse("expire=1")) // a rule that cannot strike is a gap of that plan
	if rep := run(t, x, engine.Options{Seeds: engine.Range{First: 1, Last: 500}}); rep.Status != engine.Inconclusive {
		t.Errorf("%+v", rep)
	}
}

// TestNeedsAreMetOverTheWholeRange: one run in which all of them are met is enough, and they
// have to be met in one.
func TestNeedsAreMetOverTheWholeRange(t *testing.T) {
	program := func(queue func(id string) bool) func(p *engine.Process) {
		return func(p *engine.Process) {
			o := p.Register(nil)
			if queue(p.Env.UUID()[:1]) {
				o.Record(history.Event{Kind: history.Invoke, Op: "put", Value: 7})
				o.Record(history.Event{Kind: history.Return, Op: "put", Value: 7})
				return
			}
			o.Invoke("take")
			o.Record(history.Event{Kind: history.Return, Op: "take", Value: 7})
		}
	}
	s := engine.Scenario{Name: "test/needs", Clients: 1, Checkers: []checkers.Checker{checkers.FIFO{}},
		Program: program(func(id string) bool { return id < "8" })}
	for _, workers := range []int{1, 8} {
		rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 500}, Workers: workers})
		if want := "fifo judged nothing in 500 runs: it needs, in one run, a put without an error and an item that " +
			"take, trytake, claim or tryclaim answers"; rep.Status != engine.Inconclusive || rep.Why != want {
			t.Errorf("%d workers: %+v", workers, rep)
		}
		both := s
		both.Program = func(p *engine.Process) {
			if p.Env.UUID()[:1] == "0" {
				program(func(string) bool { return true })(p)
			}
			program(func(string) bool { return false })(p)
		}
		if rep := run(t, both, engine.Options{Seeds: engine.Range{First: 1, Last: 200},
			Workers: workers}); rep.Status != engine.Held {
			t.Errorf("%d workers: %+v", workers, rep)
		}
	}
}

// steady is a program on which faults can strike.
func steady(p *engine.Process) {
	for range 5 {
		p.Conn.Exists("/nothing")
	}
}

func TestAFaultThatCannotStrikeMakesTheResultInconclusive(t *testing.T) {
	for rules, want := range map[string]string{
		"expire=1": "expire=1 never struck in 500 runs, of which N had it in their plans: expire " +
			"needs a client without a connection, which waits for one; add disconnect=1",
		"depose=1": "depose=1 never struck in 500 runs, of which N had it in their plans: depose needs three servers",
		"stale-read=1": "stale-read=1 never struck in 500 runs, of which N had it in their plans: " +
			"stale-read needs three servers",
		"lose-reply=1@op=set": "lose-reply=1@op=set never struck in 500 runs, of which N had it in their plans: " +
			"lose-reply needs a request on its way, and its aim must fit before the faults are over",
		"cancel=2": "cancel=2 never struck in 500 runs, of which N had it in their plans: cancel " +
			"needs an operation with a context of Process.Interruptible",
		"disconnect=1":          "",
		"lose-reply=1@nth=2":    "",
		"expire=2 disconnect=2": "",
		"crash=0 disconnect=1":  "", // no rule at all
		"none":                  "",
	} {
		s := engine.Scenario{Name: "test/faults", Clients: 3, Program: steady, Faults: faults.MustParse(rules),
			Checkers: []checkers.Checker{checkers.Steps{}}}
		rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 500}})
		if want != "" {
			want = strings.Replace(want, "which N", fmt.Sprint("which ", rep.Rules[0].On), 1)
		}
		if (rep.Status == engine.Inconclusive) != (want != "") || rep.Why != want {
			t.Errorf("%s: %+v", rules, rep)
		}
		if n := len(rep.Rules); n > 0 && rules != "depose=1" && (rep.Rules[0].On < 200 || rep.Rules[0].On > 300) {
			t.Errorf("%s: %+v", rules, rep.Rules)
		}
	}
}

func TestAFaultIsOnlyNotedUntilItHadItsChances(t *testing.T) {
	s := engine.Scenario{Name: "test/faults", Clients: 3, Program: steady, Faults: faults.MustParse("expire=1"),
		Checkers: []checkers.Checker{checkers.Steps{}}}
	for _, seeds := range []engine.Range{{7, 7}, {1, 150}} {
		rep := run(t, s, engine.Options{Seeds: seeds})
		want := "expire=1 (in the plan of no run)"
		if on := rep.Rules[0].On; on > 0 {
			want = fmt.Sprintf("expire=1 (possible in 0 of %s)", history.Counted(on, "run"))
		}
		if rep.Status != engine.Held || len(rep.Gaps) > 0 || len(rep.Quiet) != 1 || rep.Quiet[0] != want {
			t.Errorf("%+v", rep)
		}
	}
	// What is possible in one run of hundreds needs more of them.
	s.Faults = faults.MustParse("late-request=1")
	if rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 500}}); rep.Status != engine.Held ||
		len(rep.Quiet) != 1 {
		t.Errorf("%+v", rep)
	}
}

func TestTheEndOfTheSequenceNumbersMustCome(t *testing.T) {
	s := lockLike("test/sequence", faults.MustParse("sequence=2@path=/lock"))
	if rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 300}}); rep.Status != engine.Held ||
		rep.Rules[0].Strikes == 0 {
		t.Errorf("%+v", rep)
	}
	s.Faults = faults.MustParse("sequence=1000@path=/lock")
	rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 300}})
	if rep.Status != engine.Inconclusive || !strings.HasSuffix(rep.Why,
		"sequence needs so many sequential znodes below its path that their numbers end") {
		t.Errorf("%+v", rep)
	}
}

func TestTheCoverageDoesNotDependOnTheNumberOfWorkers(t *testing.T) {
	for _, name := range []string{"lock/lock", "queue/queue", "lock/no-own-check", "rwlock/rwlock"} {
		var first engine.Coverage
		for _, workers := range []int{1, 2, 8} {
			rep := run(t, *catalog.Named(name), engine.Options{Seeds: engine.Range{First: 1, Last: 120}, Workers: workers})
			if workers == 1 {
				first = rep.Coverage
			} else if !reflect.DeepEqual(rep.Coverage, first) {
				t.Errorf("%s: %+v\n%+v", name, rep.Coverage, first)
			}
		}
	}
}

func TestTheSummaryCountsWhatHappened(t *testing.T) {
	plan := append(faults.MustParse("disconnect=1 lose-reply=1@op=setACL"), faults.Rule{Fault: "disconnect", Budget: 2})
	s := lockLike("my/lock", plan, "three clients in the queue")
	s.Servers = []int{1}
	rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 60}})
	r := rep.Rules[0]
	want := []string{
		"checkers   " + strings.Join(checkers.NamesOf(s.Judges()), ", "),
		fmt.Sprintf("struck     times (in runs, of those with it): disconnect %d (%d of %d)", r.Strikes, r.Hit, r.On),
		fmt.Sprintf("not struck lose-reply=1@op=setACL (possible in 0 of %d runs)", rep.Rules[1].On),
		"holders    1 at once, at most, by what their code knew",
		fmt.Sprintf("goals      three clients in the queue in %d runs", rep.Reached[0]),
	}
	if !reflect.DeepEqual(rep.Summary(), want) || len(rep.Rules) != 2 || r.Strikes <= r.Hit || r.Hit > r.On ||
		r.On > 60 || rep.Reached[0] == 0 {
		t.Errorf("%q\n%q\n%+v", rep.Summary(), want, rep)
	}
}

// TestTheHelpersRecordTheWordsOfLocks also tells refusals and cancellations from errors.
func TestTheHelpersRecordTheWordsOfLocks(t *testing.T) {
	busy := errors.New("busy")
	answers := []error{nil, recipes.ErrLocked, busy, context.Canceled, zk.ErrNoAuth}
	s := engine.Scenario{Name: "my/helpers", Clients: 1, Checkers: []checkers.Checker{checkers.Belief{}},
		Program: func(p *engine.Process) {
			o := p.Register(nil)
			for _, answer := range answers {
				held, err := o.TryLock(func(context.Context) error { return answer }, busy)
				if held != (answer == nil) || (err != nil) != (answer == zk.ErrNoAuth) {
					panic(fmt.Sprint(answer, held, err))
				}
			}
			if held, err := o.Lock(func(context.Context) error { return busy }); held || err != busy {
				panic(fmt.Sprint(held, err))
			}
			if err := o.Unlock(func(context.Context) error { return busy }); err != busy {
				panic(err)
			}
		}}
	r := engine.NewRunner()
	defer r.Close()
	var ops []string
	res := r.Seed(&s, 1)
	for _, e := range res.History.Events {
		if e.Kind == history.Return {
			ops = append(ops, fmt.Sprint(e.Op, " ", e.Err == busy && e.OK))
		}
	}
	if last := strings.Join(ops[len(ops)-2:], ", "); res.Verdict.Level != checkers.OK || len(ops) != 7 ||
		last != "lock false, unlock false" {
		t.Errorf("%+v %q", res.Verdict, ops)
	}
}
