package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/faults"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// Every program can be run by other numbers of clients and for other numbers of rounds.
func TestCorrectScenariosHoldInOtherSizes(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	r.Strategy = engine.Portfolio
	for i := range catalog.All {
		if catalog.All[i].Broken() {
			continue
		}
		for clients := 2; clients <= 5; clients++ {
			for rounds := 1; rounds <= 3; rounds++ {
				if catalog.All[i].Rounds == 0 && rounds > 1 {
					break
				}
				s, err := catalog.All[i].Sized(clients, min(rounds, catalog.All[i].Rounds*rounds))
				if err != nil {
					t.Fatal(err)
				}
				where := fmt.Sprintf("%s with %d clients and %d rounds", s.Name, clients, rounds)
				for seed := uint64(1); seed <= 15; seed++ {
					res := r.Seed(&s, seed)
					if err := s.Unfit(res.History); err != nil || res.Verdict.Level != checkers.OK {
						t.Errorf("%s, seed %d: %s, %v", where, seed, res.Verdict, err)
					}
				}
				last := r.Shown()
				if r.Seed(&s, 15); engine.Parts(last, r.Shown()) != "" {
					t.Errorf("%s: two runs of seed 15 %s", where, engine.Parts(last, r.Shown()))
				}
			}
		}
	}
}

// Clients that dial once in each round dial more often in a longer run.
func TestALongerRunMayDialMoreOften(t *testing.T) {
	dialing := 0
	for _, s := range catalog.All {
		if s.Broken() || s.Dials == 0 || s.Rounds == 0 {
			continue
		}
		dialing++
		longer, err := s.Sized(0, 3*s.Rounds)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := engine.Run(context.Background(), &longer, engine.Options{Seeds: engine.Range{First: 1, Last: 10}})
		if err != nil || rep.Status == engine.Misused || rep.Status == engine.Violation {
			t.Errorf("%s: %s, %v", s.Name, rep.Why, err)
		}
		if whole := longer.Whole(); whole.Dials != s.Dials || longer.Dials != 3*s.Dials {
			t.Errorf("%s: %d dials in %d rounds, %d in %d", s.Name, longer.Dials, longer.Rounds, whole.Dials, whole.Rounds)
		}
	}
	if dialing == 0 {
		t.Error("no scenario dials")
	}
}

// A mutant is caught in another size as well, and the schedule says in which.
func TestAScheduleTellsTheSizeOfItsRun(t *testing.T) {
	own := catalog.Named("lock/plain-create")
	for _, x := range []struct {
		clients, rounds int
		want            string
	}{
		{2, 1, "clients 2\nrounds 1\n"}, {5, 0, "clients 5\nseed"}, {0, 4, "\nrounds 4\n"}, {3, 2, "lose-reply=2\nseed"},
	} {
		s, err := own.Sized(x.clients, x.rounds)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: 500}})
		if err != nil || rep.Status != engine.Caught {
			t.Fatalf("%+v: %+v, %v", x, rep, err)
		}
		var text bytes.Buffer
		rep.Failure.Schedule.Faults = own.Faults
		rep.Failure.Schedule.Write(&text)
		if !strings.Contains(text.String(), x.want) {
			t.Errorf("no %q in\n%s", x.want, &text)
		}
		p, err := engine.ParseSchedule(&text)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []*engine.Scenario{own, &s} { // whichever size the scenario has now
			r := engine.NewRunner()
			res, err := r.Replay(of, p)
			if err != nil || res.Verdict.Message != rep.Failure.Verdict.Message || res.History.Clients != s.Clients {
				t.Errorf("%+v: %+v, %v", x, res.Verdict, err)
			}
			r.Close()
		}
	}
}

func TestSizesThatCannotBe(t *testing.T) {
	lock, fanOut := catalog.Named("lock/lock"), catalog.Named("rwlock/fan-out")
	for _, x := range []struct {
		s               *engine.Scenario
		clients, rounds int
		want            string
	}{
		{lock, 1, 0, "the number of clients is from 2 to 64, not 1"},
		{lock, 65, 0, "the number of clients is from 2 to 64, not 65"},
		{lock, -1, 0, "the number of clients is from 2 to 64, not -1"},
		{lock, 0, -1, "the number of rounds is from 1 to 1000, not -1"},
		{lock, 0, 1001, "the number of rounds is from 1 to 1000, not 1001"},
		{fanOut, 0, 1, "the program of rwlock/fan-out has no rounds"},
	} {
		if _, err := x.s.Sized(x.clients, x.rounds); fmt.Sprint(err) != x.want {
			t.Errorf("%v, want %s", err, x.want)
		}
	}
	r := engine.NewRunner()
	defer r.Close()
	want := "the schedule does not fit scenario rwlock/fan-out: the program of rwlock/fan-out has no rounds"
	if _, err := r.Replay(fanOut, engine.Schedule{Scenario: fanOut.Name, Servers: 1, Rounds: 2}); fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
	res, err := r.Replay(lock, engine.Schedule{Scenario: lock.Name, Servers: 1, Clients: 3, Rounds: 2})
	if err != nil || res.Verdict.Level != checkers.OK || res.Schedule.Clients != 0 || res.Schedule.Rounds != 0 {
		t.Errorf("the schedule tells what the scenario says: %+v, %v", res.Schedule, err)
	}
	alone := engine.Scenario{Name: "test/alone", Clients: 1, Program: func(*engine.Process) {}}
	if s, err := alone.Sized(1, 0); err != nil || s.Clients != 1 {
		t.Errorf("%v", err)
	}
}

// The limit of steps is a limit against livelock, so it must leave a larger run the steps that it needs.
func TestALargerRunMayHaveMoreSteps(t *testing.T) {
	s, err := catalog.Named("lock/lock").Sized(3, 400)
	if err != nil {
		t.Fatal(err)
	}
	r := engine.NewRunner()
	defer r.Close()
	if res := r.Seed(&s, 3); res.Verdict.Level != checkers.OK || res.Steps <= sim.UsualMaxSteps {
		t.Errorf("%d steps: %+v", res.Steps, res.Verdict)
	}
	own := engine.Scenario{Name: "test/own", Clients: 3, Rounds: 2}
	for _, x := range []struct {
		maxSteps, clients, rounds int
		want                      int
		capped                    bool
	}{
		{0, 3, 2, 20_000, false}, {0, 3, 3, 30_000, false}, {0, 6, 4, 80_000, false}, {0, 2, 1, 20_000, false},
		{0, 2, 4, 26_666, false}, {600, 3, 4, 1200, false}, {0, 6, 1, 20_000, false}, {0, 64, 1000, 1 << 20, true},
		{math.MaxInt32, 64, 1000, math.MaxInt32, false},
	} {
		own.MaxSteps = x.maxSteps
		if limit, capped := own.StepLimit(x.clients, x.rounds); limit != x.want || capped != x.capped {
			t.Errorf("%+v: %d, %v", x, limit, capped)
		}
	}
}

// A run that does not come to rest is livelock in any size, unless its limit is above
// what any run may have.
func TestARunThatIsGivenUpIsLivelockOnlyBelowTheCap(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	s := engine.Scenario{Name: "test/spin", Clients: 2, Rounds: 1, MaxSteps: 50,
		Checkers: []checkers.Checker{checkers.Steps{}}, Program: func(p *engine.Process) {
			for {
				p.Step()
			}
		}}
	for _, x := range []struct {
		clients, rounds, steps int
		level                  checkers.Level
		message                string
	}{
		{2, 1, 50, checkers.Violated, "still busy at the step limit"},
		{4, 10, 1000, checkers.Violated, "still busy at the step limit"},
		{64, 1000, 1 << 20, checkers.Unknown, "the run was given up after 1048576 steps, the most that any"},
	} {
		sized, err := s.Sized(x.clients, x.rounds)
		if err != nil {
			t.Fatal(err)
		}
		res := r.Seed(&sized, 1)
		if v := res.Verdict; res.Steps != x.steps || v.Level != x.level || !strings.HasPrefix(v.Message, x.message) {
			t.Errorf("%+v: %d steps, %+v", x, res.Steps, v)
		}
	}
}

// TestARunThatIsGivenUpEarlyHasTimeToComeToRest has a program that ends when nothing has gone wrong for a while: while
// faults strike again and again it does not.
func TestARunThatIsGivenUpEarlyHasTimeToComeToRest(t *testing.T) {
	s := engine.Scenario{Name: "test/early", Clients: 1, MaxSteps: 400, Faults: faults.MustParse("disconnect=1000"),
		Checkers: []checkers.Checker{checkers.Steps{}}, Program: func(p *engine.Process) {
			for good := 0; good < 40; good++ {
				if _, _, err := p.Conn.Exists("/it"); err != nil {
					good = 0
				}
			}
		}}
	if rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 100}}); rep.Status != engine.Held {
		t.Errorf("%v: %s", rep.Status, rep.Failure.Verdict.Message)
	}
}
