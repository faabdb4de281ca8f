// Package redial has code that closes its connection and dials again, and a version without its bug.
//
// [Registrar] works like much production code: it registers a service by an ephemeral znode, and starts over with a new
// connection when anything goes wrong. Two things are different for the simulator. Its caller says how to dial, because
// a simulated client dials by Process.Dial. And it learns about its session from Env.SessionEvents instead of the
// channel that zk.Connect returns.
package redial

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Dial opens a connection. The Env that it returns reports the events of that connection's session.
type Dial func() (recipes.Conn, recipes.Env, error)

// Registrar keeps a service registered.
type Registrar struct {
	dial Dial
	env  recipes.Env
	path string
	data []byte
}

// New returns a registrar for a service. The parent of path must exist. Run uses env only to pause after a failed dial.
func New(dial Dial, env recipes.Env, path string, data []byte) *Registrar {
	return &Registrar{dial, env, path, data}
}

// pause is the wait before the next dial after one has failed.
const pause = 10 * time.Millisecond

// Run keeps the service registered until quit is closed.
func (r *Registrar) Run(quit <-chan zk.Event) {
	for {
		conn, env, err := r.dial()
		if err != nil {
			r.env.Sleep(context.Background(), pause)
			continue
		}
		over := r.register(conn) == nil && r.stay(conn, env, quit)
		conn.Close()
		if over {
			return
		}
	}
}

// register creates the znode, or accepts one that exists.
func (r *Registrar) register(conn recipes.Conn) error {
	_, err := conn.Create(r.path, r.data, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	if err == zk.ErrNodeExists { // an earlier connection has created it
		return nil
	}
	return err
}

// stay returns true when quit is closed, and false when the connection has no session.
func (r *Registrar) stay(conn recipes.Conn, env recipes.Env, quit <-chan zk.Event) (over bool) {
	for {
		change := env.SessionEvents()
		if conn.State() != zk.StateHasSession {
			return false
		}
		if i, _, _ := env.Await(context.Background(), quit, change); i == 0 {
			return true
		}
	}
}
