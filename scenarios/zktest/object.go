package zktest

import (
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/engine"
)

// Object is an object of a recipe, such as a lock or a queue, of which code says what it does with it, for checkers.
type Object = engine.Object

// Object announces an object that code uses by a connection, so that checkers of recipes, which [Checkers] gives, can
// judge it: as checkers.Belief, by what Acquired, Lost and Released of the object have recorded, or
// checkers.Linearizability, by Lock, TryLock and Unlock. docs/checkers.md lists the words that each of them knows.
//
//	o := c.Object(conn, nil)
//	if held, _ := o.Lock(func(context.Context) error { return lock.Lock() }); held {
//		o.Acquired("", 0)
//		...
//		o.Released()
//		o.Unlock(func(context.Context) error { return lock.Unlock() })
//	}
//
// The function, if it is not nil, returns the znodes that the object answers for when the code has returned. The object
// is that of the client whose session the connection has; the call waits until there is one. Each goroutine of the code
// needs an object of its own: an operation that begins while the same one goes on there is an error. Belief and
// Linearizability judge between clients: that goroutines which share a connection exclude each other is for
// checkers.Ownership, by the paths that are given to Acquired, or for [Cluster.Always].
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

// owner returns the number of the client that has a session, or had it last; 0: none.
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

// recorded has code that returns leave to the judges what programs of scenarios do: the znodes that its objects answer
// for, and that its clients have come to their end.
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
