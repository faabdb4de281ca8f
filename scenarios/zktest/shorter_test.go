package zktest_test

import (
	"strings"
	"testing"

	"zksim/scenarios"
	"zksim/scenarios/engine"
	"zksim/scenarios/zktest"
)

// answersInOrder has three clients make znodes, and says in which order they had an answer if a create has failed.
func answersInOrder(c *zktest.Cluster) {
	type answer struct {
		name string
		err  error
	}
	answers := make(chan answer)
	for _, name := range []string{"ann", "ben", "eve"} {
		conn := c.Connect()
		go func() {
			_, err := conn.Create("/"+name, nil, 0, open)
			answers <- answer{name, err}
		}()
	}
	failed := false
	var order []string
	for range 3 {
		x := <-answers
		failed, order = failed || x.err != nil, append(order, x.name)
	}
	if failed {
		c.Errorf("a create has failed, and the order was %s", strings.Join(order, " "))
	}
}

// TestWhomAnErrorNamesDoesNotMatterForAShorterRun has all failures come to the same few steps, whoever they are about.
func TestWhomAnErrorNamesDoesNotMatterForAShorterRun(t *testing.T) {
	judge := func(_ scenarios.T, s scenarios.Scenario) {
		r := engine.NewRunner()
		defer r.Close()
		const most = 3 // a connection, the request, and the fault
		shrunk := 0
		for seed := uint64(1); seed <= 8; seed++ {
			one := r.Seed(&s, seed)
			if one.Verdict.Checker == "" {
				continue
			}
			r.Names(&one)
			small, err := r.Shrink(t.Context(), &s, one.Schedule, engine.ShrinkOptions{})
			if err != nil {
				t.Fatal(err)
			}
			shrunk++
			if n := len(small.Schedule.Names); n > most {
				t.Errorf("seed %d: %d steps, expected %d at most: %s, as %s", seed, n, most, small.Schedule.Names,
					small.Verdict.Message)
			}
		}
		if shrunk == 0 {
			t.Error("no seed fails")
		}
	}
	zktest.JudgedCode(t, answersInOrder, judge, zktest.Faults("lose-request=2@op=create lose-reply=2@op=create"),
		zktest.Servers(1))
}
