package sim

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// The tests of this file are schedules of what was seen of real ensembles at elections.

// lists is a program that says what is below /d, after a rest and a sync each time.
func lists(s *script, c *Client) {
	for {
		c.rests()
		_, err := c.Conn().Sync("/d")
		children, _, e := c.Conn().Children("/d")
		s.say("%s: %v, %v %v", c.Name(), err, children, e)
	}
}

func TestALeaderThatWasElectedGivesEverySessionItsWholeTimeout(t *testing.T) {
	for _, deposed := range []bool{false, true} {
		s := start(t, 3, func(s *script, c *Client) {
			c.next(c.Env().SessionEvents())
			c.next(c.Env().SessionEvents())
		}, func(s *script, c *Client) { c.Env().Sleep(context.Background(), 5*time.Second) })
		s.do("run c1", "run c2", "connect c1 s1", "run c1", "cut c1", "tick")
		s.w.Elect()
		elected := s.w.now
		if deposed { // which tells so by its own clock
			s.w.Depose(nil)
			s.do("disown c1 s2")
		} else {
			s.do("end c1")
		}
		if got := s.w.now - elected; elected == 0 || got < int64(s.w.SessionTimeout) {
			t.Errorf("deposed %v: a session ends %d ms after an election", deposed, got)
		}
	}
}

// TestWhatIsOnItsWayAtAnElectionVanishes: so it does in a session that its client has given up.
func TestWhatIsOnItsWayAtAnElectionVanishes(t *testing.T) {
	for _, x := range []struct{ givesUp, elected bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
		s := start(t, 3, creates("/d/a"))
		s.do("run c1, run c1", "connect c1 s2", "cut c1")
		name := "serve c1"
		if x.givesUp {
			s.w.clients[0].GiveUp()
			name = "late c1"
		}
		if x.elected {
			s.w.Elect()
		}
		if s.can(name) == x.elected {
			t.Errorf("%+v: %s is possible: %v", x, name, !x.elected)
		}
	}
}

func TestAnElectionCutsEverybodyAndKeepsSessions(t *testing.T) {
	s := start(t, 3, func(s *script, c *Client) {
		k := c.Conn()
		k.Create("/d/e", nil, zk.FlagEphemeral, open)
		_, _, same, _ := k.GetW("/d/e")
		_, _, ch, _ := k.GetW("/d")
		c.rests()
		_, _, err := k.Get("/d")
		s.say("%v", err)
		s.say("%s", c.next(ch))
		c.rests()
		_, stat, err := k.Get("/d/e")
		s.say("%s, mine %v %v", now(same), stat.EphemeralOwner == k.SessionID(), err)
	}, func(s *script, c *Client) {
		c.rests()
		_, _, err := c.Conn().Get("/d")
		s.say("%v", err)
		stat, err := c.Conn().Set("/d", nil, -1)
		s.say("zxid %x %v", stat.Mzxid, err)
	})
	s.do("run c1, run c2", "connect c1 s1, connect c2 s3", "serve c1, deliver c1", "serve c1, deliver c1",
		"serve c1, deliver c1")
	s.w.Elect()
	s.do("run c1, run c2", "round c1, round c2", "run c1, run c2")
	s.want("zk: could not connect to a server", "zk: could not connect to a server")
	s.do("connect c2 s2", "serve c2, deliver c2")
	s.want("zxid 200000001 <nil>")
	s.do("replicate s3", "connect c1 s3", "serve c1", "deliver c1, run c1") // what is lost shows in the next epoch
	s.want("changed /d")
	s.do("deliver c1", "run c1", "serve c1", "deliver c1", "run c1")
	s.want("silent, mine true <nil>")
}

func TestADeposedLeaderTakesAClientWhoseWriteItDoesNotHave(t *testing.T) {
	s := start(t, 3, func(s *script, c *Client) {
		c.rests()
		_, err := c.Conn().Create("/d/a", nil, 0, open)
		s.say("%v", err)
		lists(s, c)
	}, lists)
	s.do("run c1, run c2", "connect c1 s1", "connect c2 s3")
	s.w.Depose(nil)
	s.do("cut c1", "connect c1 s2", "run c1", "serve c1", "cut c1", "run c1", "connect c1 s1", "run c1")
	s.do("serve c1, deliver c1", "serve c1, deliver c1")
	s.want("zk: connection closed", "c1: <nil>, [] <nil>")
	s.do("connect c2 s2", "run c2", "serve c2, deliver c2", "serve c2, deliver c2")
	s.want("c2: <nil>, [a] <nil>")
	s.do("cut c2")
	if s.can("connect c2 s1") {
		t.Error("a client that has seen the new epoch is taken")
	}
	s.do("stepdown s1", "deliver c1", "connect c1 s2", "run c1", "serve c1, deliver c1", "serve c1, deliver c1")
	s.want("c1: <nil>, [a] <nil>")
}

func TestWhatADeposedLeaderProposesHangsAndIsLostOrKept(t *testing.T) {
	for _, kept := range []bool{false, true} {
		s := start(t, 3, creates("/d/a"), lists, lists)
		s.do("run c1, run c2, run c3", "connect c1 s1", "connect c2 s1", "run c1", "run c2")
		if kept {
			s.w.Depose(s.w.clients[0])
		} else {
			s.w.Depose(nil)
			s.do("serve c1")
		}
		s.do("serve c2") // a sync behind something outstanding
		if s.can("deliver c1") || s.can("deliver c2") {
			t.Fatal("a deposed leader answers a write, or a sync behind it")
		}
		if s.can("connect c3 s1") {
			t.Error("a deposed leader opens a session")
		}
		s.do("stepdown s1", "deliver c1", "run c1", "deliver c2", "run c2", "round c2", "run c2")
		s.want(`create "" zk: connection closed`, "c2: zk: connection closed, [] zk: could not connect to a server")
		if kept {
			s.wantMade("/d/a")
		} else {
			s.wantMade()
		}
	}
}

// TestAnExpiryIsOutstandingAtADeposedLeader: it is a txn, which nobody acknowledges, so a sync waits behind it.
func TestAnExpiryIsOutstandingAtADeposedLeader(t *testing.T) {
	for _, expires := range []bool{false, true} {
		s := start(t, 3, lists, lists)
		s.do("run c1, run c2", "connect c1 s1, connect c2 s1", "run c2")
		s.w.Depose(nil)
		if s.do("cut c1"); expires {
			s.do("round c1, disown c1 s1")
		}
		if s.do("serve c2"); s.can("deliver c2") == expires {
			t.Errorf("expired %v: the sync is answered: %v", expires, !expires)
		}
	}
}

// TestAServerThatIsCutOffTakesNobody: it has to ask the leader, for a new session and for one that there is.
func TestAServerThatIsCutOffTakesNobody(t *testing.T) {
	s := start(t, 3, lists, lists, lists)
	s.do("run c1, run c2, run c3", "connect c1 s2, connect c2 s3", "replicate s2", "freeze c1", "cut c2", "round c2")
	if s.can("connect c2 s2") || s.can("connect c3 s2") {
		t.Error("it takes a client")
	}
	s.do("thaw s2", "connect c2 s2", "connect c3 s2")
}
