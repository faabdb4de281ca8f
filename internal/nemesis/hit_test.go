package nemesis

import (
	"context"
	"net"
	"testing"
	"time"

	"zksim/internal/wire"
	"zksim/model"
	"zksim/model/history"
)

// nemesis returns one of one client, which has a connection to the first of some servers, and its plan has one rule.
func nemesis(t *testing.T, word string, addrs ...string) (*Nemesis, *client) {
	t.Helper()
	n := New(Options{Plan: plan(t, word), Clients: 1, Addrs: addrs, Record: func(history.Event) {}, Diary: NewDiary()})
	t.Cleanup(func() { n.Heal(t.Context()) })
	c := n.clients[0]
	c.server, c.link = 0, &link{}
	mine, servers := net.Pipe()
	t.Cleanup(func() { servers.Close() })
	c.conn = new(wire.Gate).Conn(mine)
	return n, c
}

// strikeAt makes the rule strike, with some salt.
func (n *Nemesis) strikeAt(c *client, salt uint64) wire.Fate {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hit(c, &strike{client: c.id, salt: salt}, &n.o.Plan[0], "")
}

func TestAFailoverIsToAnotherServer(t *testing.T) {
	for _, addrs := range [][]string{{"a", "b"}, {"a", "b", "c"}, {"a", "b", "c", "d"}} {
		n, c := nemesis(t, "failover", addrs...)
		to := map[int]bool{}
		for salt := range uint64(12) {
			if fate := n.strikeAt(c, salt); fate != wire.Last {
				t.Errorf("the fate of the request is %v", fate)
			}
			to[c.next] = true
		}
		if to[0] || len(to) != len(addrs)-1 {
			t.Errorf("of %d servers, from the first to %v", len(addrs), to)
		}
	}
}

func TestAnEventThatIsHeldBackIsAStrike(t *testing.T) {
	n, c := nemesis(t, "watch-delay", "a")
	n.strikes = nil // all were made
	n.strikeAt(c, 0)
	if n.Struck()[0] != 0 || n.Spent(time.Hour) {
		t.Errorf("struck %v, spent: %v, before there is an event", n.Struck(), n.Spent(time.Hour))
	}
	c.receives(c.link, &wire.Packet{Kind: wire.Event})
	if n.Struck()[0] != 1 || !n.Spent(time.Hour) {
		t.Errorf("struck %v, spent: %v, after the event", n.Struck(), n.Spent(time.Hour))
	}
}

func TestFaultsAreNotOverWhileAnEventIsHeldBack(t *testing.T) {
	n, c := nemesis(t, "watch-delay", "a")
	n.strikes, n.o.Timeout = nil, 30*time.Hour // of which it is held back for a part
	n.strikeAt(c, 0)
	came := make(chan bool)
	go func() {
		c.receives(c.link, &wire.Packet{Kind: wire.Event})
		close(came)
	}()
	for n.Struck()[0] == 0 {
		time.Sleep(time.Millisecond)
	}
	if n.Spent(0) {
		t.Error("spent")
	}
	n.Heal(t.Context())
	if <-came; !n.Spent(0) {
		t.Error("not spent")
	}
}

func TestFaultsAreNotOverWhileAClientHasABlackHole(t *testing.T) {
	n, c := nemesis(t, "black-hole", "a")
	n.strikes = nil
	if n.strikeAt(c, 0); n.Struck()[0] != 1 || n.Spent(0) {
		t.Errorf("struck %v, spent: %v", n.Struck(), n.Spent(0))
	}
	c.conn.Close() // the client has found out
	for !n.Spent(0) {
		time.Sleep(time.Millisecond)
	}
}

func TestAConnectionIsStruckThatIsThere(t *testing.T) {
	for _, word := range []string{"black-hole", "disconnect", "failover", "learn-late"} {
		n, c := nemesis(t, word, "a", "b")
		c.cut()
		if n.strikeAt(c, 0); n.Struck()[0] != 0 {
			t.Errorf("%s has struck %v, without a connection", word, n.Struck())
		}
	}
	n, c := nemesis(t, "black-hole", "a")
	c.conn.Freeze(false)
	if n.strikeAt(c, 0); n.Struck()[0] != 0 {
		t.Errorf("struck %v, while nothing passes", n.Struck())
	}
	n, c = nemesis(t, "expire", "a")
	c.sends(c.link, &wire.Packet{Kind: wire.Operation, Request: &model.Request{Op: model.OpCloseSession}})
	n.hitLater(c, &strike{client: 1}, &n.o.Plan[0], "")
	if n.Struck()[0] != 0 {
		t.Errorf("struck %v, after the end of the session", n.Struck())
	}
}

func TestACancelStrikesAClientThatHasAContext(t *testing.T) {
	n, c := nemesis(t, "cancel", "a")
	ctx, cancel := context.WithCancel(t.Context())
	var cancels []context.CancelFunc
	n.o.Cancels = func(int) []context.CancelFunc { return cancels }
	if n.strikeAt(c, 0); n.Struck()[0] != 0 {
		t.Errorf("struck %v, without a context", n.Struck())
	}
	cancels = append(cancels, cancel)
	if n.strikeAt(c, 0); n.Struck()[0] != 1 {
		t.Errorf("struck %v, with a context", n.Struck())
	}
	<-ctx.Done()
}

func TestAClientThatIsPausedIsNotPausedOnceMore(t *testing.T) {
	n, c := nemesis(t, "pause", "a")
	c.paused = make(chan struct{})
	if n.strikeAt(c, 0); n.Struck()[0] != 0 {
		t.Errorf("struck %v", n.Struck())
	}
}

func TestTwoAnswersOfAConnectionAreNotLost(t *testing.T) {
	n, c := nemesis(t, "lose-reply", "a")
	for c.link.sent = 1; c.link.sent <= 2; c.link.sent++ {
		n.strikeAt(c, 0)
	}
	if n.Struck()[0] != 1 || c.link.lose != 1 {
		t.Errorf("struck %v, the answer to request %d is lost", n.Struck(), c.link.lose)
	}
}
