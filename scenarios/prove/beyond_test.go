package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// TestARequestThatIsGivenUpIsRememberedWhereItWas searches where a client gives up a request that a server will
// never take; elsewhere the same client, in the same state, has it on its way.
func TestARequestThatIsGivenUpIsRememberedWhereItWas(t *testing.T) {
	s := catalog.Named("names/owners")
	sc, err := Bounds{Faults: s.Faults.String(), Most: 2}.Of(s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Prove(t.Context(), sc, Options{Reductions: Every, Workers: 1, States: 100_000})
	if err != nil || r.Outcome == Violated {
		t.Errorf("%v, %v", &r.Certificate, err)
	}
}

// TestWiderBoundsHaveWhatTheUsualOnesLack looks for what the bounds beyond the usual ones differ in.
func TestWiderBoundsHaveWhatTheUsualOnesLack(t *testing.T) {
	s := catalog.Named("lock/lock")
	list := Beyond(s)
	for what, in := range map[string]func(b Bounds) bool{
		"three clients":    func(b Bounds) bool { return b.Clients == 3 && b.Faults == "" },
		"numbers that end": func(b Bounds) bool { return strings.Contains(b.Faults, "sequence") },
		"every fault, and ordinary": func(b Bounds) bool {
			return strings.Contains(b.Faults, "cancel") && !strings.Contains(b.Faults, "sequence")
		},
		"slow wakes":    func(b Bounds) bool { return b.SlowWakes },
		"early timers":  func(b Bounds) bool { return b.Ticks > 0 },
		"two rounds":    func(b Bounds) bool { return b.Rounds == 2 },
		"other order":   func(b Bounds) bool { return b.Order == OtherOrder },
		"three servers": func(b Bounds) bool { return b.Servers == 3 },
	} {
		if !slices.ContainsFunc(list, in) {
			t.Errorf("no bounds have %s", what)
		}
	}
	for _, b := range list {
		if _, err := b.Of(s); err != nil || b.Most < 1 || b.Most > widestFaults {
			t.Errorf("%+v: %v", b, err)
		}
	}
	mutant := catalog.Named("lock/string-sequence")
	both := map[bool]bool{}
	for _, b := range wider(mutant) {
		sc, err := b.Of(mutant)
		if err != nil {
			t.Fatal(err)
		}
		both[strings.Contains(sc.Faults.String(), "sequence")] = true
	}
	if !both[true] || !both[false] {
		t.Errorf("a plan with sequence is not searched with it and without: %v", both)
	}
}

// TestAFaultIsSearchedByItselfBeforeTheWholePlan has a lock that says that it was cancelled, and keeps what it got
// just then: one fault is enough, but it comes between an answer and what the code makes of it.
func TestAFaultIsSearchedByItselfBeforeTheWholePlan(t *testing.T) {
	s := *catalog.Named("lock/lock")
	s.Checkers = []checkers.Checker{checkers.Quiescence{}, checkers.Tree{}}
	s.Program = func(p *engine.Process) {
		ctx, end := p.Interruptible()
		defer end()
		l := recipes.NewLock(p.Conn, p.Env, "/lock", recipes.LockOptions{})
		p.Register(l.Znodes)
		err := l.Lock(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return
		}
		if err := l.Unlock(context.Background()); err != nil {
			p.Fail(err)
		}
	}
	var first []*Attempt
	for _, workers := range []int{1, 3} {
		found, all, err := GoBeyond(t.Context(), &s, Options{Reductions: Every, Workers: workers}, 30_000)
		if err != nil || found == nil || found.Faults != "cancel=1" || found.Result.Struck != 1 {
			t.Fatalf("found %+v by %d attempts, %v, expected a violation by cancel=1", found, len(all), err)
		}
		for i, x := range all {
			if x.Faults == "stale-read=1" {
				t.Error("a fault that needs three servers counts as searched with one")
			}
			if workers > 1 && x.Result.Certificate.String() != first[i].Result.Certificate.String() {
				t.Errorf("with %d workers %s, with one %s", workers, &x.Result.Certificate, &first[i].Result.Certificate)
			}
			if x == found {
				break
			}
		}
		first = all
	}
}

// TestSimultaneousEventsComeInEitherOrder has code that hears of the end of its session by either of two watches.
func TestSimultaneousEventsComeInEitherOrder(t *testing.T) {
	for bad, order := range []uint64{1, OtherOrder} {
		s := &engine.Scenario{Name: "test/hears", Clients: 1, Faults: plan(t, "disconnect=1 expire=1"),
			Checkers: []checkers.Checker{checkers.Liveness{}}, Program: func(p *engine.Process) {
				_, _, a, err := p.Conn.ExistsW("/a")
				_, _, b, errB := p.Conn.ExistsW("/b")
				if err != nil || errB != nil {
					return
				}
				if i, _, _ := p.Env.Await(context.Background(), a, b); i == bad {
					p.Fail(fmt.Errorf("channel %d", i))
				}
			}}
		for _, bounds := range append(Beyond(s), Bounds{}) {
			sc, err := bounds.Of(s)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Prove(t.Context(), sc, Options{Reductions: Every})
			sought := sc.Order == order && sc.most() >= widestFaults
			if err != nil || sought != (r.Outcome == Violated) {
				t.Errorf("channel %d: %s, %v", bad, &r.Certificate, err)
			}
		}
	}
}

// TestTheOtherOrderTurnsTheFirstNamesRound has the first names that two clients draw.
func TestTheOtherOrderTurnsTheFirstNamesRound(t *testing.T) {
	sooner := map[uint64]bool{}
	for _, order := range []uint64{1, OtherOrder} {
		var names [3]string
		w := sim.NewWorld()
		w.Reset(sim.Config{Clients: 2, Order: order}, nil, func(c *sim.Client) { names[c.ID()] = c.Env().UUID() })
		if err := w.Run(&sim.Replay{}); err != nil {
			t.Fatal(err)
		}
		sooner[order] = names[1] < names[2]
		w.Close()
	}
	if sooner[1] == sooner[OtherOrder] {
		t.Error("the names come in one order with both")
	}
}

// TestAProofHasEveryWayToShareFaultsAmongRules loses the replies to a create and then to a set, which a plan allows
// only if the first loss counts for its second rule.
func TestAProofHasEveryWayToShareFaultsAmongRules(t *testing.T) {
	for _, faults := range []string{"lose-reply=1 lose-reply=1@op=create", "lose-reply=1@op=create lose-reply=1",
		"lose-reply=1@client=c1 lose-reply=1@op=create"} {
		s := &engine.Scenario{Name: "test/both-lost", Clients: 1, Program: func(p *engine.Process) {
			_, made := p.Conn.Create("/a", nil, 0, world)
			p.Conn.Get("/")
			_, set := p.Conn.Set("/a", nil, -1)
			p.Always("one is answered", made != zk.ErrConnectionClosed || set != zk.ErrConnectionClosed)
		}}
		sc, err := Bounds{Faults: faults}.Of(s)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Prove(t.Context(), sc, Options{Reductions: Every, Workers: 1})
		if err != nil || r.Outcome != Violated || r.Struck != 2 {
			t.Errorf("%s: %s, %v", faults, &r.Certificate, err)
		}
	}
}

func TestARuleThatCanStrikeNowhereIsNamed(t *testing.T) {
	sc := about(t, "lock/lock", "deliver-slow=1@op=setWatches handshake=1@client=c3 disconnect=1 watch-delay=0", 2)
	r, err := Prove(t.Context(), sc, Options{Reductions: Every})
	want := []string{
		"deliver-slow=1@op=setWatches: deliver-slow needs an answer on its way to simulated code, and its aim must fit " +
			"before the faults are over",
		"handshake=1@client=c3: there is no client c3, only 2"}
	if err != nil || r.Outcome != Holds || !slices.Equal(r.Unstruck, want) {
		t.Errorf("%s, not struck %q, %v", &r.Certificate, r.Unstruck, err)
	}
}

// TestOfAttemptsTheFirstThatFindsSomethingCounts has some that find something, or cannot be made, at a time.
func TestOfAttemptsTheFirstThatFindsSomethingCounts(t *testing.T) {
	attempt := func(name, plan string) *Attempt {
		return &Attempt{Scope: about(t, name, plan, 1)}
	}
	held := attempt("lock/lock", "lose-reply=1")
	one, other := attempt("lock/plain-create", "lose-reply=1"), attempt("lock/plain-create", "lose-reply=1")
	bad := attempt("lock/lock", "")
	bad.Scope.Servers = 2
	for range 10 {
		o := Options{Reductions: Every, Workers: 4}
		found, _, err := tryAll(t.Context(), []*Attempt{held, one, bad, other}, o, 3000)
		if err != nil || found != one || held.Result.Outcome != Inconclusive {
			t.Fatalf("found %v, %v; before it %s", found, err, &held.Result.Certificate)
		}
		if found, _, err := tryAll(t.Context(), []*Attempt{held, bad, one}, o, 3000); err == nil {
			t.Fatalf("found %v, and no error", found)
		}
	}
}

func TestAScopeSaysWhatIsOutside(t *testing.T) {
	whole := &engine.Scenario{Name: "x/y", Clients: 4, Rounds: 3, Servers: []int{1, 3},
		Faults: plan(t, "lose-request=1 disconnect=2 cancel=1")}
	sized, err := whole.Sized(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	sc := Scope{Scenario: &sized, Servers: 1, Order: 1, Faults: plan(t, "disconnect=2"), Most: 1}
	const want = "4 clients; 3 rounds; 3 servers; the faults lose-request, cancel; more than 1 fault in one run; " +
		"code that is slow to wake; timers that fire early; another order of names, of listings and of simultaneous events"
	if got := sc.Outside(whole); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	sc = Scope{Scenario: whole, Servers: 3, Order: 1, Faults: whole.Faults, Most: -1, SlowWakes: true, Ticks: 1}
	if got := sc.Outside(whole); got != "1 server; another order of names, of listings and of simultaneous events" {
		t.Errorf("got %s", got)
	}
}

// TestAScopeSaysWhoJudgesNothingThere has other rules than the scenario, and one of its checkers.
func TestAScopeSaysWhoJudgesNothingThere(t *testing.T) {
	whole := &engine.Scenario{Name: "x/y", Clients: 2, Servers: []int{1},
		Checkers: []checkers.Checker{checkers.Tree{}, checkers.Liveness{}},
		Finally:  func(*history.History) error { return nil },
		Faults:   plan(t, "disconnect=2 expire=2 lose-reply=2@op=create lose-request=1 cancel=1")}
	sized := whole.Without("liveness")
	sized.Finally = nil
	sc := Scope{Scenario: &sized, Servers: 1, Order: 1, Most: -1, SlowWakes: true, Ticks: 1,
		Faults: plan(t, "disconnect=2@client=c1 expire=1 lose-reply=2 lose-request=1 cancel=1@client=c2 cancel=1")}
	const want = "disconnect, expire more often or elsewhere; the checkers liveness, finally; " +
		"another order of names, of listings and of simultaneous events"
	if got := sc.Outside(whole); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestItCostsNothingToListAlways: it is judged all the same, and remembers nothing.
func TestItCostsNothingToListAlways(t *testing.T) {
	var levels [2][]Level
	for i, list := range [][]checkers.Checker{nil, {checkers.Always{}}} {
		s := &engine.Scenario{Name: "test/two", Clients: 2, Checkers: list, Program: func(p *engine.Process) {
			_, err := p.Conn.Create("/a", nil, 0, world)
			p.Always("it is there", err == nil || err == zk.ErrNodeExists)
		}}
		r, err := Prove(t.Context(), Scope{Scenario: s, Servers: 1, Order: 1}, Options{Reductions: Every})
		if err != nil || r.Outcome != Holds {
			t.Fatalf("%s, %v", &r.Certificate, err)
		}
		for _, l := range r.Levels {
			l.Digest = "" // which monitors there are counts
			levels[i] = append(levels[i], l)
		}
	}
	if !slices.Equal(levels[0], levels[1]) {
		t.Errorf("%+v, and with Always among the checkers %+v", levels[0], levels[1])
	}
}
