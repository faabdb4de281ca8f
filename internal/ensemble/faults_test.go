package ensemble_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/ensemble"
	"zksim/internal/zkserver"
	"zksim/internal/zkserver/zkservertest"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

func strike(t *testing.T, e *zkserver.Ensemble, s *engine.Scenario, plan string, seed uint64,
	session time.Duration) *ensemble.LiveRun {
	t.Helper()
	p, err := faults.ParseReal(plan)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	r, err := ensemble.RunLive(ctx, s, ensemble.LiveOptions{Servers: e.Addrs(), Ours: e, Faults: p, Seed: seed,
		Session: session})
	if err != nil {
		if a := (*ensemble.Aborted)(nil); errors.As(err, &a) {
			t.Logf("%s", strings.Join(a.Diary, "\n"))
		}
		t.Fatal(err)
	}
	return r
}

// kinds counts the events of each kind.
func kinds(h *history.History) map[history.Kind]int {
	n := map[history.Kind]int{}
	for i := range h.Events {
		n[h.Events[i].Kind]++
	}
	return n
}

// Nothing strikes. Of two leases one is free, and a client waits until the other one ends as well.
func TestOnRealServersIsJudgedWhatHoldsWhenNothingElseCanHappen(t *testing.T) {
	e := zkservertest.Start(t, zkserver.Options{Servers: 1, MinSessionTimeout: time.Second})
	const want = "waits in its acquire when nothing but time can pass, although only 1 of 2 are taken"
	r := strike(t, e, catalog.Named("semaphore/nearest-lease"), "none", 1, 2*time.Second)
	if r.Verdict.Checker != "waits" || !strings.Contains(r.Verdict.Message, want) {
		t.Errorf("%+v, expected that somebody %s", r.Verdict, want)
	}
	r = strike(t, e, catalog.Named("semaphore/idle"), "none", 1, 2*time.Second)
	rests := 0
	for _, x := range r.History.Events {
		if x.Kind == history.Told && x.Op == checkers.ToldRest {
			rests++
		}
	}
	if r.Verdict.Level != checkers.OK || rests == 0 {
		t.Errorf("%+v, %d were at rest, expected some", r.Verdict, rests)
	}
}

// A member is told that it is one again by code that knows that it has no connection.
func TestOnRealServersIsJudgedWhatCodeHasHeard(t *testing.T) {
	e := zkservertest.Start(t, zkserver.Options{Servers: 1, MinSessionTimeout: time.Second})
	s := lockLike("test/heard", 1, func(p *engine.Process) {
		o := p.Register(nil)
		p.Conn.Create(p.Path("/lock/a"), nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)) // whose answer is lost
		for change := p.Env.SessionEvents(); p.Conn.State() == zk.StateHasSession; change = p.Env.SessionEvents() {
			p.Env.Await(context.Background(), change)
		}
		o.Acquired("/lock/a", 1)
		o.Released()
	})
	s.Checkers = []checkers.Checker{checkers.Claim{}}
	const want = "c1 claims the lock by /lock/a after it was told that it is disconnected"
	r := strike(t, e, &s, "lose-reply=1@op=create,nth=1", 1, 2*time.Second)
	if r.Verdict.Message != want || kinds(r.History)[history.Heard] == 0 {
		t.Errorf("%+v, expected %s", r.Verdict, want)
	}
}

// A barrier is opened while c1 waits for it, which sleeps until nothing goes on and gives up then.
func TestOnRealServersIsJudgedWhoGivesUpWhatHasCome(t *testing.T) {
	e := zkservertest.Start(t, zkserver.Options{Servers: 1, MinSessionTimeout: time.Second})
	looked, opened := make(chan bool), make(chan bool)
	s := *catalog.Named("barrier/barrier")
	s.Name, s.Clients, s.Checkers = "test/deaf", 2, []checkers.Checker{checkers.Passage{}}
	s.Program = func(p *engine.Process) {
		o := p.Register(nil)
		if p.ID == 2 {
			<-looked //zksim:ignore only on a real ensemble
			o.Invoke("release")
			_, err := p.Conn.Create(p.Path("/open"), nil, 0, zk.WorldACL(zk.PermAll))
			o.Return("release", err)
			close(opened)
			return
		}
		o.Invoke("wait")
		p.Conn.Exists(p.Path("/open"))
		_, _, event, _ := p.Conn.ExistsW(p.Path("/open"))
		close(looked)
		<-opened //zksim:ignore only on a real ensemble
		p.Env.Await(context.Background(), event)
		p.Env.Sleep(context.Background(), 100*time.Millisecond)
		o.Record(history.Event{Kind: history.Told, Op: "impatient"})
		o.Return("wait", context.Canceled)
	}
	const want = "c1 gave up waiting, although the barrier had been open after it had looked"
	if r := strike(t, e, &s, "none", 1, 2*time.Second); r.Verdict.Message != want {
		t.Errorf("%+v, expected %s", r.Verdict, want)
	}
}

// Code that has made its znode lists what there is, in another session that it knows nothing of. When it asks before
// the library has read the end of the connection, its request is lost there, and the run shows nothing.
func TestASessionEndsBetweenAnAnswerAndTheNextRequest(t *testing.T) {
	e := zkservertest.Start(t, zkserver.Options{Servers: 3, MinSessionTimeout: time.Second})
	var said string
	s := lockLike("test/between", 1, func(p *engine.Process) {
		p.Register(nil)
		_, err := p.Conn.Create(p.Path("/lock/a"), nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		list, _, failed := p.Conn.Children(p.Path("/lock"))
		said = fmt.Sprint(err, list, failed)
	})
	const want = "<nil> [] <nil>"
	lost := fmt.Sprint(nil, []string(nil), zk.ErrConnectionClosed)
	for seed := uint64(1); said != want; seed++ {
		r := strike(t, e, &s, "deliver-close=1@op=create,nth=1", seed, 2*time.Second)
		if said != want && (said != lost || seed == 20) || r.Verdict.Level == checkers.Violated {
			t.Fatalf("seed %d: %s, expected %s\n%+v\n%s", seed, said, want, r.Verdict, strings.Join(r.Diary, "\n"))
		}
	}
}

func TestARealRunWithFaultsHasTheHistoryOfASimulatedOne(t *testing.T) {
	e := zkservertest.Start(t, zkserver.Options{Servers: 1, MinSessionTimeout: time.Second})
	r := strike(t, e, catalog.Named("lock/lock"), "lose-reply=1@op=create,nth=1,client=c1 "+
		"expire=1@op=delete,nth=1,client=c2 learn-late=1@op=delete,nth=1,client=c1", 3, 1500*time.Millisecond)
	if r.Verdict.Level != checkers.OK || r.Store != "" {
		t.Errorf("%+v, %s\n%s", r.Verdict, r.Store, strings.Join(r.Diary, "\n"))
	}
	drawn := 0
	for i, rule := range r.Plan {
		drawn += rule.Budget
		if rule.Budget > 0 && r.Struck[i] != rule.Budget {
			t.Errorf("%v struck %d times", rule, r.Struck[i])
		}
	}
	h := r.History
	n := kinds(h)
	if !h.Txns || n[history.Calm] != 1 || n[history.Fault] != drawn || n[history.Created] < 2 ||
		n[history.Deleted] != n[history.Created]-1 || // the folder stays
		n[history.Session] == 0 {
		t.Errorf("txns %v, %v", h.Txns, n)
	}
	calls := map[int32]int{}
	for i := range h.Events { // a txn is between the request and what tells of it
		switch e := &h.Events[i]; e.Kind {
		case history.Call:
			calls[e.Client]++
		case history.Created:
			if calls[e.Client] == 0 && e.Client > 0 {
				t.Errorf("%v, before its client has asked for anything", e)
			}
		case history.Reply:
			for _, later := range h.Events[i:] {
				if later.Kind == history.Created && later.Zxid <= e.Zxid {
					t.Errorf("%v, after an answer that shows zxid %#x", later, e.Zxid)
				}
			}
		}
	}
}

func TestTheSameSeedStrikesTheSameRequests(t *testing.T) {
	e := zkservertest.Start(t, zkserver.Options{Servers: 1, MinSessionTimeout: time.Second})
	s := *catalog.Named("counter/counter")
	var first []string
	for range 2 {
		r := strike(t, e, &s, "lose-reply=2@nth=2 disconnect=2 lose-request=1", 5, 1500*time.Millisecond)
		var struck []string
		for _, line := range r.Diary {
			if _, what, ok := strings.Cut(line, "s "); ok && strings.Contains(line, "at c") {
				what, _, _ = strings.Cut(what, ", ")
				struck = append(struck, what)
			}
		}
		slices.Sort(struck)
		if first == nil {
			first = struck
		}
		if !slices.Equal(first, struck) || len(struck) == 0 {
			t.Errorf("%q, and then %q", first, struck)
		}
	}
}

func TestAClientThatWaitsForeverIsFoundWaiting(t *testing.T) {
	e := zkservertest.Start(t, zkserver.Options{Servers: 1, MinSessionTimeout: time.Second})
	s := lockLike("test/forever", 2, func(p *engine.Process) {
		l := recipes.NewLock(p.Conn, p.Env, p.Path("/lock"), recipes.LockOptions{})
		p.Register(nil)
		l.Lock(context.Background()) // and nobody unlocks
	})
	r := strike(t, e, &s, "none", 1, time.Second)
	if r.Verdict.Checker != "quiescence" || !strings.Contains(r.Verdict.Message, "which no recipe object knows of") {
		t.Errorf("%+v", r.Verdict)
	}
}

func TestAMutantThatALostReplyWakesIsCaughtOnARealServer(t *testing.T) {
	e := zkservertest.Start(t, zkserver.Options{Servers: 1, MinSessionTimeout: time.Second})
	// go-zookeeper waits for a second before it connects again, and with the session the znode would go.
	r := strike(t, e, catalog.Named("lock/plain-create"), "lose-reply=1@op=create,nth=1", 1, 3*time.Second)
	if r.Verdict.Level != checkers.Violated || !slices.Contains([]string{"quiescence", "tree"}, r.Verdict.Checker) {
		t.Errorf("%+v\n%s", r.Verdict, strings.Join(r.Diary, "\n"))
	}
}

func TestALeaderThatWasDeposedIsSurvived(t *testing.T) {
	if testing.Short() {
		t.Skip("an election takes seconds")
	}
	e := zkservertest.Start(t, zkserver.Options{Servers: 3, Links: true, TickTime: 300 * time.Millisecond,
		MaxSessionTimeout: 10 * time.Second})
	r := strike(t, e, catalog.Named("lock/lock"), "depose=1@op=delete,nth=1", 1, 10*time.Second)
	if r.Verdict.Level != checkers.OK || r.Store != "" || r.Struck[0] != 1 {
		t.Errorf("%+v, %s\n%s", r.Verdict, r.Store, strings.Join(r.Diary, "\n"))
	}
	epochs := map[int64]bool{}
	for i := range r.History.Events {
		if e := &r.History.Events[i]; e.Kind == history.Created {
			epochs[e.Zxid>>32] = true
		}
	}
	if len(epochs) != 2 {
		t.Errorf("the znodes are of %d epochs\n%s", len(epochs), strings.Join(r.Diary, "\n"))
	}
}
