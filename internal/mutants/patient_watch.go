package mutants

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// PatientWatch is a watcher of children with the flaw [SettledOnce]. Otherwise it follows the protocol of
// recipes.PatientChildrenWatch in the plainest way.
type PatientWatch struct {
	patient
	path   string
	settle time.Duration
}

// NewPatientWatch returns a watcher that reports the children of path when they have not changed for the time settle.
func NewPatientWatch(conn recipes.Conn, env recipes.Env, path string, settle time.Duration) *PatientWatch {
	return &PatientWatch{patient{conn, env}, path, settle}
}

// Run calls f until ctx is done.
func (w *PatientWatch) Run(ctx context.Context, f func(names []string, stat *zk.Stat)) error {
	told := int64(-1)
	for {
		change := w.env.SessionEvents()
		names, stat, event, err := w.list(ctx)
		if err != nil {
			return err
		}
		now := int64(0)
		if stat != nil {
			now = stat.Pzxid
		}
		limited, cancel := ctx, func() {}
		if now != told {
			limited, cancel = w.env.WithTimeout(ctx, w.settle)
		}
		_, _, err = w.env.Await(limited, event, change)
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			told = now
			f(names, stat)
		}
	}
}

// list lists the children after a sync, and leaves a watch; stat is nil if there is no such znode.
func (w *PatientWatch) list(ctx context.Context) (names []string, stat *zk.Stat, event <-chan zk.Event, err error) {
	for again := true; again && err == nil; {
		err = w.synced(ctx, w.path, func() (err error) {
			if names, stat, event, err = w.conn.ChildrenW(w.path); err == zk.ErrNoNode {
				stat = nil
				again, _, event, err = w.conn.ExistsW(w.path)
				return err
			}
			again = false
			return err
		})
	}
	return names, stat, event, err
}
