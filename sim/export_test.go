package sim

import (
	"github.com/go-zookeeper/zk"

	"zksim/model"
)

// What the tests of package sim_test, which may import faults, see of a world
// beyond its API.

// Head returns the next message on its way to c.
func (c *Client) Head() (m Message, ok bool) {
	if len(c.down) == 0 {
		return m, false
	}
	return c.Messages()[0], true
}

// Committed returns a committed txn; the log is kept only with several servers.
func (w *World) Committed(i int) (model.Txn, model.Request) { return w.log[i].txn, w.log[i].req }

// LogLen returns the number of committed txns.
func (w *World) LogLen() int { return len(w.log) }

// OpenACL grants everything to everybody.
var OpenACL = zk.WorldACL(zk.PermAll)

// FreshNormal is Normal without what it remembers.
func (w *World) FreshNormal() []Transition {
	for _, c := range w.clients {
		c.stale = true
	}
	return w.Normal()
}

// Deceived reports whether the connection has ended and the library does not know yet.
func (c *Client) Deceived() bool { return c.unaware > 0 }
