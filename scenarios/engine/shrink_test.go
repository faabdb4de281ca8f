package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model/history"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// TestEveryMutantShrinksToAMinimalSchedule shrinks the first catch of each mutant: the
// same checker still finds it for the same reason, and without any single name,
// client, round or fault it does not, or the rest does not fit.
func TestEveryMutantShrinksToAMinimalSchedule(t *testing.T) {
	var lengths []int
	for i := range catalog.All {
		s := &catalog.All[i]
		if !s.Broken() {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			small := shrunk(t, s)
			names := small.Schedule.Names
			lengths = append(lengths, len(names))
			struck := 0
			for _, e := range small.History.Events {
				if e.Kind == history.Fault {
					struck++
				}
			}
			clients, rounds := s.Size(&small.Schedule)
			t.Logf("%s in %d steps of %d, %d clients, %d rounds, %d faults: %s; %d runs", small.Verdict.Checker,
				len(names), small.Steps, clients, rounds, struck, small.Schedule.Faults, small.Attempts)
			if struck > 2 && s.Notes().Number <= 36 {
				t.Errorf("it takes %d faults", struck)
			}
			for what, p := range reductions(s, small.Schedule) {
				if failsAlike(s, p, small.Verdict) && !mayFailAnyway(s, p, small.Verdict) {
					t.Errorf("%s can be left out", what)
				}
			}
		})
	}
	slices.Sort(lengths)
	if median := lengths[len(lengths)/2]; median > 25 {
		t.Errorf("the median of the lengths is %d", median)
	}
}

// reductions are the schedules with one thing less, by that thing.
func reductions(s *engine.Scenario, from engine.Schedule) map[string]engine.Schedule {
	clients, rounds := s.Size(&from)
	all := map[string]engine.Schedule{}
	for i, name := range from.Names {
		p := from
		p.Names = slices.Delete(slices.Clone(p.Names), i, i+1)
		all[fmt.Sprintf("%q, the %d. of %d,", name, i+1, len(from.Names))] = p
	}
	for c := clients; c > 0 && clients > engine.MinClients; c-- {
		p := from
		p.Clients, p.Names, p.Faults = clients-1, engine.NamesWithout(p.Names, c), p.Faults.Without(c)
		all[fmt.Sprintf("c%d", c)] = p
	}
	if rounds > 1 {
		p := from
		p.Rounds = rounds - 1
		all["a round"] = p
	}
	for i, rule := range from.Faults {
		p := from
		p.Faults = slices.Delete(slices.Clone(p.Faults), i, i+1)
		all["the rule "+rule.String()] = p
		if rule.Budget > 1 {
			p.Faults = slices.Clone(from.Faults)
			p.Faults[i].Budget--
			all["one "+rule.Fault] = p
		}
	}
	return all
}

func failsAlike(s *engine.Scenario, p engine.Schedule, v checkers.Verdict) bool {
	r := engine.NewRunner()
	defer r.Close()
	res, err := r.Replay(s, p)
	return err == nil && res.Verdict.Level == checkers.Violated && res.Verdict.Checker == v.Checker &&
		engine.Reason(res.Verdict.Message) == engine.Reason(v.Message)
}

// mayFailAnyway reports whether a run of the size of p fails with nothing prescribed.
func mayFailAnyway(s *engine.Scenario, p engine.Schedule, v checkers.Verdict) bool {
	p.Names, p.Faults = nil, nil
	r := engine.NewRunner()
	defer r.Close()
	res, err := r.Replay(s, p)
	return err == nil && res.Verdict.Checker == v.Checker
}

// shrunk returns the shrunk first catch of a mutant.
func shrunk(t *testing.T, s *engine.Scenario) engine.Shrunk {
	t.Helper()
	rep, err := engine.Run(context.Background(), s, engine.Options{Seeds: engine.Range{First: 1, Last: 6000}})
	if err != nil || rep.Status != engine.Caught {
		t.Fatal(rep.Status, err)
	}
	r := engine.NewRunner()
	defer r.Close()
	small, err := r.Shrink(t.Context(), s, rep.Failure.Schedule, engine.ShrinkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if small.Cut != "" {
		t.Errorf("%s after %d runs", small.Cut, small.Attempts)
	}
	was, now := rep.Failure.Verdict, small.Verdict
	if now.Checker != was.Checker || engine.Reason(now.Message) != engine.Reason(was.Message) {
		t.Errorf("now %s: %s, was %s: %s", now.Checker, now.Message, was.Checker, was.Message)
	}
	return small
}

func TestNamesWithoutAClient(t *testing.T) {
	names := []string{"run c1", "connect c2 s1", "run c10/worker c2", "tick", "replicate s2", "lose-reply c3", "run c2/x"}
	want := []string{"run c1", "run c9/worker c2", "tick", "replicate s2", "lose-reply c2"}
	if got := engine.NamesWithout(names, 2); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	p, err := faults.Parse("expire=1@client=c1 crash=2@client=c2 pause=3@client=c3 cancel=4")
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Without(2).String(); got != "expire=1@client=c1 pause=3@client=c2 cancel=4" {
		t.Error(got)
	}
}

// lonely is violated when a fault has struck, and whenever there are few clients.
type lonely struct{}

func (lonely) Name() string { return "lonely" }
func (lonely) Doc() string  { return "all are there" }
func (lonely) Check(h *history.History) checkers.Verdict {
	if h.Clients >= 3 && !slices.ContainsFunc(h.Events, func(e history.Event) bool { return e.Kind == history.Fault }) {
		return checkers.Verdict{}
	}
	return checkers.Verdict{Level: checkers.Violated, Checker: "lonely", Message: "somebody is not there"}
}

// A run that fails just because few clients are there does not show the bug.
func TestNoClientIsLeftOutWhoseAbsenceAloneFails(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	s := engine.Scenario{Name: "test/lonely", Clients: 4, Faults: faults.MustParse("lose-reply=1"),
		Checkers: []checkers.Checker{lonely{}},
		Program:  func(p *engine.Process) { p.Conn.Exists("/") }}
	rep, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: 100}})
	if err != nil || rep.Status != engine.Violation {
		t.Fatalf("%+v, %v", rep, err)
	}
	small, err := r.Shrink(t.Context(), &s, rep.Failure.Schedule, engine.ShrinkOptions{})
	if clients, _ := s.Size(&small.Schedule); err != nil || clients != 3 || len(small.Schedule.Names) != 3 {
		t.Errorf("%d clients, %q, %v", clients, small.Schedule.Names, err)
	}
}

// Whatever ends it, shrinking returns a schedule that fails in the same way, and says that it may not be minimal.
func TestShrinkingThatIsCutShortReturnsTheSmallestSoFar(t *testing.T) {
	s := catalog.Named("lock/plain-create")
	rep, err := engine.Run(context.Background(), s, engine.Options{Seeds: engine.Range{First: 1, Last: 500}})
	if err != nil || rep.Status != engine.Caught {
		t.Fatal(rep.Status, err)
	}
	full := rep.Failure.Schedule
	shrink := func(ctx context.Context, o engine.ShrinkOptions) engine.Shrunk {
		r := engine.NewRunner()
		defer r.Close()
		small, err := r.Shrink(ctx, s, full, o)
		if err != nil || !failsAlike(s, small.Schedule, rep.Failure.Verdict) {
			t.Fatalf("%+v, %v", small, err)
		}
		return small
	}
	whole := shrink(t.Context(), engine.ShrinkOptions{})
	if whole.Cut != "" || whole.Attempts < 10 {
		t.Fatalf("%d runs, %q", whole.Attempts, whole.Cut)
	}
	for _, attempts := range []int{1, whole.Attempts / 4, whole.Attempts - 1} {
		some := shrink(t.Context(), engine.ShrinkOptions{Attempts: attempts})
		if want := "given up after " + history.Counted(attempts, "run"); some.Cut != want || some.Attempts != attempts {
			t.Errorf("%d runs: %q, want %q", some.Attempts, some.Cut, want)
		}
	}
	if exactly := shrink(t.Context(), engine.ShrinkOptions{Attempts: whole.Attempts}); exactly.Cut != "" {
		t.Errorf("%q although nothing was left to try", exactly.Cut)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	shown := 0
	stopped := shrink(ctx, engine.ShrinkOptions{Progress: func(attempts, left int) {
		if shown = left; attempts == whole.Attempts/2 {
			cancel()
		}
	}})
	if stopped.Cut != "interrupted" || stopped.Attempts != whole.Attempts/2 || len(stopped.Schedule.Names) != shown ||
		shown >= len(full.Names) {
		t.Errorf("%q after %d of %d runs, %d steps, shown %d", stopped.Cut, stopped.Attempts, whole.Attempts,
			len(stopped.Schedule.Names), shown)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if none := shrink(ctx, engine.ShrinkOptions{}); none.Cut != "interrupted" ||
		len(none.Schedule.Names) != len(full.Names) {
		t.Errorf("%q, %d steps", none.Cut, len(none.Schedule.Names))
	}
}

// What fails in the second round is found in a run that has one, although the steps of both rounds do not fail there.
func TestAFailureInALaterRoundShrinksToOneRound(t *testing.T) {
	s := engine.Scenario{Name: "my/late", Clients: 2, Rounds: 2, Faults: faults.Contract(),
		Checkers: []checkers.Checker{checkers.Liveness{}},
		Program: func(p *engine.Process) {
			var last error
			for range p.Rounds {
				_, _, last = p.Conn.Exists("/")
			}
			if last != nil {
				p.Fail(last)
			}
		}}
	r := engine.NewRunner()
	defer r.Close()
	names := []string{"connect c1 s1", "run c1", "serve c1", "deliver c1", "disconnect c1"}
	plan, err := faults.Parse("disconnect=1")
	if err != nil {
		t.Fatal(err)
	}
	small, err := r.Shrink(t.Context(), &s, engine.Schedule{Scenario: s.Name, Servers: 1, Faults: plan, Names: names},
		engine.ShrinkOptions{})
	want := []string{"connect c1 s1", "run c1", "disconnect c1"}
	if _, rounds := s.Size(&small.Schedule); err != nil || rounds != 1 || !slices.Equal(small.Schedule.Names, want) {
		t.Errorf("%d rounds, %q, %v", rounds, small.Schedule.Names, err)
	}
}
