package redial

import (
	"context"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Mended is the registrar without the bug that the tests find. A znode that exists already belongs to the session of an
// earlier connection, because the server has not heard that this was closed. The znode ends with that session. So
// Mended accepts only a znode of its present session. It deletes any other, and watches its own.
type Mended struct{ Registrar }

// NewMended is New for the registrar without the bug.
func NewMended(dial Dial, env recipes.Env, path string, data []byte) *Mended {
	return &Mended{*New(dial, env, path, data)}
}

// Run is like [Registrar.Run].
func (r *Mended) Run(quit <-chan zk.Event) {
	for {
		conn, env, err := r.dial()
		if err != nil {
			r.env.Sleep(context.Background(), pause)
			continue
		}
		over := r.keep(conn, env, quit)
		conn.Close()
		if over {
			return
		}
	}
}

// keep keeps the znode registered. It returns true when quit is closed, and false when it needs a new connection.
func (r *Mended) keep(conn recipes.Conn, env recipes.Env, quit <-chan zk.Event) (over bool) {
	for {
		change := env.SessionEvents()
		exists, stat, gone, err := conn.ExistsW(r.path)
		switch {
		case err == nil && !exists:
			_, err = conn.Create(r.path, r.data, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		case err == nil && stat.EphemeralOwner != conn.SessionID():
			err = conn.Delete(r.path, -1)
		case err == nil && conn.State() == zk.StateHasSession:
			if i, _, _ := env.Await(context.Background(), quit, change, gone); i == 0 {
				return true
			}
			continue
		}
		if err != zk.ErrNodeExists && err != zk.ErrNoNode && err != nil || conn.State() != zk.StateHasSession {
			return false
		}
	}
}
