package sim

import (
	"context"
	"slices"
	"testing"
	"time"

	"zksim/model"
)

// fingerprints runs two clients, each of which creates and deletes a znode,
// through a schedule, and returns the fingerprint after each step.
func fingerprints(t *testing.T, names ...string) []uint64 {
	t.Helper()
	w := NewWorld()
	defer w.Close()
	w.Reset(Config{Clients: 2, Order: 1}, nil, func(c *Client) {
		k := c.Conn()
		p, _ := k.Create("/d/n-", nil, 2, open)
		k.Delete(p, -1)
	})
	w.Prepare(model.Request{Op: model.OpCreate, Path: "/d", ACL: open})
	ch := &Replay{Names: names}
	var out []uint64
	for range names {
		tr, _, err := ch.Choose(w)
		if err != nil {
			t.Fatal(err)
		}
		w.perform(tr)
		out = append(out, w.Fingerprint())
	}
	w.conclude(0)
	return out
}

func last(list []uint64) uint64 { return list[len(list)-1] }

// TestEqualStatesHaveEqualFingerprints takes steps that do not concern each other
// in two orders.
func TestEqualStatesHaveEqualFingerprints(t *testing.T) {
	a := fingerprints(t, "connect c1 s1", "connect c2 s1", "run c1", "run c2", "serve c1", "deliver c1", "serve c2")
	b := fingerprints(t, "connect c1 s1", "connect c2 s1", "run c2", "run c1", "serve c1", "serve c2", "deliver c1")
	if last(a) != last(b) {
		t.Errorf("%x and %x", last(a), last(b))
	}
}

// TestDifferentStatesHaveDifferentFingerprints takes steps of which each changes
// something, and two orders of creates that differ in who has which number.
func TestDifferentStatesHaveDifferentFingerprints(t *testing.T) {
	seen := map[uint64]int{}
	for i, x := range fingerprints(t, "run c1", "connect c1 s1", "serve c1", "deliver c1", "serve c1", "deliver c1",
		"connect c2 s1") {
		if k, ok := seen[x]; ok {
			t.Errorf("steps %d and %d end in the same", k, i)
		}
		seen[x] = i
	}
	both := []string{"connect c1 s1", "connect c2 s1", "run c1", "run c2"}
	a := fingerprints(t, append(both, "serve c1", "serve c2")...)
	b := fingerprints(t, append(both, "serve c2", "serve c1")...)
	if last(a) == last(b) {
		t.Error("who was first makes no difference")
	}
}

// TestWhoWaitsIsPartOfTheState has two goroutines that wait for a connection with the same request.
func TestWhoWaitsIsPartOfTheState(t *testing.T) {
	var prints []uint64
	for _, order := range [...]string{"run c1/a, run c1/b", "run c1/b, run c1/a"} {
		s := start(t, 1, func(s *script, c *Client) {
			for _, name := range [...]string{"a", "b"} {
				c.Env().Go(name, func() { c.Conn().Exists("/d") })
			}
		})
		s.w.Detail.Forget = true
		s.do("run c1", order)
		prints = append(prints, s.w.Fingerprint())
	}
	if prints[0] == prints[1] {
		t.Error("it makes no difference who is served first")
	}
}

// TestASlowAnswerIsPartOfTheState lets code take an answer before the connection ends and then let others move, or not
// take it until then.
func TestASlowAnswerIsPartOfTheState(t *testing.T) {
	var prints []uint64
	for _, slow := range [...]bool{false, true} {
		s := start(t, 1, func(s *script, c *Client) {
			c.Conn().Get("/d")
			c.Env().Yield()
			c.Conn().Set("/d", nil, -1)
		})
		s.w.Detail.Forget = true
		s.do("connect c1 s1", "run c1", "serve c1")
		if slow {
			s.w.Client(1).DeliverSlow()
		} else {
			s.do("deliver c1")
		}
		s.do("end c1", "deliver c1")
		prints = append(prints, s.w.Fingerprint())
	}
	if prints[0] == prints[1] {
		t.Error("it makes no difference whether code has taken the answer")
	}
}

// TestTheDeadlineOfAContextThatHasEndedIsPartOfTheState makes contexts at two times, and ends them, by a tick or by
// cancel, before it is the same time again: code can still ask for their deadlines.
func TestTheDeadlineOfAContextThatHasEndedIsPartOfTheState(t *testing.T) {
	for _, x := range [...]struct {
		limit       time.Duration
		early, late string
	}{
		{time.Second / 2, "run c2, run c2, tick, tick, run c1, tick, run c2",
			"run c2, tick, run c1, run c2, tick, tick, run c2"},
		{time.Hour, "run c2, run c2, tick, run c1, tick, run c2", "run c2, tick, run c1, run c2, tick, run c2"},
	} {
		var prints []uint64
		var ends []string
		for _, order := range [...]string{x.early, x.late} {
			s := start(t, 1, func(s *script, c *Client) {
				c.Env().Sleep(context.Background(), time.Second)
				c.Env().Sleep(context.Background(), time.Second)
			}, func(s *script, c *Client) {
				c.rests()
				ctx, cancel := c.Env().WithTimeout(context.Background(), x.limit)
				c.rests()
				cancel()
				c.rests()
				end, _ := ctx.Deadline()
				ends = append(ends, end.String())
			})
			s.w.Detail.Forget = true
			s.do("run c1", order)
			prints = append(prints, s.w.Fingerprint())
			s.do("run c2")
		}
		if ends[0] == ends[1] {
			t.Errorf("limit %v: both have the deadline %s", x.limit, ends[0])
		}
		if prints[0] == prints[1] {
			t.Errorf("limit %v: deadlines %v are one state", x.limit, ends)
		}
	}
}

func setsData(s *script, c *Client) { c.Conn().Set("/d", []byte("x"), -1) }

// TestTimeMovesOnAtTheEndOfASession has a session end that cannot end yet: the time is part of the state, and the
// parts of the others stay as they are.
func TestTimeMovesOnAtTheEndOfASession(t *testing.T) {
	s := start(t, 1,
		func(s *script, c *Client) {
			ctx, cancel := c.Env().WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			_, _, ch, _ := c.Conn().ExistsW("/d/x")
			c.Env().Await(ctx, ch)
		},
		setsData, setsData)
	s.do("connect c1 s1", "connect c2 s1", "connect c3 s1", "run c1", "serve c1", "deliver c1", "cut c2", "cut c3")
	keys := func() (list []uint64) {
		for _, c := range s.w.clients {
			var p Part
			c.Part(&p)
			list = append(list, p.Key())
		}
		return list
	}
	before, print := keys(), s.w.Fingerprint()
	s.w.clients[1].Expire()
	if !slices.Equal(keys(), before) {
		t.Error("the parts have changed")
	}
	if now := s.w.Now(); now != int64(s.w.SessionTimeout)/3 || s.w.Fingerprint() == print {
		t.Errorf("it is %d ms", now)
	}
}

// TestServersAndClientsHaveOneClock compares the time that code is told with that of a znode which it makes.
func TestServersAndClientsHaveOneClock(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		c.Env().Sleep(context.Background(), 1500*time.Millisecond)
		c.Conn().Create("/d/x", nil, 0, open)
		_, stat, _ := c.Conn().Exists("/d/x")
		s.say("%v", c.Env().Now().Sub(time.UnixMilli(stat.Ctime)))
	})
	s.rest()
	s.want("0s")
}

// TestSinceWhenADeposedLeaderHasHeardNothingIsPartOfTheState cuts a connection at two times before an election, which
// gives the session the same time again: the leader that was deposed knows nothing of that.
func TestSinceWhenADeposedLeaderHasHeardNothingIsPartOfTheState(t *testing.T) {
	var prints []uint64
	var times []int64
	for _, order := range [...]string{"cut c1, tick", "tick, cut c1"} {
		s := start(t, 3, setsData, func(s *script, c *Client) { c.Env().Sleep(context.Background(), time.Second) })
		s.do("connect c1 s2", "run c1", "serve c1", "run c2", order)
		s.w.Depose(nil)
		prints = append(prints, s.w.Fingerprint())
		s.do("disown c1 s1")
		times = append(times, s.w.Now())
	}
	if times[0] == times[1] {
		t.Errorf("both are told at %d ms", times[0])
	}
	if prints[0] == prints[1] {
		t.Errorf("they are told at %v ms, and are one state", times)
	}
}
