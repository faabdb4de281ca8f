package recipes

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// PatientChildrenWatch tells the names of the children of one znode once they have settled: Kazoo's recipe of that
// name. It is for clients that have work with each change, such as sharing out partitions again.
//
// # Protocol
//
//  1. List the children as [ChildrenWatch] does.
//  2. If they are the ones told last, wait for the watch and go to 1.
//  3. Wait until the watch fires or the time to settle has passed. If the watch fires, go to 1.
//  4. Fence and list again. If pzxid and number are the same, tell; else go to 3.
//
// # What the texts leave out
//
// That no watch fired does not mean that nothing happened: the connection may have been lost, or the server may lag.
// The second listing settles it, except for a znode that does not exist and so has no pzxid: it may have come and
// gone, unless the first watch has not fired and the connection was not lost. Kazoo tells once; this watcher goes on.
//
// # Fan-out
//
// As [ChildrenWatch].
type PatientChildrenWatch struct {
	session
	path   string
	settle time.Duration
	opt    WatchOptions
}

// NewPatientChildrenWatch returns a watcher that tells the children of path when
// they have not changed for the time settle.
func NewPatientChildrenWatch(conn Conn, env Env, path string, settle time.Duration,
	opt WatchOptions) *PatientChildrenWatch {
	return &PatientChildrenWatch{session{conn, env}, path, settle, opt}
}

// Run is like [ChildrenWatch.Run].
func (w *PatientChildrenWatch) Run(ctx context.Context, f func(children []string, stat *zk.Stat) bool) error {
	o := &observer{session: w.session, opt: w.opt}
	told, settled := nothing, nothing
	var last <-chan zk.Event // the watch of the previous listing
	for {
		lost := o.change == nil // since the previous listing, even if there is a connection again
		o.listen()
		children, stat, event, err := look(ctx, o, w.path, w.on(ctx).ChildrenW)
		if err != nil {
			return err
		}
		now := ofChildren(stat)
		if stat == nil && (lost || len(last) > 0 || len(o.change) > 0) {
			settled = nothing
		}
		if now == settled && now != told {
			told = now
			if !f(children, stat) {
				return nil
			}
		}
		settled, last = nothing, event
		if now == told {
			o.doubt(false)
			_, err = o.wait(ctx, nil, event)
		} else if err = w.pass(ctx, o, event); err == errPassed {
			settled, o.synced, err = now, -1, nil // no session, so the next read comes after a fence
		}
		if err != nil {
			return err
		}
	}
}

// errPassed says that nothing has happened for long enough.
var errPassed = errors.New("recipes: time to settle has passed")

// pass waits for event; it returns errPassed when the time to settle is over first.
func (w *PatientChildrenWatch) pass(ctx context.Context, o *observer, event <-chan zk.Event) error {
	limited, cancel := w.env.WithTimeout(ctx, w.settle)
	defer cancel()
	_, err := o.wait(limited, nil, event)
	switch {
	case err == nil || limited.Err() == nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return errPassed
}
