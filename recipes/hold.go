package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// hold is a lock that is held, or lost and not yet unlocked. A nil hold is a lock that is not held.
type hold struct {
	stat    *zk.Stat // of its own znode
	lost    chan zk.Event
	revoked chan zk.Event // nil: cannot be revoked
	guard   *guard
	end     context.CancelFunc // ends the guard
}

func (h *hold) Lost() <-chan zk.Event {
	if h == nil {
		return nil
	}
	return h.lost
}

func (h *hold) Revoked() <-chan zk.Event {
	if h == nil {
		return nil
	}
	return h.revoked
}

func (h *hold) Token() int64 {
	if h == nil {
		return 0
	}
	return h.stat.Czxid
}

// alarm hears of the next change of the session's state. It is set before the reads that a claim rests on. It is kept
// from claim to claim until it rings, because an unused channel stays in memory until then.
type alarm struct {
	change <-chan zk.Event
	left   []left // since it was set
}

func (a *alarm) set(env Env) {
	if a.change == nil || a.rang() {
		a.change, a.left = env.SessionEvents(), nil
	}
}

// await waits for the alarm or one of events, which are watches left after the alarm was set; then the caller must
// look again. Watches alone are not enough: after a reconnect go-zookeeper renews them behind the requests that wait,
// and relative to the latest reply. If one of these requests is answered and then the connection is lost again,
// changes before that answer never fire a watch.
func (a *alarm) await(ctx context.Context, env Env, events ...<-chan zk.Event) error {
	_, err := a.awaitAny(ctx, env, events...)
	return err
}

// awaitAny is await, and returns the index of the event, or len(events) for the alarm.
func (a *alarm) awaitAny(ctx context.Context, env Env, events ...<-chan zk.Event) (i int, err error) {
	i, _, err = env.Await(ctx, append(events, a.change)...)
	switch {
	case i == len(events):
		a.change, a.left = nil, nil
	case i >= 0:
		a.forget(func(l left) bool { return l.event == events[i] })
	}
	return i, err
}

// rang reports whether the alarm has rung, even if a guard has received the event and has not run since: then the
// channel is closed. rang may itself receive the event; others still find the channel closed.
func (a *alarm) rang() bool {
	select {
	case <-a.change:
		return true
	default:
		return false
	}
}

// sight is what was seen of a znode by a read that left a watch.
type sight struct {
	stat  *zk.Stat // nil: it was not there
	data  []byte
	event <-chan zk.Event
}

// look reads a znode, leaving a watch on it if it is there. An exists would also leave a watch on a znode that is
// gone; since names do not come again, that watch stays until the session ends (mutant exists-leak). And servers that
// have the fix of CVE-2024-23944 but not ZOOKEEPER-2590, such as Debian's 3.8.0, allow exists on a znode that the
// client may not read but then do not fire the watch. A getData fails there with zk.ErrNoAuth.
func (s session) look(ctx context.Context, path string) (x sight, err error) {
	x.data, x.stat, x.event, err = s.on(ctx).GetW(path)
	if err == zk.ErrNoNode {
		return sight{}, nil
	}
	return x, err
}

// hold starts to guard the znode path that was seen. revoked is nil if its data does not matter.
func (s session) hold(path string, seen sight, a *alarm, revoked chan zk.Event) *hold {
	ctx, cancel := context.WithCancel(context.Background())
	h := &hold{stat: seen.stat, lost: make(chan zk.Event, 1), revoked: revoked, end: cancel}
	// An earlier guard that was told to end may still receive the event first: then this guard finds the channel closed,
	// and so hears the alarm too.
	g := &guard{s, path, h.lost, revoked, a.change, seen.event}
	h.guard = g
	g.obey(seen.data)
	defer Forget(s.env)(g)
	s.env.Go("lock-watch", func() { g.run(ctx) })
	return h
}

// guard tells the holder when the session changes state or the znode is deleted, whichever comes first, and before
// that when the lock is revoked. It shares only channels with the lock.
type guard struct {
	session
	path    string
	lost    chan<- zk.Event
	revoked chan<- zk.Event // nil: not wanted, or already told
	change  <-chan zk.Event
	gone    <-chan zk.Event // of the znode
}

func (g *guard) run(ctx context.Context) {
	defer Forget(g.env)()
	var again *another
	for {
		Keep(g.env, &again, &g.gone, &g.revoked)
		i, ev, err := g.env.Await(ctx, g.change, g.gone)
		switch {
		case err != nil:
			return
		case i == 0 && ev.Type == 0: // somebody else has received it
			ev = zk.Event{Type: zk.EventSession, State: zk.StateDisconnected}
		case i == 0:
		case again == nil && ev.Type == zk.EventNodeDataChanged:
			// Somebody wrote to our znode; the event does not say what.
			again, g.gone = g.lookAgain()
			continue
		case again != nil && again.err != nil:
			ev = zk.Event{Type: zk.EventSession, State: zk.StateDisconnected, Err: again.err}
		case again != nil && again.stat == nil:
			ev = zk.Event{Type: zk.EventNodeDeleted, Path: g.path}
		case again != nil:
			g.gone = again.event
			g.obey(again.data)
			again = nil
			continue
		}
		if ctx.Err() != nil {
			return // the lock was given up first: the end of its own znode is no loss
		}
		g.lost <- ev //zksim:ignore has room: this is sent once, and not again after the close
		close(g.lost)
		return
	}
}

// another is the answer to another look at the znode.
type another struct {
	sight
	err error
}

// lookAgain asks for the znode's state and returns a channel that fires when the answer has come. Meanwhile the guard
// listens to the session: a request that waits for a connection is answered in the next session, which is too late.
func (g *guard) lookAgain() (*another, <-chan zk.Event) {
	a, answered := &another{}, make(chan zk.Event, 1)
	g.env.Go("lock-look", func() {
		a.sight, a.err = g.look(context.Background(), g.path)
		answered <- zk.Event{}
	})
	return a, answered
}

// obey tells the holder if data revokes the lock.
func (g *guard) obey(data []byte) {
	if g.revoked == nil || string(data) != unlock {
		return
	}
	//zksim:ignore has room: this is sent once, and not again after the close
	g.revoked <- zk.Event{Type: zk.EventNodeDataChanged, Path: g.path}
	close(g.revoked)
	g.revoked = nil
}
