package sim

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
)

// The tests of this file compare what the client of a server like ClickHouse Keeper meets with what ZooKeeper does.

var bothLikes = []model.Like{model.ZooKeeper, model.Keeper}

// TestAKeeperGivesAnotherSession reconnects a client that owns a znode and waits for another.
func TestAKeeperGivesAnotherSession(t *testing.T) {
	for _, like := range bothLikes {
		t.Run(like.String(), func(t *testing.T) {
			s := startLike(t, like, 1, func(s *script, c *Client) {
				c.Conn().Create("/d/own", nil, zk.FlagEphemeral, open)
				_, _, changed, _ := c.Conn().GetW("/d")
				before := c.Conn().SessionID()
				c.next(c.Env().SessionEvents())
				c.next(c.Env().SessionEvents())
				exists, stat, err := c.Conn().Exists("/d/own")
				s.say("same %v, own %v, there %v %v, watch %s", before == c.Conn().SessionID(),
					exists && stat.EphemeralOwner == c.Conn().SessionID(), exists, err, now(changed))
				c.Conn().Set("/d", nil, -1)
				s.say("watch %s", c.next(changed))
			})
			s.alone("c1")
			s.do("cut c1")
			s.alone("c1")
			restored := like == model.ZooKeeper
			s.want(fmt.Sprintf("same %v, own %v, there true <nil>, watch silent", restored, restored),
				"watch changed /d")
			if s.can("lapse c1") == restored {
				t.Errorf("a session can end that the client has not any more: %v", !restored)
			}
			if restored {
				return
			}
			s.do("lapse c1")
			for _, e := range s.w.History.Events {
				if e.Kind == history.Session && e.Op == zk.StateExpired.String() {
					t.Error("the client was told that its session has expired")
				}
			}
			if s.w.leader().store.HasSession(s.w.clients[0].session - 1) {
				t.Error("the former session goes on")
			}
			if !slices.ContainsFunc(s.w.History.Events, func(e history.Event) bool {
				return e.Kind == history.Deleted && e.Path == "/d/own"
			}) {
				t.Error("the znode of the former session is still there")
			}
		})
	}
}

// TestASessionThatAKeeperForgetsLivesForATime looks at when it ends: not while code could still act on the loss of the
// connection, and not before a third of the timeout is over.
func TestASessionThatAKeeperForgetsLivesForATime(t *testing.T) {
	s := startLike(t, model.Keeper, 1, func(s *script, c *Client) {
		c.Conn().Create("/d/own", nil, zk.FlagEphemeral, open)
		c.next(c.Env().SessionEvents())
		s.say("told")
		c.next(c.Env().SessionEvents())
		c.rests()
		c.next(c.Env().SessionEvents())
	})
	s.alone("c1")
	s.do("cut c1")
	at := s.w.now
	s.do("run c1", "round c1")
	s.want("told")
	if s.can("lapse c1") || s.can("expire c1") {
		t.Error("the session can end before the client has another, but for a fault")
	}
	s.do("connect c1 s1")
	if s.can("lapse c1") {
		t.Error("the session can end while code has something to do")
	}
	s.alone("c1")
	s.do("lapse c1")
	if late := s.w.now - at; late < int64(s.w.SessionTimeout)/3 {
		t.Errorf("the session ends after %d ms", late)
	}
	if s.can("lapse c1") {
		t.Error("it ends twice")
	}
}

// TestAKeeperExecutesWhatItHasReceivedInAFormerSession reconnects a client whose create is on its way.
func TestAKeeperExecutesWhatItHasReceivedInAFormerSession(t *testing.T) {
	for _, like := range bothLikes {
		s := startLike(t, like, 1, creates("/d/a"))
		s.do("run c1, run c1", "connect c1 s1", "cut c1")
		for s.try("run c1") {
		}
		s.do("round c1", "connect c1 s1")
		if like == model.ZooKeeper {
			if s.can("late c1") || s.can("serve c1") {
				t.Error("what came by an earlier connection is executed")
			}
			continue
		}
		s.do("late c1")
		made := func(z model.Znode) bool { return z.Path == "/d/a" }
		if !slices.ContainsFunc(s.w.leader().store.Znodes(), made) || s.can("late c1") || !s.can("lapse c1") {
			t.Errorf("after late c1: %q", s.possible())
		}
	}
}

// TestASessionThatHasEndedIsNotMissedAtAKeeper reconnects a client whose session is over.
func TestASessionThatHasEndedIsNotMissedAtAKeeper(t *testing.T) {
	for _, like := range bothLikes {
		t.Run(like.String(), func(t *testing.T) {
			s := startLike(t, like, 1, func(s *script, c *Client) {
				_, _, changed, _ := c.Conn().GetW("/d")
				c.next(c.Env().SessionEvents())
				c.rests()
				s.say("watch %s, session %v", now(changed), c.Conn().State())
			})
			s.alone("c1")
			s.do("cut c1", "run c1", "end c1", "round c1", "connect c1 s1")
			if like == model.ZooKeeper {
				s.alone("c1")
				s.want("watch unwatched /d: zk: session has been expired by the server, session StateConnecting")
				return
			}
			if s.can("lapse c1") {
				t.Error("a session can end that is over")
			}
			s.alone("c1")
			s.want("watch silent, session StateHasSession")
		})
	}
}

// TestWhatAKeeperTellsOfChildrenAfterAReconnect creates or deletes a child while the one that waits for that has no
// connection.
func TestWhatAKeeperTellsOfChildrenAfterAReconnect(t *testing.T) {
	for _, created := range []bool{true, false} {
		for _, like := range bothLikes {
			t.Run(fmt.Sprintf("%v created %v", like, created), func(t *testing.T) {
				s := startLike(t, like, 1, func(s *script, c *Client) {
					_, _, changed, _ := c.Conn().ChildrenW("/d")
					c.rests()
					s.say("%s", now(changed))
				}, func(_ *script, c *Client) {
					if created {
						c.rests()
						c.Conn().Create("/d/a", nil, 0, open)
					} else {
						c.Conn().Create("/d/a", nil, 0, open)
						c.rests()
						c.Conn().Delete("/d/a", -1)
					}
				})
				s.do("run c2", "connect c2 s1")
				if !created {
					s.do("serve c2", "deliver c2")
				}
				s.do("run c1", "connect c1 s1", "serve c1", "deliver c1", "cut c1")
				s.alone("c2")
				s.do("round c1", "connect c1 s1", "serve c1", "deliver c1")
				for s.try("deliver c1") {
				}
				s.do("run c1")
				if like == model.Keeper {
					s.want("silent")
				} else {
					s.want("child /d")
				}
			})
		}
	}
}

// TestADeposedKeeperTakesNobody asks where a client can connect to after the leader was deposed.
func TestADeposedKeeperTakesNobody(t *testing.T) {
	for _, like := range bothLikes {
		s := startLike(t, like, 3, creates("/d/a"))
		s.do("run c1", "connect c1 s1")
		s.w.Depose(nil)
		s.do("cut c1", "round c1")
		for name, want := range map[string]bool{"connect c1 s1": like == model.ZooKeeper, "connect c1 s2": true,
			"disown c1 s1": like == model.ZooKeeper} {
			if s.can(name) != want {
				t.Errorf("%v: %q is possible: %v", like, name, !want)
			}
		}
	}
}
