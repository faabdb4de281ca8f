// Package redial is a port of code that closes its connection and dials again, and one in which its bug is mended.
//
// [Registrar] has the shape that such code often has: it registers a service by an ephemeral znode, and starts anew
// with another connection when anything goes wrong. What the port changes: it is told how to dial, since a simulated
// client dials by Process.Dial, and hears of its session by Env.SessionEvents instead of the channel that zk.Connect
// returns.
package redial

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Dial opens a connection. Its Env tells of the session of that connection.
type Dial func() (recipes.Conn, recipes.Env, error)

// Registrar keeps a service registered.
type Registrar struct {
	dial Dial
	env  recipes.Env
	path string
	data []byte
}

// New returns a registrar of a service. The folder of its path exists. The environment is not that of a connection.
func New(dial Dial, env recipes.Env, path string, data []byte) *Registrar {
	return &Registrar{dial, env, path, data}
}

// pause is how long it waits before it dials again.
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

// register makes the znode.
func (r *Registrar) register(conn recipes.Conn) error {
	_, err := conn.Create(r.path, r.data, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	if err == zk.ErrNodeExists { // it is there from before
		return nil
	}
	return err
}

// stay waits until the connection is lost, or reports that it is time to end.
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
