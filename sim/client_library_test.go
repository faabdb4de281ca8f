package sim

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// The tests of this file are the facts of go-zookeeper v1.0.4 that its users
// meet; the names in brackets are the recordings of the real client.

// creates is a program that creates paths one after the other, after a rest
// each.
func creates(paths ...string) program {
	return func(s *script, c *Client) {
		for _, p := range paths {
			c.rests()
			got, err := c.Conn().Create(p, nil, 0, open)
			s.say("create %q %v", got, err)
		}
	}
}

func TestARequestOnTheWireFailsAtOnceWhenTheConnectionIsCut(t *testing.T) {
	for _, x := range []struct {
		name string
		do   []string
		made []string
	}{
		{"lost before the server (g03)", []string{"drop c1"}, nil},
		{"executed, answer lost (g02)", []string{"serve c1", "cut c1"}, []string{"/d/a"}},
		{"executed after the caller was told (g15)", []string{"cut c1", "serve c1"}, []string{"/d/a"}},
		{"executed never, though it could be", []string{"cut c1", "round c1", "connect c1 s1"}, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := start(t, 1, creates("/d/a"))
			s.do("run c1", "connect c1 s1", "run c1")
			s.do(x.do...)
			s.do("run c1")
			s.want(`create "" zk: connection closed`)
			s.rest()
			s.wantMade(x.made...)
		})
	}
}

func TestARequestQueuedWhileDisconnectedIsSentAfterTheReconnect(t *testing.T) {
	s := start(t, 3, creates("/d/a"))
	s.do("run c1", "connect c1 s1", "cut c1", "run c1", "connect c1 s2", "serve c1", "replicate s2", "replicate s2")
	s.do("deliver c1")
	s.want(`create "/d/a" <nil>`)
}

func TestWithOneServerEveryReconnectBeginsWithErrNoServer(t *testing.T) {
	s := start(t, 1, creates("/d/a", "/d/b"))
	s.do("run c1", "connect c1 s1", "cut c1", "run c1")
	if s.can("connect c1 s1") {
		t.Error("it reconnects without a round (g04)")
	}
	s.do("round c1", "run c1")
	s.want(`create "" zk: could not connect to a server`)
	s.do("run c1") // issued during the second of back-off
	s.do("connect c1 s1", "serve c1", "deliver c1")
	s.want(`create "/d/b" <nil>`)
	s.wantMade("/d/b")
}

func TestWithThreeServersErrNoServerComesOnlyAfterARound(t *testing.T) {
	s := start(t, 3, creates("/d/a"))
	s.do("run c1", "connect c1 s2", "cut c1", "run c1")
	for name, want := range map[string]bool{"connect c1 s1": true, "connect c1 s3": true, "connect c1 s2": false} {
		if s.can(name) != want { // the server just left comes last
			t.Errorf("%q possible: %v", name, !want)
		}
	}
	s.do("round c1", "run c1")
	s.want(`create "" zk: could not connect to a server`)
	if !s.can("connect c1 s2") {
		t.Error("after a round every server can be next")
	}
}

func TestASessionThatExpiredIsReplacedSilently(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		k := c.Conn()
		_, _, ch, err := k.GetW("/d")
		old := k.SessionID()
		s.say("watch %v", err)
		s.say("%s", c.next(ch))
		s.say("session %d %s", k.SessionID(), k.State())
		_, err = k.Create("/d/e", nil, zk.FlagEphemeral, open)
		s.say("create %v, same session %v", err, k.SessionID() == old)
	})
	s.do("run c1", "connect c1 s1", "serve c1", "deliver c1", "run c1", "cut c1", "end c1")
	s.want("watch <nil>")
	if s.w.clients[0].lastZxid == 0 {
		t.Fatal("no zxid seen")
	}
	s.do("round c1", "connect c1 s1")
	if z := s.w.clients[0].lastZxid; z != 0 {
		t.Errorf("lastZxid is %d after the expiry", z)
	}
	s.do("run c1", "run c1", "run c1")
	s.want("unwatched /d: zk: session has been expired by the server", "session 0 StateConnecting")
	s.do("round c1", "connect c1 s1", "run c1", "run c1")
	s.rest()
	s.want("create zk: could not connect to a server, same session false") // g06: queued before the second round
}

func TestAGhostWriteRunsUnderTheNextSession(t *testing.T) {
	s := start(t, 3, func(s *script, c *Client) {
		c.rests()
		p, err := c.Conn().Create("/d/ghost", nil, zk.FlagEphemeral, open)
		s.say("create %q %v", p, err)
	})
	s.do("run c1", "connect c1 s1", "replicate s2", "replicate s3")
	old := s.w.clients[0].session
	s.do("cut c1", "run c1", "end c1", "connect c1 s2") // the answer: expired
	s.do("connect c1 s3", "serve c1", "replicate s3", "deliver c1")
	s.want(`create "/d/ghost" <nil>`)
	for _, z := range s.w.leader().store.Tree() {
		if z.Path == "/d/ghost" && (z.Stat.EphemeralOwner == old || z.Stat.EphemeralOwner == 0) {
			t.Errorf("the ghost belongs to %x, the old session is %x (g25)", z.Stat.EphemeralOwner, old)
		}
	}
}

func TestWatchChannelsAreSilentOnDisconnect(t *testing.T) {
	s := start(t, 3, func(s *script, c *Client) {
		_, _, ch, _ := c.Conn().ChildrenW("/d")
		lost := c.Env().SessionEvents()
		c.rests()
		s.say("%s; session: %s", now(ch), now(lost))
		c.rests()
		s.say("%s", now(ch))
	}, creates("/d/a"))
	s.do("run c1", "connect c1 s1", "serve c1", "deliver c1", "run c1", "cut c1", "run c1")
	s.want("silent; session: session")
	s.alone("c2")
	s.lines = nil
	s.do("replicate s2", "connect c1 s2", "serve c1") // SetWatches to a server that has not applied the create
	s.do("replicate s2", "replicate s2", "deliver c1", "deliver c1", "run c1")
	s.want("child /d") // g12
}

func TestWatchesEndWithTheSessionOrTheClient(t *testing.T) {
	watching := func(s *script, c *Client) {
		k := c.Conn()
		_, _, d, _ := k.GetW("/d")
		_, _, e, _ := k.ExistsW("/d/none")
		_, _, ch, _ := k.ChildrenW("/d")
		c.rests()
		if len(d) == 0 {
			k.Close()
		}
		s.say("%s; %s; %s; %s %s %s", now(d), now(e), now(ch), now(d), now(e), now(ch))
	}
	s := start(t, 1, watching)
	s.alone("c1")
	s.want("unwatched /d: zk: zookeeper is closing; unwatched /d/none: zk: zookeeper is closing; " +
		"unwatched /d: zk: zookeeper is closing; closed closed closed")
	s = start(t, 1, watching)
	s.do("run c1", "connect c1 s1", "serve c1, deliver c1", "serve c1, deliver c1", "serve c1, deliver c1", "cut c1")
	s.do("end c1", "round c1", "connect c1 s1", "run c1") // g06
	const expired = ": zk: session has been expired by the server"
	s.want("unwatched /d" + expired + "; unwatched /d/none" + expired + "; unwatched /d" + expired +
		"; closed closed closed")
}

func TestAReadQueuedBeforeSetWatchesSeesTheNewDataBeforeTheEvent(t *testing.T) {
	s := start(t, 3, func(s *script, c *Client) {
		_, _, ch, _ := c.Conn().GetW("/d")
		c.rests()
		data, _, err := c.Conn().Get("/d")
		s.say("%s %v, watch %s", data, err, now(ch))
		c.rests()
		s.say("watch %s", now(ch))
	}, func(s *script, c *Client) {
		c.Conn().Set("/d", []byte("new"), -1)
	})
	s.do("run c1", "connect c1 s1", "serve c1", "deliver c1", "cut c1", "run c1")
	s.do("run c2", "connect c2 s1", "serve c2")
	for range 3 {
		s.do("replicate s3")
	}
	s.try("replicate s3")
	s.do("connect c1 s3", "serve c1", "serve c1", "deliver c1")
	s.want("new <nil>, watch silent") // g09
	s.do("deliver c1", "run c1")
	s.want("watch changed /d")
}

func TestOnesOwnEventComesBeforeOnesOwnReply(t *testing.T) {
	s := start(t, 3, func(s *script, c *Client) {
		_, _, ch, _ := c.Conn().GetW("/d")
		c.Conn().Set("/d", nil, -1)
		s.say("%s", now(ch))
	})
	s.do("run c1", "connect c1 s3", "serve c1", "deliver c1", "serve c1", "replicate s3", "deliver c1, deliver c1")
	s.want("changed /d") // g11
}

func TestEachCallHasAChannelOfItsOwnAndDeletionFiresAllOfThem(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		k := c.Conn()
		k.Create("/d/n", nil, 0, open)
		_, _, g1, _ := k.GetW("/d/n")
		_, _, g2, _ := k.GetW("/d/n")
		_, _, e, _ := k.ExistsW("/d/n")
		_, _, ch, _ := k.ChildrenW("/d/n")
		_, _, up, _ := k.ChildrenW("/d")
		k.Set("/d/n", nil, -1)
		s.say("set: %s, %s, %s, %s, %s", now(g1), now(g2), now(e), now(ch), now(up))
		_, _, g1, _ = k.GetW("/d/n")
		k.Delete("/d/n", -1)
		s.say("delete: %s, %s, %s", now(g1), now(ch), now(up))
		_, _, none, err := k.GetW("/d/n")
		s.say("missing: %v %v", none, err)
		_, _, e, _ = k.ExistsW("/d/n")
		k.Create("/d/n", nil, 0, open)
		s.say("create: %s then %s", now(e), now(e))
	})
	s.alone("c1")
	s.want("set: changed /d/n, changed /d/n, changed /d/n, silent, silent",
		"delete: deleted /d/n, deleted /d/n, child /d",
		"missing: <nil> zk: node does not exist",
		"create: created /d/n then closed")
}

func TestCloseWhileConnectedEndsTheSession(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		k := c.Conn()
		k.Create("/d/e", nil, zk.FlagEphemeral, open)
		_, _, own, _ := k.ExistsW("/d/e")
		k.Close()
		_, err := k.Create("/d/x", nil, 0, open)
		s.say("own watch: %s; after: %v, %s", now(own), err, k.State())
		k.Close()
		s.say("closed twice")
	})
	s.alone("c1")
	s.want("own watch: deleted /d/e; after: zk: connection closed, StateDisconnected", "closed twice") // g13
	if got := len(s.w.leader().store.Tree()); got != 2 {
		t.Errorf("%d znodes are left, want / and /d", got)
	}
}

func TestCloseWhileDisconnectedLeavesTheSessionToExpire(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		k := c.Conn()
		k.Create("/d/e", nil, zk.FlagEphemeral, open)
		c.rests()
		k.Close()
		s.say("closed")
	})
	s.do("run c1", "connect c1 s1", "serve c1", "deliver c1", "cut c1", "run c1")
	s.want("closed")
	if len(s.w.leader().store.Tree()) != 3 {
		t.Fatal("the ephemeral did not stay (g14)")
	}
	s.do("expire c1") // a normal transition: nobody touches the session any more
	if len(s.w.leader().store.Tree()) != 2 {
		t.Fatal("the ephemeral is still there")
	}
}

func TestCallsMadeAfterCloseHasBegunFail(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		c.rests()
		c.Env().Go("other", func() {
			_, err := c.Conn().Create("/d/a", nil, 0, open)
			s.say("%v", err)
		})
		c.Conn().Close()
	})
	s.do("run c1", "connect c1 s1", "run c1", "run c1/other", "run c1/other", "serve c1", "deliver c1")
	s.want("zk: connection closed")
	s.wantMade()
}

// TestCloseEndsWhatOthersWaitFor has go-zookeeper's Conn.request, which does not wait for an answer once Close was
// called; the server executes what it has got.
func TestCloseEndsWhatOthersWaitFor(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		c.Env().Go("other", func() {
			_, err := c.Conn().Create("/d/a", nil, 0, open)
			s.say("%v", err)
		})
		c.rests()
		c.Conn().Close()
		s.say("closed")
	})
	s.do("run c1", "connect c1 s1", "run c1/other", "run c1", "run c1/other", "serve c1, serve c1",
		"deliver c1, deliver c1")
	s.want("zk: connection closed", "closed")
	s.wantMade("/d/a")
}

func TestCredentialsAreSentAgainAfterAReconnect(t *testing.T) {
	mine := zk.DigestACL(zk.PermAll, "u", "p")
	s := start(t, 3, func(s *script, c *Client) {
		k := c.Conn()
		s.say("%v", k.AddAuth("digest", []byte("u:p")))
		k.Create("/d/secret", []byte("x"), 0, mine)
		c.rests()
		data, _, err := k.Get("/d/secret")
		s.say("%s %v", data, err)
	}, func(s *script, c *Client) {
		_, _, err := c.Conn().Get("/d/secret")
		s.say("other: %v", err)
		s.say("%v", c.Conn().AddAuth("bogus", nil))
		s.say("%s", c.Conn().State())
	})
	s.do("run c1", "connect c1 s1", "serve c1, deliver c1", "serve c1, deliver c1", "cut c1", "round c1", "connect c1 s1")
	s.alone("c1")
	s.want("<nil>", "x <nil>") // g19
	s.do("run c2", "connect c2 s1", "serve c2, deliver c2", "serve c2, deliver c2")
	s.want("other: zk: not authenticated", "zk: client authentication failed")
	s.do("deliver c2", "run c2")
	s.want("StateConnecting") // the server hung up
}

func TestNothingIsExecutedOnAConnectionThatTheServerHasClosed(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		s.say("%v", c.Conn().AddAuth("bogus", nil))
		_, err := c.Conn().Create("/d/a", nil, 0, open)
		s.say("%v", err)
	})
	s.do("run c1", "connect c1 s1", "serve c1, deliver c1")
	if s.can("serve c1") {
		t.Error("the server takes a request after it has hung up")
	}
	s.do("deliver c1", "run c1")
	s.rest()
	s.want("zk: client authentication failed", "zk: connection closed")
	s.wantMade()
}

// The header of the answer to a failed multi says that all is well, and the code hears which operation has failed.
func TestAFailedMultiIsRecordedWithTheErrorThatItsCodeHears(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		c.Conn().Multi(&zk.CheckVersionRequest{Path: "/d", Version: -1}, &zk.DeleteRequest{Path: "/d/none", Version: -1})
		c.Conn().Multi(&zk.CheckVersionRequest{Path: "/d", Version: -1})
	})
	s.alone("c1")
	var errs []error
	for _, e := range s.w.History.Events {
		if e.Kind == history.Reply && e.Op == "multi" {
			errs = append(errs, e.Err)
		}
	}
	if !slices.Equal(errs, []error{zk.ErrNoNode, nil}) {
		t.Error(errs)
	}
}

func TestTheResultsOfMultiHaveTheLibrarysQuirks(t *testing.T) {
	create := func(p string, flags int32) *zk.CreateRequest {
		return &zk.CreateRequest{Path: p, Acl: open, Flags: flags}
	}
	s := start(t, 1, func(s *script, c *Client) {
		k := c.Conn()
		show := func(ops ...any) {
			res, err := k.Multi(ops...)
			var errs []error
			for _, r := range res {
				errs = append(errs, r.Error)
			}
			s.say("%d %v %v", len(res), errs, err)
		}
		show(create("/d/a", 0), &zk.SetDataRequest{Path: "/d", Version: 7}, create("/d/b", 0))
		show(create("/d/a", 0), &zk.SetDataRequest{Path: "/d/a", Version: 0}, &zk.DeleteRequest{Path: "/d/a", Version: 1})
		show(create("/d/c", zk.FlagContainer))
		show(&zk.SetDataRequest{Path: "/d", Version: -1}, create("/d/c2", zk.FlagContainer), create("/d/c3", 0))
		show()
		show(7)
	})
	s.alone("c1")
	s.want("3 [<nil> zk: version conflict unknown error: -2] zk: version conflict",
		"3 [<nil> <nil> <nil>] <nil>",
		"0 [] zk: api error", // g01: yet it was executed
		"1 [<nil>] zk: api error",
		"0 [] <nil>",
		"0 [] unknown operation type int")
	if s.w.leader().store.Tree()[2].Path != "/d/c" || len(s.w.leader().store.Tree()) != 5 {
		t.Errorf("the containers were not made: %v", s.w.leader().store.Tree())
	}
}

func TestTheLibrarysReturnValuesOnErrors(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		k := c.Conn()
		c.rests()
		ok, stat, err := k.Exists("/d") // queued, then flushed
		s.say("exists %v %v %v", ok, stat != nil, err)
		ok, stat, err = k.Exists("/x")
		s.say("exists %v %v %v", ok, *stat == zk.Stat{}, err)
		ok, stat, ch, err := k.ExistsW("/x")
		s.say("existsW %v %v %v %v", ok, *stat == zk.Stat{}, ch != nil, err)
		stat, err = k.Set("/x", nil, -1)
		s.say("set %v %v", stat != nil, err)
		data, stat, err := k.Get("/x")
		s.say("get %v %v %v", data == nil, stat != nil, err)
		_, err = k.Create("/d/t", nil, zk.FlagTTL, open)
		s.say("%v, %v", err, errors.Is(err, zk.ErrInvalidFlags))
		_, err = k.Create("/d/t", nil, 9, open)
		s.say("%v", err)
		_, err = k.CreateContainer("/d/t", nil, 0, open)
		s.say("%v", err)
		_, err = k.CreateTTL("/d/t", nil, 0, open, 1)
		s.say("%v", err)
		_, err = k.Create("/d/", nil, zk.FlagSequence, open)
		s.say("%v", err)
		_, err = k.Create("/d/", nil, 0, open)
		s.say("%v", err)
	})
	s.do("run c1", "connect c1 s1", "cut c1", "run c1", "round c1", "run c1")
	s.want("exists true true zk: could not connect to a server") // a quirk to beware of
	s.alone("c1")
	s.want("exists false true <nil>", "existsW false true true <nil>", "set true zk: node does not exist",
		"get true true zk: node does not exist",
		"Create with TTL flag disallowed: zk: invalid flags specified, true", "invalid flag value: [9]",
		"CreateContainer requires container flag: zk: invalid flags specified",
		"CreateTTL requires TTL flag: zk: invalid flags specified", "<nil>", "zk: invalid path") // g01
}

func TestCallersMayReuseTheirBuffers(t *testing.T) {
	s := start(t, 3, func(s *script, c *Client) {
		k := c.Conn()
		buf := []byte("one")
		k.Set("/d", buf, -1)
		k.Create("/d/n", buf, 0, open)
		k.Multi(&zk.CreateRequest{Path: "/d/m", Data: buf, Acl: open})
		copy(buf, "two")
		for _, p := range []string{"/d", "/d/n", "/d/m"} {
			data, _, _ := k.Get(p)
			copy(data, "---")
			data, _, _, _ = k.GetW(p)
			s.say("%s", data)
			copy(data, "===")
			data, _, _ = k.Get(p)
			s.say("%s", data)
		}
	})
	s.alone("c1")
	s.want("one", "one", "one", "one", "one", "one")
}

func TestNoOperationReturnsErrSessionExpired(t *testing.T) {
	for _, e := range []struct {
		name string
		do   []string
	}{
		{"told by the reconnect", []string{"cut c1", "end c1", "round c1", "connect c1 s1"}},
		{"while a request is on the wire", []string{"run c1", "end c1", "deliver c1"}},
	} {
		s := start(t, 1, creates("/d/a"))
		s.do("run c1", "connect c1 s1")
		s.do(e.do...)
		s.rest()
		for _, l := range s.lines {
			if l != `create "/d/a" <nil>` && l != `create "" zk: connection closed` &&
				l != `create "" zk: could not connect to a server` {
				t.Errorf("%s: %s", e.name, l)
			}
		}
	}
}

func TestASetWatchesThatIsCutIsSentAgain(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		_, _, ch, _ := c.Conn().GetW("/d")
		s.say("%s", c.next(ch))
	}, func(s *script, c *Client) { c.Conn().Set("/d", nil, -1) })
	s.do("run c1", "connect c1 s1", "serve c1", "deliver c1", "cut c1", "round c1", "connect c1 s1")
	s.do("drop c1", "round c1", "connect c1 s1", "serve c1", "cut c1")
	s.alone("c2")
	s.do("round c1", "connect c1 s1", "serve c1", "deliver c1", "run c1")
	s.want("changed /d")
}

// TestAListThatCodeHasIsItsOwn changes lists that were given to the library, and those that it has returned: a request
// that is executed late says what it did, and no server takes notice.
func TestAListThatCodeHasIsItsOwn(t *testing.T) {
	acl := []zk.ACL{{Perms: zk.PermAll, Scheme: "world", ID: "anyone"}}
	s := start(t, 1, func(s *script, c *Client) {
		k := c.Conn()
		_, err := k.Create("/d/a", nil, 0, acl)
		s.say("%v", err)
		acl[0].Perms = zk.PermRead
		_, _, err = k.Get("/d/a")
		s.say("%v", err)
		for range 2 {
			got, _, err := k.GetACL("/d/a")
			s.say("%v %v", got, err)
			got[0].Perms = zk.PermRead
		}
	})
	s.do("connect c1 s1", "run c1", "cut c1", "run c1", "serve c1", "round c1", "run c1")
	s.want("zk: connection closed", "zk: could not connect to a server")
	s.rest()
	s.want("[{31 world anyone}] <nil>", "[{31 world anyone}] <nil>")
}
