package mutants

import (
	"context"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// The flaws of watchers.
const (
	// NoSync reads in a new session without a sync. A lagging server shows a state from before the last one reported.
	NoSync Flaw = 150
	// ReadFirst reads, and then leaves the watch with another request, whose answer it ignores.
	ReadFirst Flaw = 151
	// Deaf goes on waiting after the event that ends a watch with its session.
	Deaf Flaw = 152
	// ByVersion takes a state with the version of the last one for the same state. A znode that was made again starts
	// at version 0 again.
	ByVersion Flaw = 153
	// Trusting does not read again after the loss of the connection, because the library sets its watches again. But
	// the library does so with the zxid of a later answer, if the connection is lost once more in between.
	Trusting Flaw = 158
	// SureEarly says that what it has reported is up to date as soon as it has read again, and only then reports what
	// has changed.
	SureEarly Flaw = 188
	// SettledOnce reports a list when its watch has not fired for the time to settle, without listing again: the event
	// may be on its way.
	SettledOnce Flaw = 231
)

// DataWatch is a watcher of data with one flaw. Otherwise it follows the protocol of recipes.DataWatch in the plainest
// way.
type DataWatch struct {
	patient
	path string
	flaw Flaw

	session int64 // the last one that was synced
	suspect func(bool)
	doubts  bool
}

// NewDataWatch returns a watcher of path with the given flaw. If suspect is not nil, it is called with whether what was
// reported may be out of date, whenever that changes.
func NewDataWatch(conn recipes.Conn, env recipes.Env, path string, flaw Flaw, suspect func(bool)) *DataWatch {
	return &DataWatch{patient: patient{conn, env}, path: path, flaw: flaw, suspect: suspect}
}

// Run calls f until ctx is done.
func (w *DataWatch) Run(ctx context.Context, f func(data []byte, stat *zk.Stat)) error {
	told := int64(-1)
	for {
		change := w.env.SessionEvents()
		if w.flaw == Trusting || w.flaw == Deaf {
			change = nil
		}
		data, stat, event, err := w.look()
		w.doubt(interrupted(err) || w.doubts && (err != nil || w.flaw != SureEarly))
		if interrupted(err) || err == errAgain {
			if err := w.patient.session(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		state := int64(0)
		if stat != nil {
			state = stat.Mzxid
			if w.flaw == ByVersion {
				state = int64(stat.Version) + 1
			}
		}
		if state != told {
			told = state
			f(data, stat)
		}
		w.doubt(false)
		i, ev, err := w.env.Await(ctx, event, change)
		w.doubt(err == nil && i == 1 && ev.State != zk.StateHasSession)
		if err == nil && ev.Type == zk.EventNotWatching && w.flaw == Deaf {
			_, _, err = w.env.Await(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// doubt reports whether what was told may be out of date, if that has changed.
func (w *DataWatch) doubt(doubts bool) {
	if w.suspect != nil && doubts != w.doubts {
		w.doubts = doubts
		w.suspect(doubts)
	}
}

// look reads the znode, in one session, leaving a watch.
func (w *DataWatch) look() (data []byte, stat *zk.Stat, event <-chan zk.Event, err error) {
	id := w.conn.SessionID()
	if id != w.session && w.flaw != NoSync {
		if _, err := w.conn.Sync(w.path); err != nil {
			return nil, nil, nil, err
		}
	}
	data, stat, event, err = w.read()
	if err == nil && w.flaw != NoSync && id != w.conn.SessionID() {
		return nil, nil, nil, errAgain
	}
	w.session = id
	return data, stat, event, err
}

func (w *DataWatch) read() (data []byte, stat *zk.Stat, event <-chan zk.Event, err error) {
	if w.flaw == ReadFirst {
		data, stat, err = w.conn.Get(w.path)
		if err == nil || err == zk.ErrNoNode {
			if err != nil {
				stat = nil
			}
			_, _, event, err = w.conn.ExistsW(w.path) // and what it answers?
		}
		return data, stat, event, err
	}
	data, stat, event, err = w.conn.GetW(w.path)
	if err == zk.ErrNoNode {
		var exists bool
		exists, _, event, err = w.conn.ExistsW(w.path)
		if exists && err == nil {
			err = errAgain
		}
		stat = nil
	}
	return data, stat, event, err
}
