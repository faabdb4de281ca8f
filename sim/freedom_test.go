package sim

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
)

// The tests of this file show that the simulator can do what a real ensemble may do: one schedule for each freedom.

// watchD is a program that says what happens to the children of /d.
func watchD(s *script, c *Client) {
	_, _, ch, err := c.Conn().ChildrenW("/d")
	s.say("%s watches %v", c.Name(), err)
	s.say("%s hears %s", c.Name(), c.next(ch))
	children, _, err := c.Conn().Children("/d")
	s.say("%s sees %d %v", c.Name(), len(children), err)
}

func makeA(s *script, c *Client) {
	_, err := c.Conn().Create("/d/a", nil, 0, open)
	s.say("%s made %v", c.Name(), err)
}

func TestL1AnEventMayComeBeforeOrAfterTheWritersAnswer(t *testing.T) {
	for _, x := range [][]string{
		{"deliver c2", "deliver c1", "run c1", "c2 made <nil>", "c1 hears child /d"},
		{"deliver c1", "run c1", "deliver c2", "c1 hears child /d", "c2 made <nil>"},
	} {
		s := start(t, 1, watchD, makeA)
		s.do("run c1", "run c2", "connect c1 s1", "connect c2 s1", "serve c1", "deliver c1", "serve c2")
		s.do(x[0], x[1], x[2])
		s.want("c1 watches <nil>", x[3], x[4])
	}
}

func TestL2TwoSessionsLearnOfTheSameChangesAtDifferentTimes(t *testing.T) {
	s := start(t, 3, watchD, makeA, watchD)
	s.do("run c1", "run c2", "run c3", "connect c1 s1", "connect c3 s3", "serve c1", "serve c3", "deliver c1",
		"deliver c3")
	s.lines = nil
	s.do("connect c2 s1", "serve c2", "deliver c1", "run c1", "serve c1", "deliver c1")
	s.want("c1 hears child /d", "c1 sees 1 <nil>")
	s.do("replicate s3", "replicate s3", "deliver c3", "run c3")
	s.want("c3 hears child /d")
}

func TestL3ChangesBetweenAnEventAndTheNextWatchAreMerged(t *testing.T) {
	s := start(t, 1, watchD, creates("/d/a", "/d/b"))
	s.do("run c1", "connect c1 s1", "serve c1", "deliver c1")
	s.alone("c2")
	s.lines = nil
	s.alone("c1")
	s.want("c1 hears child /d", "c1 sees 2 <nil>")
}

func TestL4AFollowerAnswersFromThePast(t *testing.T) {
	s := start(t, 3, func(s *script, c *Client) {
		children, _, err := c.Conn().Children("/d")
		s.say("%d %v", len(children), err)
		c.Conn().Sync("/d")
		children, _, err = c.Conn().Children("/d")
		s.say("%d %v", len(children), err)
	}, makeA)
	s.do("run c1", "run c2", "connect c1 s2", "connect c2 s1", "freeze c1", "serve c2", "deliver c2")
	s.do("serve c1", "deliver c1", "serve c1") // the sync waits
	s.want("c2 made <nil>", "0 <nil>")
	if s.can("deliver c1") || s.can("replicate s2") {
		t.Error("the sync is answered by a server that is cut off")
	}
	s.do("thaw s2", "replicate s2", "replicate s2", "deliver c1", "serve c1", "deliver c1")
	s.want("1 <nil>")
}

func TestL5AConnectionMayBeLostAtFourPointsOfARequest(t *testing.T) {
	for _, x := range []struct {
		point string
		do    []string
		said  string
		made  []string
	}{
		{"before the server", []string{"drop c1", "run c1"}, `create "" zk: connection closed`, nil},
		{"reached, not proposed", []string{"cut c1", "run c1", "round c1", "connect c1 s1"},
			`create "" zk: connection closed`, nil},
		{"committed, reply lost", []string{"serve c1", "cut c1", "run c1"}, `create "" zk: connection closed`,
			[]string{"/d/a"}},
		{"reply delivered", []string{"serve c1", "deliver c1", "cut c1"}, `create "/d/a" <nil>`, []string{"/d/a"}},
	} {
		t.Run(x.point, func(t *testing.T) {
			s := start(t, 1, creates("/d/a"))
			s.do("run c1, run c1", "connect c1 s1")
			s.do(x.do...)
			s.want(x.said)
			s.rest()
			s.wantMade(x.made...)
		})
	}
}

func TestL5OfPipelinedRequestsAPrefixIsExecuted(t *testing.T) {
	for executed := range 4 {
		s := start(t, 1, func(s *script, c *Client) {
			for i := range 3 {
				c.Env().Go(fmt.Sprint(i), func() { c.Conn().Create(fmt.Sprint("/d/", i), nil, 0, open) })
			}
		})
		s.do("run c1", "run c1/0", "run c1/1", "run c1/2", "connect c1 s1", "cut c1")
		for range executed {
			s.do("serve c1")
		}
		s.do("round c1", "connect c1 s1")
		s.rest()
		s.wantMade([]string{"/d/0", "/d/1", "/d/2"}[:executed]...)
	}
}

// createThenLook creates, and on a lost connection looks for what it made.
func createThenLook(s *script, c *Client) {
	_, err := c.Conn().Create("/d/n-", nil, zk.FlagEphemeralSequential, open)
	s.say("%v", err)
	for range 2 {
		children, _, err := c.Conn().Children("/d")
		s.say("%v %v", children, err)
	}
}

func TestL6AWriteInFlightBecomesVisibleAfterItsAbsenceWasRead(t *testing.T) {
	s := start(t, 3, createThenLook)
	s.do("run c1", "connect c1 s2", "replicate s3", "serve c1", "cut c1", "connect c1 s3", "run c1", "serve c1",
		"deliver c1")
	s.want("zk: connection closed", "[] <nil>")
	s.do("replicate s3", "serve c1", "deliver c1")
	s.want("[n-0000000000] <nil>")
}

func TestL6ButNotOnTheServerThatTheWriteWentThrough(t *testing.T) {
	for _, late := range []bool{false, true} {
		s := start(t, 3, createThenLook)
		s.do("run c1", "connect c1 s2")
		if late {
			s.do("cut c1", "serve c1")
		} else {
			s.do("serve c1", "cut c1")
		}
		s.do("round c1", "connect c1 s2", "run c1")
		if s.can("serve c1") {
			t.Fatal("a read overtakes the session's own write")
		}
		s.do("replicate s2", "serve c1", "deliver c1")
		s.want("zk: connection closed", "[n-0000000000] <nil>")
	}
}

func TestL6AndNotThereAfterADetour(t *testing.T) {
	s := start(t, 3, func(s *script, c *Client) {
		c.Conn().Create("/d/a", nil, 0, open)
		c.Conn().Create("/d/b", nil, 0, open)
		children, _, err := c.Conn().Children("/d")
		s.say("%v %v", children, err)
	})
	s.do("run c1", "connect c1 s2", "serve c1", "cut c1", "run c1", "connect c1 s3", "serve c1", "cut c1", "run c1")
	s.do("connect c1 s2")
	if s.can("serve c1") {
		t.Fatal("a read overtakes the session's own write, since it has made another one elsewhere")
	}
	s.do("replicate s2", "serve c1", "deliver c1")
	s.want("[a] <nil>")
}

func TestL7AfterAReconnectEventsAreMergedOrMissing(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		k := c.Conn()
		_, _, a, _ := k.GetW("/d/a")
		_, _, b, _ := k.ExistsW("/d/b")
		_, _, up, _ := k.ChildrenW("/d")
		c.rests()
		s.say("%s, %s, %s", now(a), now(b), now(up))
	}, func(s *script, c *Client) {
		k := c.Conn()
		k.Create("/d/a", nil, 0, open)
		c.rests()
		for _, p := range []string{"/d/a", "/d/b"} {
			k.Delete(p, -1)
			k.Create(p, nil, 0, open)
		}
		k.Delete("/d/b", -1)
	})
	s.do("run c2", "connect c2 s1", "serve c2", "deliver c2", "run c1", "connect c1 s1")
	s.do("serve c1, deliver c1", "serve c1, deliver c1", "serve c1, deliver c1", "cut c1")
	s.alone("c2")
	s.do("round c1", "connect c1 s1", "serve c1")
	for s.try("deliver c1") {
	}
	s.do("run c1")
	s.want("changed /d/a, silent, child /d")
}

func TestL8AnEventDoesNotKeepAClientFromOlderData(t *testing.T) {
	s := start(t, 3, func(s *script, c *Client) {
		_, _, ch, _ := c.Conn().ChildrenW("/d")
		s.say("hears %s", c.next(ch))
		c.rests()
		children, _, err := c.Conn().Children("/d")
		s.say("sees %d %v", len(children), err)
	}, makeA)
	s.do("run c1", "run c2", "connect c1 s1", "replicate s3", "serve c1", "deliver c1", "connect c2 s1", "serve c2")
	s.do("deliver c1", "run c1", "cut c1", "run c1", "connect c1 s3", "serve c1", "deliver c1")
	s.want("hears child /d", "sees 0 <nil>")
}

func TestL9AZombieSeesItsOwnLockAfterAnotherHasTakenIt(t *testing.T) {
	s := start(t, 3, func(s *script, c *Client) {
		k := c.Conn()
		k.Create("/d/lock", nil, zk.FlagEphemeral, open)
		_, stat, err := k.Exists("/d/lock")
		s.say("mine: %v %v", stat.EphemeralOwner == c.session, err)
		_, err = k.Set("/d/lock", nil, -1)
		s.say("%v", err)
	}, func(s *script, c *Client) {
		_, err := c.Conn().Create("/d/lock", nil, zk.FlagEphemeral, open)
		s.say("taken: %v", err)
	})
	s.do("run c1", "run c2", "connect c1 s2", "connect c2 s1", "serve c1", "replicate s2", "replicate s2", "deliver c1")
	s.do("freeze c1", "end c1", "serve c2", "deliver c2", "serve c1", "deliver c1")
	s.want("taken: <nil>", "mine: true <nil>")
	s.do("serve c1") // the write is not executed
	s.do("thaw s2", "replicate s2", "deliver c1", "run c1")
	s.want("zk: connection closed")
	if _, stat := s.owner("/d/lock"); stat.Version != 0 {
		t.Error("the write of a dead session was executed")
	}
}

// owner returns a znode at the leader.
func (s *script) owner(path string) (int64, zk.Stat) {
	for _, z := range s.w.leader().store.Tree() {
		if z.Path == path {
			return z.Stat.EphemeralOwner, z.Stat
		}
	}
	return 0, zk.Stat{}
}

func TestL11AServerThatLagsRefusesAClientThatHasSeenMore(t *testing.T) {
	s := start(t, 3, creates("/d/a"))
	s.do("run c1, run c1", "connect c1 s1", "serve c1", "deliver c1")
	s.try("cut c1")
	if s.can("connect c1 s2") {
		t.Error("s2 has applied nothing")
	}
	s.do("replicate s2", "replicate s2")
	if !s.can("connect c1 s2") {
		t.Error("s2 has applied all that the client has seen")
	}
}

func TestL12ChildrenComeInAnyOrder(t *testing.T) {
	orders := map[string]bool{}
	for order := range uint64(60) {
		w := NewWorld()
		w.Reset(Config{Clients: 1, Order: order}, nil, func(c *Client) {
			children, _, _ := c.Conn().Children("/d")
			orders[fmt.Sprint(children)] = true
		})
		for _, p := range []string{"/d", "/d/a", "/d/b", "/d/c"} {
			w.Prepare(model.Request{Op: model.OpCreate, Path: p, ACL: open})
		}
		if err := w.Run(&Replay{}); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	if len(orders) != 6 {
		t.Errorf("orders seen: %v", orders)
	}
}

// TestOfSimultaneousEventsAnyMayComeFirst ends three watches in one step. What was ready when code began to wait comes
// in the order in which code names it, always.
func TestOfSimultaneousEventsAnyMayComeFirst(t *testing.T) {
	drawn := map[int]bool{}
	for order := range uint64(FirstDrawn + 60) {
		var heard, found int
		w := NewWorld()
		w.Reset(Config{Clients: 1, Order: order}, nil, func(c *Client) {
			var chans []<-chan zk.Event
			for _, p := range []string{"/b", "/c", "/a"} {
				_, _, ch, _ := c.Conn().ExistsW(p)
				chans = append(chans, ch)
			}
			c.Env().Go("close", c.Conn().Close)
			heard, _, _ = c.Env().Await(context.Background(), chans...)
			chans = append(chans[:heard], chans[heard+1:]...)
			found, _, _ = c.Env().Await(context.Background(), chans...)
		})
		if err := w.Run(&Replay{}); err != nil {
			t.Fatal(err)
		}
		w.Close()
		switch {
		case found != 0:
			t.Errorf("order %d: of two that were ready that of index %d won", order, found)
		case order >= FirstDrawn:
			drawn[heard] = true
		case heard != 0 && order&Backward == 0 || heard != 2 && order&Backward != 0:
			t.Errorf("order %d: the event of index %d won", order, heard)
		}
	}
	if len(drawn) != 3 {
		t.Errorf("which came first: %v", drawn)
	}
}

func TestM10ASessionDoesNotEndBeforeItsTimeout(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		lost := c.Env().SessionEvents()
		c.Env().Await(context.Background(), lost)
		began := c.Env().Now()
		c.Env().Sleep(context.Background(), 3*time.Second) // for so long the lock is certainly held
		s.say("gives up after %v", c.Env().Now().Sub(began))
		c.next(c.Env().SessionEvents())
		s.say("session gone after %v", c.Env().Now().Sub(began))
	})
	s.do("run c1", "run c1", "connect c1 s1", "cut c1", "run c1", "run c1")
	if c := s.w.clients[0]; !c.Unaware() {
		t.Fatal("the session could end while its client still counts on it")
	}
	s.do("tick", "run c1", "run c1", "run c1")
	s.want("gives up after 3s")
	if c := s.w.clients[0]; c.Unaware() {
		t.Fatal("the session cannot end although its client has given up")
	}
	s.do("end c1", "round c1", "connect c1 s1", "run c1", "run c1")
	s.want("session gone after 3.333s")
}
