package nemesis

import (
	"testing"

	"zksim/internal/wire"
	"zksim/model/history"
)

// nemesis returns one of one client, which has a connection to the first of some servers, and its plan has one rule.
func nemesis(t *testing.T, word string, addrs ...string) (*Nemesis, *client) {
	t.Helper()
	n := New(Options{Plan: plan(t, word), Clients: 1, Addrs: addrs, Record: func(history.Event) {}, Diary: NewDiary()})
	t.Cleanup(func() { n.Heal(t.Context()) })
	c := n.clients[0]
	c.server, c.link = 0, &link{}
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
