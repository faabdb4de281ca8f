package zktest

import (
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/engine"
)

// Object is an object of a recipe, such as a lock or a queue. Code says what it does with the object, for checkers.
type Object = engine.Object

// Object registers an object that code uses through a connection, so that checkers of recipes, see [Checkers], can
// judge it. For example, checkers.Belief judges what the object's Acquired, Lost and Released have recorded, and
// checkers.Linearizability its Lock, TryLock and Unlock. docs/checkers.md lists the words that each checker knows.
//
//	o := c.Object(conn, nil)
//	if held, _ := o.Lock(func(context.Context) error { return lock.Lock() }); held {
//		o.Acquired("", 0)
//		...
//		o.Released()
//		o.Unlock(func(context.Context) error { return lock.Unlock() })
//	}
//
// The function znodes may be nil. It returns the znodes that the object answers for when the code has returned. The
// object belongs to the client whose session the connection has; the call waits until there is one. Each goroutine of
// the code needs its own object: starting an operation while the same one is in progress on that object is an error.
// Belief and Linearizability judge between clients. Whether goroutines that share a connection exclude each other is
// judged by checkers.Ownership, from the paths that are given to Acquired, or by [Cluster.Always].
//
//zksim:ignore only on real connections
func (c *Cluster) Object(conn *zk.Conn, znodes func() []string) Object {
	for {
		if id := c.owner(conn.SessionID()); id > 0 {
			p := engine.Process{ID: id, Clients: 1, Rounds: 1}
			return p.On(c.host, "", &c.host.resource).Register(znodes)
		}
		time.Sleep(glance)
	}
}

// owner returns the number of the client that has a session, or had it last; 0 if there is none.
func (c *Cluster) owner(session int64) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.peers {
		if session != 0 && p.client.Session() == session {
			return p.client.ID()
		}
	}
	return 0
}

// recorded wraps code so that, when it returns, it records what the programs of scenarios record for the judges: the
// znodes that its objects answer for, and that its clients have finished.
func recorded(code func(c *Cluster)) func(c *Cluster) {
	return func(c *Cluster) {
		code(c)
		c.host.answer()
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, p := range c.peers {
			c.world.History.Finished[p.client.ID()] = true
		}
	}
}
