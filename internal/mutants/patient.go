package mutants

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// patient is a connection and an environment, and waits out a lost connection.
type patient struct {
	conn recipes.Conn
	env  recipes.Env
}

// until runs f until it ends with anything but a lost connection.
func (p patient) until(ctx context.Context, f func() error) error {
	for {
		err := f()
		if !interrupted(err) {
			return err
		}
		if err := p.session(ctx); err != nil {
			return err
		}
	}
}

// discard deletes a znode that may be gone.
func (p patient) discard(path string) error {
	err := p.until(context.Background(), func() error { return p.conn.Delete(path, -1) })
	if err == zk.ErrNoNode {
		return nil
	}
	return err
}

// session waits for a session.
func (p patient) session(ctx context.Context) error {
	for {
		change := p.env.SessionEvents()
		if p.conn.State() == zk.StateHasSession {
			return nil
		}
		if _, ev, err := p.env.Await(ctx, change); err != nil || ev.Err != nil {
			return errors.Join(err, ev.Err)
		}
	}
}

// synced runs f after a sync.
func (p patient) synced(ctx context.Context, path string, f func() error) error {
	return p.until(ctx, func() error {
		if _, err := p.conn.Sync(path); err != nil {
			return err
		}
		return f()
	})
}
