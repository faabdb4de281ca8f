package mutants

import (
	"context"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// MarkedElection is an election whose leader shows itself by an ephemeral znode of its own, the mark, besides the
// candidate's znode. A leader that resigns deletes its candidate, and the mark if its session made it. The mark of an
// earlier session goes with that session.
type MarkedElection struct{ *Election }

// NewMarkedElection returns a candidate with the flaw OldMark or none.
func NewMarkedElection(conn recipes.Conn, env recipes.Env, dir string, flaw Flaw) *MarkedElection {
	return &MarkedElection{NewElection(conn, env, dir, flaw)}
}

func (e *MarkedElection) path() string { return e.root + "/mark" }

// Campaign waits until the object leads.
func (e *MarkedElection) Campaign(ctx context.Context) error {
	for {
		if err := e.Election.Campaign(ctx); err != nil {
			return err
		}
		marked, err := e.mark(ctx)
		if marked {
			return nil
		}
		if failed := e.Resign(context.Background()); err != nil || failed != nil {
			return firstOf(err, failed)
		}
	}
}

// mark makes the mark. It returns false if the session in which the client is first in the queue has ended before.
func (e *MarkedElection) mark(ctx context.Context) (bool, error) {
	for id := e.owner; e.conn.SessionID() == id; {
		_, err := e.conn.Create(e.path(), nil, zk.FlagEphemeral, everybody)
		if err == nil {
			return e.conn.SessionID() == id, nil
		}
		exists, stat, gone, err := e.conn.ExistsW(e.path())
		switch {
		case interrupted(err):
			err = e.session(ctx)
		case err != nil || !exists:
		case stat.EphemeralOwner == e.conn.SessionID():
			return stat.EphemeralOwner == id, nil
		case e.flaw == OldMark: // that is the leader, and one leader is enough
			_, _, err = e.env.Await(ctx, e.Lost())
			return false, err
		default:
			_, _, err = e.env.Await(ctx, gone, e.Lost())
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// Resign gives the leadership up, the mark first.
func (e *MarkedElection) Resign(ctx context.Context) error {
	err := e.until(ctx, func() error {
		exists, stat, err := e.conn.Exists(e.path())
		if err != nil || !exists || stat.EphemeralOwner != e.conn.SessionID() {
			return err
		}
		return e.conn.Delete(e.path(), -1)
	})
	if err == nil || err == zk.ErrNoNode {
		err = e.Election.Resign(ctx)
	}
	return err
}
