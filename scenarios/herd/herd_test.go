package herd_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios"
	"zksim/scenarios/catalog/variants"
	"zksim/scenarios/engine"
	"zksim/scenarios/herd"
)

func TestRecipesKeepTheirClaims(t *testing.T) {
	for _, v := range variants.All {
		if len(v.Claims) > 0 {
			t.Run(v.Name, func(t *testing.T) {
				t.Parallel()
				scenarios.Herd(t, v, v.Claims...)
			})
		}
	}
}

func TestHerdsBreakEveryClaim(t *testing.T) {
	herds := 0
	for _, v := range variants.All {
		if len(v.Claims) > 0 {
			continue
		}
		herds++
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			all, err := herd.Series(&v)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []herd.Claim{herd.PerEvent(10), herd.Wasted(10), herd.SlopeBelow(0.8)} {
				if c.Broken(all) == "" {
					t.Errorf("%s, it seems", c.Doc)
				}
			}
			if fit := herd.FanOut(all); math.Abs(fit.Slope-1) > 0.1 || fit.Margin > 0.1 {
				t.Errorf("%+v is not proportional to the clients", fit)
			}
		})
	}
	if herds != 5 {
		t.Errorf("%d variants have no claims", herds)
	}
}

func TestTrySaysHowTheSingleNodeLockBreaksAClaim(t *testing.T) {
	v := herd.Locks("my/lock", newSingleNodeLock)
	v.Most = 40
	for want, claim := range map[string]herd.Claim{
		"4 notifications for each client that goes on, with 5 clients; at most 1 may be":         herd.PerEvent(1),
		"3 notifications in vain for each client that goes on, with 5 clients; at most 0 may be": herd.Wasted(0),
		"notifications grow as clients to the power of 1.04; it must be less than 0.1": herd.
			SlopeBelow(0.1),
		"1 notifications for each client that goes on, with 2 clients; at most NaN may be": herd.PerEvent(math.NaN()),
		"notifications grow as clients to the power of 1.04; it must be less than NaN": herd.
			SlopeBelow(math.NaN()),
	} {
		if _, broken, err := herd.Try(&v, herd.PerEvent(1000), claim); err != nil || broken != want {
			t.Errorf("%s: it says %q, not %q, %v", claim.Doc, broken, want, err)
		}
	}
	if _, _, err := herd.Try(&v, herd.PerEvent(1), herd.Claim{Doc: "mine"}); err == nil ||
		!strings.HasPrefix(err.Error(), `claim 2 of `+v.Name+` is "mine", expected one with `) {
		t.Error(err)
	}
	stays := herd.Variant{Name: "test/stays-away", Events: everybody, Program: func(p *herd.Process) {}}
	nameless := herd.Variant{Events: everybody, Program: stays.Program}
	none := herd.Variant{Name: "test/none", Events: func(n int) int { return n - 5 }, Program: stays.Program}
	for want, v := range map[string]*herd.Variant{"0 of 2 events": &stays,
		`the variant "" is not whole, expected a Program and Events; herd.Locks makes one`: {},
		"the name of a scenario is one line":                                               &nameless,
		`Events of "test/none" is -3 with 2 clients, expected how many clients go on`:      &none,
	} {
		if _, _, err := herd.Try(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

func TestNotificationsOfHerds(t *testing.T) {
	r := engine.NewRunner()
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

func measure(t *testing.T, r *engine.Runner, name string, n int, seed uint64) herd.Measurement {
	t.Helper()
	for i := range variants.All {
		if variants.All[i].Name == name {
			m, err := herd.Measure(t.Context(), r, &variants.All[i], n, seed)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
	}
	t.Fatalf("there is no %s", name)
	return herd.Measurement{}
}

func TestAMeasurementIsAFunctionOfTheSeed(t *testing.T) {
	used, fresh := engine.NewRunner(), engine.NewRunner()
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

func TestMeasureSaysWhyItFails(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	gives := herd.Variant{Name: "test/gives-up", Events: some,
		Program: func(p *herd.Process) { p.Went(fmt.Errorf("no more")) }}
	stays := herd.Variant{Name: "test/stays-away", Events: everybody, Program: func(p *herd.Process) {}}
	falls := herd.Variant{Name: "test/falls", Events: everybody, Program: func(p *herd.Process) { panic("over") }}
	for _, x := range []struct {
		v    *herd.Variant
		want string
	}{{&gives, " gave up: no more"}, {&stays, "0 of 3 events"}, {&falls, "over"}} {
		if _, err := herd.Measure(t.Context(), r, x.v, 3, 1); err == nil || !strings.Contains(err.Error(), x.want) ||
			!strings.Contains(err.Error(), x.v.Name) {
			t.Errorf("%s: %v", x.v.Name, err)
		}
	}
}

func everybody(n int) int { return n }
func some(int) int        { return 100 }

func newSingleNodeLock(p *engine.Process) herd.Locker {
	return recipes.NewSingleNodeLock(p.Conn, p.Env, p.Path(herd.Dir), recipes.LockOptions{})
}

// TestAcquiredCountsAsGoingOn: a program of one's own records Acquired in one way or another, as the doc of Program
// says, or calls Went.
func TestAcquiredCountsAsGoingOn(t *testing.T) {
	goesOn := func(when, how func(p *herd.Process)) *herd.Variant {
		return &herd.Variant{Name: "test/goes-on", Events: everybody, Most: 2, Program: func(p *herd.Process) {
			when(p)
			how(p)
			p.Settle()
		}}
	}
	acquired := func(p *herd.Process) { p.Acquired("", 0) }
	reads := func(p *herd.Process) { p.Record(history.Event{Kind: history.Acquired, Op: "read"}) }
	for _, how := range []func(p *herd.Process){acquired, reads} {
		if measured, _, err := herd.Try(goesOn((*herd.Process).Turn, how)); err != nil || measured == "" {
			t.Errorf("%q, %v", measured, err)
		}
	}
	_, _, err := herd.Try(goesOn(func(*herd.Process) {}, acquired))
	if want := "0 of 2 events happened in 11.052s, and 2 before the measurement began, see Process.Opening"; err == nil ||
		!strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, not %s", err, want)
	}
}
