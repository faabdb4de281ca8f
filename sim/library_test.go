package sim

import (
	"context"
	"regexp"
	"testing"

	"github.com/go-zookeeper/zk"
)

func TestSessionEventsTellTheNextChangeOnly(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		k, env := c.Conn(), c.Env()
		for range 5 {
			ch := env.SessionEvents()
			_, ev, _ := env.Await(context.Background(), ch)
			s.say("%s %v %s", ev.State, ev.Err, now(ch))
		}
		k.Close()
		ev := <-env.SessionEvents()
		s.say("%s %v", ev.State, ev.Err)
	})
	s.do("run c1", "run c1", "connect c1 s1", "run c1", "run c1", "cut c1", "run c1", "run c1", "end c1", "round c1",
		"connect c1 s1", "run c1", "run c1")
	s.want("StateHasSession <nil> closed", "StateDisconnected <nil> closed", "StateExpired <nil> closed")
	s.do("round c1", "connect c1 s1", "run c1", "run c1", "cut c1")
	s.rest()
	s.want("StateHasSession <nil> closed", "StateDisconnected <nil> closed", "StateDisconnected zk: zookeeper is closing")
}

func TestAChangeBeforeSessionEventsIsMissed(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		s.say("%s", c.Conn().State())
		change := c.Env().SessionEvents()
		c.rests()
		s.say("%s", now(change))
	})
	s.do("run c1", "run c1", "connect c1 s1", "run c1", "run c1")
	s.want("StateConnecting", "silent")
}

func TestACloseThatWaitsTellsSessionEventsThatItIsForGood(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		ch := c.Env().SessionEvents() // while there was no connection yet
		c.Conn().Close()
		ev := <-ch
		s.say("%s %v", ev.State, ev.Err)
	})
	s.do("run c1", "run c1")
	s.want("StateDisconnected zk: zookeeper is closing")
}

// TestASecondCloseWaitsForTheFirst has go-zookeeper's sync.Once. Seen with 3.8.0: with an answer that took 300 ms, both
// callers went on at the same time, and the ephemeral was gone.
func TestASecondCloseWaitsForTheFirst(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		k := c.Conn()
		k.Create("/d/own", nil, zk.FlagEphemeral, open)
		for _, name := range []string{"one", "two"} {
			c.Env().Go(name, func() {
				k.Close()
				s.say("%s: %s, session %v", name, k.State(), c.HasSession())
			})
		}
	})
	s.do("run c1", "connect c1 s1", "serve c1", "deliver c1", "run c1/one", "run c1/two")
	if s.can("run c1/one") {
		t.Error("the second Close takes the answer from the first")
	}
	s.rest()
	s.want("one: StateDisconnected, session false", "two: StateDisconnected, session false")
}

func TestACLsAreReadAndWritten(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		k := c.Conn()
		stat, err := k.SetACL("/d", zk.WorldACL(zk.PermRead|zk.PermAdmin), 0)
		s.say("%d %v", stat.Aversion, err)
		acl, stat, err := k.GetACL("/d")
		s.say("%v %d %v", acl, stat.Aversion, err)
		stat, err = k.Set("/d", nil, -1)
		s.say("%v %v", *stat == zk.Stat{}, err)
		_, stat, err = k.GetACL("/x")
		s.say("%v %v", *stat == zk.Stat{}, err)
		_, _, err = k.GetACL("x")
		s.say("%v", err)
	})
	s.alone("c1")
	s.want("1 <nil>", "[{17 world anyone}] 1 <nil>", "true zk: not authenticated", "true zk: node does not exist",
		"zk: invalid path")
}

func TestCredentialsSentBeforeACutCountForTheWritesBehindThem(t *testing.T) {
	for _, scheme := range []string{"digest", "bogus"} {
		s := start(t, 1, func(s *script, c *Client) {
			c.Env().Go("auth", func() { c.Conn().AddAuth(scheme, []byte("u:p")) })
			c.Env().Go("make", func() { c.Conn().Create("/d/a", nil, 0, zk.AuthACL(zk.PermAll)) })
			c.Env().Go("make", func() { c.Conn().Create("/d/b", nil, 0, open) })
		})
		s.do("run c1", "run c1/auth", "run c1/make", "run c1/make.2", "connect c1 s1", "cut c1", "serve c1")
		if scheme == "bogus" { // the server has hung up
			if s.can("serve c1") {
				t.Error("requests behind refused credentials are executed")
			}
			continue
		}
		s.do("serve c1", "serve c1")
		s.wantMade("/d/a", "/d/b")
	}
}

func TestSetWatchesNamesEachWatchOnce(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		k := c.Conn()
		_, _, a, _ := k.GetW("/d")
		_, _, b, _ := k.GetW("/d")
		_, _, e, _ := k.ExistsW("/d") // a data watch, since the znode is there
		c.rests()
		s.say("%s, %s, %s", now(a), now(b), now(e))
	}, func(s *script, c *Client) { c.Conn().Set("/d", nil, -1) })
	s.do("run c1", "connect c1 s1", "serve c1, deliver c1", "serve c1, deliver c1", "serve c1, deliver c1", "cut c1")
	s.alone("c2")
	s.do("round c1", "connect c1 s1")
	if l := s.w.clients[0].rearmed[0].req.Watches; len(l.Data) != 1 || len(l.Exist)+len(l.Child) != 0 {
		t.Errorf("lists are %+v", l)
	}
	s.do("serve c1", "deliver c1", "deliver c1", "run c1")
	s.want("changed /d, changed /d, changed /d")
}

func TestUUIDsAreAllDifferent(t *testing.T) {
	seen := map[string]bool{}
	program := func(s *script, c *Client) {
		for range 1000 {
			id := c.Env().UUID()
			if seen[id] || !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(id) {
				t.Errorf("%q is no new UUID", id)
			}
			seen[id] = true
		}
	}
	s := start(t, 1, program, program, program)
	s.rest()
	if len(seen) != 3000 {
		t.Errorf("%d UUIDs", len(seen))
	}
}
