package prove

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// TestWhatIsRememberedMakesNoDifference searches, in all scenarios, with a memo and by running the
// code for every transition, in the same order.
func TestWhatIsRememberedMakesNoDifference(t *testing.T) {
	for i, s := range examined(t) {
		limit := budget(500, 1000, 2500)
		if s.Broken() {
			limit = 500
		}
		sc := Scope{Scenario: s, Servers: smallest(s), Order: 1, Faults: s.Faults, Most: 2, SlowWakes: i%3 == 0,
			Offline: i%5 == 0, Ticks: i % 4 / 3}
		if i%2 == 0 {
			sc.Faults = plan(t, "disconnect=2 expire=1 pause=1")
		}
		var results [2]Result
		for k := range results {
			r, err := Prove(t.Context(), sc, Options{Reductions: Every, Workers: 1, States: limit, Rerun: k == 1, Doubt: 20})
			if err != nil {
				t.Error(err)
			}
			results[k] = r
		}
		a, b := &results[0], &results[1]
		if d := a.Differs(&b.Certificate); d != "" {
			t.Errorf("%s: %s", s.Name, d)
		}
		if a.Last != b.Last {
			t.Errorf("%s: %+v with a memo, and %+v", s.Name, a.Last, b.Last)
		}
	}
}

// TestWhatIsRememberedOfThreeServersMakesNoDifference searches small programs on three servers with each fault that
// only these have, with a memo and by running the code for every transition.
func TestWhatIsRememberedOfThreeServersMakesNoDifference(t *testing.T) {
	programs := []string{"write-read", "watch", "race"}
	states := map[string]int{}
	for i, faults := range []string{"depose=1", "elect=1", "disconnect=1 failover=1", "stale-read=1 disconnect=1",
		"disconnect=1 expire=1", "zombie=1", "learn-late=1 expiry-lag=1", "disconnect=1 late-request=1", "late-commit=1",
		"lose-reply=1 pause=1", "depose=1 lose-request=1"} {
		x := tinies[slices.IndexFunc(tinies, func(x tiny) bool { return x.name == programs[i%len(programs)] })]
		x.servers, x.faults = 3, faults
		sc := x.scope(t)
		sc.Offline, sc.SlowWakes = i%4 == 1, i%3 == 0
		var results [2]Result
		for k := range results {
			r, err := Prove(t.Context(), sc, Options{Reductions: Every, Workers: 1, States: 6000, Rerun: k == 1, Doubt: 10})
			if err != nil {
				t.Error(faults, err)
			}
			results[k] = r
		}
		a, b := &results[0], &results[1]
		if d := a.Differs(&b.Certificate); d != "" {
			t.Errorf("%s with %s: %s", x.name, faults, d)
		}
		if a.Last != b.Last {
			t.Errorf("%s with %s: %+v with a memo, and %+v", x.name, faults, a.Last, b.Last)
		}
		if states[faults] = a.Last.States; len(a.Levels) < 2 && a.Last.States == 0 {
			t.Errorf("%s with %s: no state with a fault", x.name, faults)
		}
	}
	t.Log(states)
}

// TestWhatIsRememberedOfAWaitThatIsGivenUp searches for waits that are given up, and made again by an object that has
// kept something of the one before.
func TestWhatIsRememberedOfAWaitThatIsGivenUp(t *testing.T) {
	r, err := Prove(t.Context(), Scope{Scenario: small(t, "barrier/barrier"), Servers: 1, Order: 1, Most: 2,
		Faults: plan(t, "disconnect=1 learn-late=1 cancel=1")}, Options{Reductions: Every, Workers: 1})
	if err != nil || r.Outcome != Holds {
		t.Errorf("%v, %v", r.Outcome, err)
	}
}

// TestCodeRunsSeldom counts the steps of code for each state of a search. The client of recipes/vain never forgets:
// behind a lost connection nothing that it does is known, and all that the server does is. Those of election/restarts
// have several connections each.
func TestCodeRunsSeldom(t *testing.T) {
	const most = 30
	for _, name := range []string{"recipes/vain", "election/restarts"} {
		sc := Scope{Scenario: small(t, name), Servers: 1, Order: 1, Faults: plan(t, "disconnect=1"), Most: 1}
		s := newSearch(&sc, Every, 1)
		if err := s.run(t.Context(), 1, []edge{{}}, func() bool { return false }); err != nil || s.refuted != nil {
			t.Fatal(err, s.refuted)
		}
		states, steps := s.states.Load(), s.taken.Load()
		t.Log(name, states, "states,", steps, "steps")
		if states < 10_000 || steps > most*states {
			t.Errorf("%s: %d steps for %d states, expected at least 10,000 states and at most %d steps for each", name, steps,
				states, most)
		}
	}
}

// TestWhatIsRememberedAfterAnElection finds out every seventh step again, in the lock on three servers, with an
// election and another fault in one run.
func TestWhatIsRememberedAfterAnElection(t *testing.T) {
	states := int64(12_000)
	if n, err := strconv.Atoi(os.Getenv("ZKSIM_STATES")); err == nil {
		states = int64(n)
	}
	for _, faults := range []string{"elect=1 lose-reply=1", "elect=1 disconnect=1 expire=1", "elect=1 crash=1",
		"elect=1 pause=1", "elect=1 learn-late=1", "elect=1 watch-delay=1", "elect=1 late-request=1", "elect=1 failover=1",
		"depose=1 disconnect=1", "depose=1 lose-reply=1", "elect=1 stale-read=1", "elect=1 zombie=1"} {
		sc := Scope{Scenario: small(t, "lock/lock"), Servers: 3, Order: 1, Faults: plan(t, faults), Most: 2}
		s := newSearch(&sc, Every, 2)
		s.doubtful, s.limit = 7, states
		if err := s.run(t.Context(), 1, []edge{{}}, func() bool { return false }); err != nil || s.refuted != nil {
			t.Errorf("%s: %v, %v", faults, err, s.refuted)
		}
		if n := s.states.Load(); n < states {
			t.Errorf("%s: only %d states", faults, n)
		}
	}
}

// stateAfter returns the state that some steps lead to.
func (w *worker) stateAfter(t *testing.T, names string) (x *state) {
	t.Helper()
	w.past.reset()
	_, err := w.runner.Explore(w.scenario, w.schedule, &sim.Replay{Names: strings.Split(names, ", "),
		Then: chooserFunc(func(world *sim.World) { x = w.read(world, 0) })})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// chooserFunc looks at a world, and ends the run.
type chooserFunc func(*sim.World)

// Choose implements [sim.Chooser].
func (f chooserFunc) Choose(w *sim.World) (sim.Transition, bool, error) {
	f(w)
	return sim.Transition{}, false, nil
}

// TestWhatWasSentInASessionThatADeposedLeaderLacks has a client with a session that began after the leader was deposed:
// when it connects to that, it is told that the session has expired, and what it has sent in it may still be executed.
// There may be nothing of it, or something; else both states are the same to the client, and to where it may connect.
func TestWhatWasSentInASessionThatADeposedLeaderLacks(t *testing.T) {
	x := tiny{name: "deposed", servers: 3, faults: "depose=1 disconnect=1", program: func(p *engine.Process) {
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
			return
		}
		p.Env.Go("read", func() { p.Conn.Get("/w") })
		p.Env.Go("write", func() { p.Conn.Create("/w/s", nil, zk.FlagSequence, world) })
	}}
	sc := x.scope(t)
	w := newWorker(newSearch(&sc, Every, 2))
	defer w.runner.Close()
	const way = "run c2, run c2/read, run c2/write, depose s1, connect c1 s2, run c1, connect c2 s2, serve c2, " +
		"disconnect c2, run c2/read, run c2/write, "
	reconnect := sim.Transition{Kind: sim.Connect, Client: 2}
	for _, last := range []string{"serve c2", "serve c1"} {
		before, after := w.stateAfter(t, way+last), w.stateAfter(t, way+last+", connect c2 s1")
		var y state
		if w.memo.recall(before, reconnect, &y, &sim.Part{}) != nil {
			if what := y.differs(after); what != "" {
				t.Errorf("after %s it is remembered otherwise: %s", last, what)
			}
		}
		w.memo.learn(before, after, reconnect, effect{}, false, w.fine)
	}
}

// TestWhatAnElectionDoesToOthersIsNotRemembered has a client that may have tried all servers in vain since the election
// before: to the servers both states are the same, and the next election gives it time again.
func TestWhatAnElectionDoesToOthersIsNotRemembered(t *testing.T) {
	sc := tiny{name: "elected", servers: 3, faults: "elect=1 depose=1", program: func(p *engine.Process) {
		if p.ID == 1 {
			p.Conn.Set("/d", []byte("x"), -1)
		}
	}}.scope(t)
	w := newWorker(newSearch(&sc, Every, 2))
	defer w.runner.Close()
	const way = "connect c1 s1, connect c2 s1, elect s2, connect c1 s2, run c1"
	depose := sim.Transition{Kind: faults.KindOf("depose"), Client: 1, Arg: 2}
	for _, tried := range []string{"", ", round c2"} {
		before, after := w.stateAfter(t, way+tried), w.stateAfter(t, way+tried+", depose c1 s2")
		var y state
		if w.memo.recall(before, depose, &y, &sim.Part{}) != nil {
			if what := y.differs(after); what != "" {
				t.Errorf("after %q it is remembered otherwise: %s", tried, what)
			}
		}
		w.memo.learn(before, after, depose, effect{}, false, w.fine)
	}
}

// TestAChoiceWithOthersBehindItIsNotRemembered has an election cut off both clients: the code of c2 goes on in the same
// step in which c1 gets its number.
func TestAChoiceWithOthersBehindItIsNotRemembered(t *testing.T) {
	sc := tiny{name: "chooses", servers: 3, faults: "elect=1", program: func(p *engine.Process) {
		if p.ID == 1 {
			p.Conn.Exists("/d")
			p.Choose(2)
		}
		p.Conn.Exists("/w")
	}}.scope(t)
	r := certify(t, sc, Options{Reductions: Every, Doubt: 1})
	again := certify(t, sc, Options{Reductions: Every, Rerun: true})
	if why := r.Certificate.Differs(&again.Certificate); why != "" || r.Outcome != Holds {
		t.Errorf("%s: %v", why, r.Certificate.String())
	}
}
