package scenarios

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"zksim/checkers"
)

// Every program can be run by other numbers of clients and for other numbers of
// rounds. What a few clients or rounds do may miss a goal, or leave a checker without anything to judge.
func TestCorrectScenariosHoldInOtherSizes(t *testing.T) {
	last := uint64(200)
	if testing.Short() {
		last = 30
	}
	for i := range All {
		if All[i].Broken() {
			continue
		}
		for clients := 2; clients <= 5; clients++ {
			for rounds := 1; rounds <= 3; rounds++ {
				if All[i].Rounds == 0 && rounds > 1 {
					break
				}
				s, err := All[i].Sized(clients, min(rounds, All[i].Rounds*rounds))
				if err != nil {
					t.Fatal(err)
				}
				s.Goals = nil
				rep, err := Run(context.Background(), &s, Options{Seeds: Range{1, last}})
				if err != nil || !unharmed(rep) {
					t.Errorf("%s with %d clients and %d rounds: %d, %s, %+v, %v", s.Name, clients, rounds, rep.Status, rep.Why, rep.Failure.Verdict, err)
				}
			}
		}
	}
}

// A twin is caught in another size as well, and the schedule says in which.
func TestAScheduleTellsTheSizeOfItsRun(t *testing.T) {
	own := scenario(t, "lock/plain-create")
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
		rep, err := Run(context.Background(), &s, Options{Seeds: Range{1, 500}})
		if err != nil || rep.Status != Caught {
			t.Fatalf("%+v: %+v, %v", x, rep, err)
		}
		var text bytes.Buffer
		rep.Failure.Schedule.Faults = own.Faults
		rep.Failure.Schedule.Write(&text)
		if !strings.Contains(text.String(), x.want) {
			t.Errorf("no %q in\n%s", x.want, &text)
		}
		p, err := ParseSchedule(&text)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []*Scenario{own, &s} { // whichever size the scenario has now
			r := NewRunner()
			res, err := r.Replay(of, p)
			if err != nil || res.Verdict.Message != rep.Failure.Verdict.Message || res.History.Clients != s.Clients {
				t.Errorf("%+v: %+v, %v", x, res.Verdict, err)
			}
			r.Close()
		}
	}
}

func TestSizesThatCannotBe(t *testing.T) {
	lock, fanOut := scenario(t, "lock/lock"), scenario(t, "rwlock/fan-out")
	for _, x := range []struct {
		s               *Scenario
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
	r := NewRunner()
	defer r.Close()
	want := "the schedule does not fit scenario rwlock/fan-out: the program of rwlock/fan-out has no rounds"
	if _, err := r.Replay(fanOut, Schedule{Scenario: fanOut.Name, Servers: 1, Rounds: 2}); fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
	res, err := r.Replay(lock, Schedule{Scenario: lock.Name, Servers: 1, Clients: 3, Rounds: 2})
	if err != nil || res.Verdict.Level != checkers.OK || res.Schedule.Clients != 0 || res.Schedule.Rounds != 0 {
		t.Errorf("the schedule tells what the scenario says: %+v, %v", res.Schedule, err)
	}
	alone := Scenario{Name: "test/alone", Clients: 1, Program: func(*Process) {}}
	if s, err := alone.Sized(1, 0); err != nil || s.Clients != 1 {
		t.Errorf("%v", err)
	}
}
