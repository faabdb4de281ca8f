package herd

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios"
	"zksim/sim"
)

func TestRecipesKeepTheirClaims(t *testing.T) {
	for _, v := range All {
		if len(v.Claims) > 0 {
			t.Run(v.Name, func(t *testing.T) {
				t.Parallel()
				Check(t, v, v.Claims...)
			})
		}
	}
}

func TestHerdsBreakEveryClaim(t *testing.T) {
	herds := 0
	for _, v := range All {
		if len(v.Claims) > 0 {
			continue
		}
		herds++
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			all, err := series(&v)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []Claim{PerEvent(10), Wasted(10), SlopeBelow(0.8)} {
				if c.Broken(all) == "" {
					t.Errorf("%s, it seems", c.Doc)
				}
			}
			if fit := FanOut(all); math.Abs(fit.Slope-1) > 0.1 || fit.Margin > 0.1 {
				t.Errorf("%+v is not proportional to the clients", fit)
			}
		})
	}
	if herds != 5 {
		t.Errorf("%d variants have no claims", herds)
	}
}

// failure is a test that only remembers what it was told.
type failure struct {
	testing.TB
	said string
}

func (f *failure) Helper()                           {}
func (f *failure) Fatalf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }

func TestCheckSaysHowTheSingleNodeLockBreaksAClaim(t *testing.T) {
	v := Locks("my/lock", newSingleNodeLock)
	v.Most = 40
	for want, claim := range map[string]Claim{
		"my/lock: 4 notifications for each client that goes on, with 5 clients; at most 1 may be":         PerEvent(1),
		"my/lock: 3 notifications in vain for each client that goes on, with 5 clients; at most 0 may be": Wasted(0),
		"my/lock: notifications grow as clients to the power of 1.04; it must be less than 0.1":           SlopeBelow(0.1),
	} {
		f := failure{}
		if Check(&f, v, PerEvent(1000), claim); f.said != want {
			t.Errorf("%s: it says %q, not %q", claim.Doc, f.said, want)
		}
	}
	f := failure{}
	stays := Variant{Name: "test/stays-away", Events: everybody, Program: func(p *Process) {}}
	if Check(&f, stays); !strings.Contains(f.said, "0 of 2 events") {
		t.Errorf("a workload that does nothing: %q", f.said)
	}
}

func TestNotificationsOfHerds(t *testing.T) {
	r := scenarios.NewRunner()
	defer r.Close()
	const n = 50
	for name, want := range map[string]float64{ // per client that goes on
		"lock/single-node":  n - 1,
		"election/smallest": n - 1,
		"leave/naive":       (n - 1) / 2.0,          // the k-th to leave wakes those before it
		"queue/all":         n,                      // the producer is another client
		"commit/all-sites":  (n-1)/2.0 + 1 + 1 + .3, // votes, to sites and the coordinator, and the decision
	} {
		m := measure(t, r, name, n, 1)
		if math.Abs(m.Notifications-want) > 1 {
			t.Errorf("%s: %.2f notifications, not about %.2f", name, m.Notifications, want)
		}
		if name != "commit/all-sites" && m.Notifications-m.Wasted > 1.05 {
			t.Errorf("%s: %.2f notifications and only %.2f in vain", name, m.Notifications, m.Wasted)
		}
		if m.Spike < 4*m.Quiet {
			t.Errorf("%s: the bystander reads in %v, and in %v when they all come", name, m.Quiet, m.Spike)
		}
	}
	if m := measure(t, r, "lock/sequential", n, 1); m.Spike > 4*m.Quiet || m.Watches != n || m.Burst != 1 {
		t.Errorf("a queue is a herd: %+v", m)
	}
}

func measure(t *testing.T, r *scenarios.Runner, name string, n int, seed uint64) Measurement {
	t.Helper()
	for i := range All {
		if All[i].Name == name {
			m, err := Measure(t.Context(), r, &All[i], n, seed)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
	}
	t.Fatalf("there is no %s", name)
	return Measurement{}
}

func TestAMeasurementIsAFunctionOfTheSeed(t *testing.T) {
	used, fresh := scenarios.NewRunner(), scenarios.NewRunner()
	defer used.Close()
	defer fresh.Close()
	first := measure(t, used, "lock/single-node", 20, 3)
	other := measure(t, used, "lock/single-node", 20, 4)
	if again := measure(t, fresh, "lock/single-node", 20, 3); again != first {
		t.Errorf("%+v, and then %+v", first, again)
	}
	if other.P50 == first.P50 || other.Notifications != first.Notifications {
		t.Errorf("with another seed %+v, with the first one %+v", other, first)
	}
}

// The tally, which goes through a history once, agrees with the checkers, which look
// back and forth. They are made for locks: a notification of a client's own change
// is the next one for them.
func TestTallyAgreesWithTheCheckers(t *testing.T) {
	r := scenarios.NewRunner()
	defer r.Close()
	for i := range All {
		v := &All[i]
		if !strings.Contains("lock rwlock election", strings.Split(v.Name, "/")[0]) {
			continue
		}
		table := newTimetable(v, 6)
		s := v.scenario(6, func(p *scenarios.Process) pace {
			table.began = p.Env.Now()
			return table
		})
		res, times := r.TimedUntil(&s, 1, sim.DefaultTiming, table.over)
		count := newTally(res.History, times, 0, 6)
		want := 0
		for k := range res.History.Events {
			count.add(&res.History.Events[k])
			if checkers.Wasted(res.History, k) {
				want++
			}
		}
		count.finish()
		m := count.m
		if count.wasted != want {
			t.Errorf("%s: %d notifications in vain, and %d for the checker", v.Name, count.wasted, want)
		}
		if m.Burst > 0 {
			within, beyond := checkers.Herd{PerEvent: m.Burst}.Check(res.History), checkers.Herd{PerEvent: m.Burst - 1}.Check(res.History)
			if within.Level != checkers.OK || beyond.Level == checkers.OK {
				t.Errorf("%s: a burst of %d, but %+v and %+v", v.Name, m.Burst, within, beyond)
			}
		}
	}
}

func TestMeasureSaysWhyItFails(t *testing.T) {
	r := scenarios.NewRunner()
	defer r.Close()
	gives := Variant{Name: "test/gives-up", Events: some, Program: func(p *Process) { p.Went(fmt.Errorf("no more")) }}
	stays := Variant{Name: "test/stays-away", Events: everybody, Program: func(p *Process) {}}
	falls := Variant{Name: "test/falls", Events: everybody, Program: func(p *Process) { panic("over") }}
	for _, x := range []struct {
		v    *Variant
		want string
	}{{&gives, " gave up: no more"}, {&stays, "0 of 3 events"}, {&falls, "over"}} {
		if _, err := Measure(t.Context(), r, x.v, 3, 1); err == nil || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), x.v.Name) {
			t.Errorf("%s: %v", x.v.Name, err)
		}
	}
}

func TestAWatchIsCountedWhileItIsSet(t *testing.T) {
	count := newTally(&history.History{}, []time.Duration{1}, 0, 1)
	for _, e := range []history.Event{
		{Kind: history.Reply, Client: 1, Op: "getW", Path: "/a"},
		{Kind: history.Reply, Client: 1, Op: "existsW", Path: "/a"}, // the same
		{Kind: history.Reply, Client: 1, Op: "childrenW", Path: "/a"},
		{Kind: history.Reply, Client: 1, Op: "get", Path: "/b"},
		{Kind: history.Notify, Client: 1, Op: "deleted", Path: "/a"},
		{Kind: history.Reply, Client: 1, Op: "childrenW", Path: "/b"},
		{Kind: history.Notify, Client: 1, Op: "changed", Path: "/b"},
		{Kind: history.Reply, Client: 1, Op: "getW", Path: "/c"},
	} {
		count.add(&e)
	}
	if count.m.Watches != 2 || len(count.watches) != 2 {
		t.Errorf("%d watches at most, %d now", count.m.Watches, len(count.watches))
	}
}
