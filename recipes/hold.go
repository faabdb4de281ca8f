package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// hold is a lock held, or lost and not yet unlocked. The nil hold is a lock that
// is not held.
type hold struct {
	path  string
	token int64
	lost  chan zk.Event
	end   context.CancelFunc // ends the guard
}

func (h *hold) Lost() <-chan zk.Event {
	if h == nil {
		return nil
	}
	return h.lost
}

func (h *hold) Token() int64 {
	if h == nil {
		return 0
	}
	return h.token
}

// alarm hears of the next change of the session's state. It is set before the
// znodes are read that a claim rests on, and kept from claim to claim as long as
// it has not rung, since an unused channel stays in memory until then.
type alarm struct {
	change <-chan zk.Event
	heard  chan struct{} // has something once the latest guard has received from change
}

func (a *alarm) set(env Env) {
	if a.change == nil || len(a.change) > 0 || len(a.heard) > 0 {
		a.change = env.SessionEvents()
	}
	a.heard = nil
}

func (a *alarm) rang() bool { return len(a.change) > 0 }

// hold starts to guard the znode path; gone is a watch on it.
func (s session) hold(path string, token int64, a *alarm, gone <-chan zk.Event) *hold {
	ctx, cancel := context.WithCancel(context.Background())
	h := &hold{path: path, token: token, lost: make(chan zk.Event, 1), end: cancel}
	// An earlier guard that was told to end may still hear the alarm first: then
	// its channel is closed for this one, which so hears it, too.
	a.heard = make(chan struct{}, 1)
	g := guard{s, path, h.lost, a.change, a.heard}
	s.env.Go("lock-watch", func() { g.run(ctx, gone) })
	return h
}

// guard tells the holder when the session changes state or the znode is
// deleted, whichever is first. It shares nothing with the lock but channels.
type guard struct {
	session
	path   string
	lost   chan<- zk.Event
	change <-chan zk.Event
	heard  chan<- struct{}
}

func (g guard) run(ctx context.Context, gone <-chan zk.Event) {
	for {
		i, ev, err := g.env.Await(ctx, g.change, gone)
		if err != nil {
			return
		}
		if i == 0 {
			g.heard <- struct{}{}
		}
		if ev.Type == zk.EventNodeDataChanged {
			// Somebody wrote to our znode, which says nothing.
			var ok bool
			switch ok, _, gone, err = g.conn.ExistsW(g.path); {
			case err != nil:
				ev = zk.Event{Type: zk.EventSession, State: zk.StateDisconnected, Err: err}
			case ok:
				continue
			default:
				ev.Type = zk.EventNodeDeleted
			}
		}
		g.lost <- ev
		close(g.lost)
		return
	}
}
