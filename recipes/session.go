package recipes

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// session is what every recipe knows: its connection and its environment.
type session struct {
	conn Conn
	env  Env
}

// await blocks until the connection has a session. It fails when ctx is done
// and, with zk.ErrClosing, when the connection was closed for good.
func (s session) await(ctx context.Context) (err error) {
	defer Forget(s.env)(&err)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		Keep(s.env)
		change := s.env.SessionEvents()
		if s.conn.State() == zk.StateHasSession {
			return nil
		}
		_, ev, err := s.env.Await(ctx, change)
		if err != nil {
			return err
		}
		if ev.Err != nil {
			return ev.Err
		}
	}
}

// again waits until a request that was interrupted by err can be sent again.
func (s session) again(ctx context.Context, err error) error {
	if throttled(err) {
		return s.env.Sleep(ctx, breather)
	}
	return s.await(ctx)
}

// breather is how long a busy server is left alone. It drops requests to have fewer of them.
const breather = 100 * time.Millisecond

// retry runs f, which must be idempotent, until it ends in anything but a lost connection. Of what f sees, only kept
// is remembered.
func (s session) retry(ctx context.Context, f func() error, kept ...any) (err error) {
	kept = append(kept, &err)
	defer Forget(s.env)(kept...)
	for {
		Keep(s.env, kept...)
		err := f()
		if !interrupted(err) {
			return err
		}
		if err := s.again(ctx, err); err != nil {
			return err
		}
	}
}

// remove deletes a znode that is the caller's own by its unique name. It is no error if the znode is already gone.
func (s session) remove(ctx context.Context, path string) (err error) {
	defer Forget(s.env)(&err)
	err = s.retry(ctx, func() error { return s.on(ctx).Delete(path, -1) })
	if err == zk.ErrNoNode {
		return nil
	}
	return err
}

// removeAll is remove for children of dir, one after the other.
func (s session) removeAll(ctx context.Context, dir string, names []string) error {
	for _, name := range names {
		if err := s.remove(ctx, dir+"/"+name); err != nil {
			return err
		}
	}
	return nil
}

// removeProven deletes a znode whose name others may also use, together with proof, a znode with a unique name that
// proves that it is the caller's. If there is no proof, the caller's znode does not exist either, though a late try
// may still make both: nothing is deleted. If only the proof is there, somebody else has deleted the znode, and the
// proof is deleted.
func (s session) removeProven(ctx context.Context, proof, path string) (err error) {
	alone := false
	defer Forget(s.env)(&err)
	err = s.retry(ctx, func() error {
		answers, err := s.on(ctx).Multi(
			&zk.DeleteRequest{Path: proof, Version: -1},
			&zk.DeleteRequest{Path: path, Version: -1})
		alone = len(answers) > 0 && answers[0].Error == nil
		return err
	}, &alone)
	switch {
	case err != zk.ErrNoNode:
		return err
	case alone:
		return s.remove(ctx, proof)
	}
	return nil
}

// makePath creates the persistent znodes of path that are missing.
func (s session) makePath(ctx context.Context, path string, acl []zk.ACL) (err error) {
	defer Forget(s.env)(&err)
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		err := s.retry(ctx, func() error {
			_, err := s.on(ctx).Create(path[:i], nil, 0, acl)
			return err
		})
		if err == zk.ErrNoAuth && s.there(ctx, path[:i]) {
			continue // without the right to create, the error does not tell that the znode exists
		}
		if err == zk.ErrNoNode && strings.LastIndexByte(path[:i], '/') > 0 { // the parent was deleted meanwhile
			i = 0
			continue
		}
		if err != nil && err != zk.ErrNodeExists {
			return err
		}
	}
	return nil
}

// there reports whether it is certain that the znode path exists.
func (s session) there(ctx context.Context, path string) (exists bool) {
	defer Forget(s.env)(&exists)
	err := s.fresh(ctx, func() (err error) {
		exists, _, err = s.on(ctx).Exists(path)
		return err
	}, &exists)
	return exists && err == nil
}

// fresh runs read so that it sees everything that was acknowledged to anybody before: after a fence, and in the
// session of that fence, because a new session may begin further in the past. What read returns must not be used
// unless fresh returns nil. Of what read sees, only kept is remembered.
//
// A sync is not enough. A leader that was cut off goes on for a while after another one was elected; it answers a
// sync at once, without asking anybody, and shows old data. A write is answered only when a majority of the servers
// has it.
func (s session) fresh(ctx context.Context, read func() error, kept ...any) error {
	return s.after(ctx, nil, func(int64) error { return s.fence(ctx) }, read, kept...)
}

// freshSince is fresh for reads of path that must not be older than earlier reads, which were fresh in the session
// *session. Within that session ZooKeeper never goes back, so a sync is enough to hear what is new. freshSince sets
// *session to the present session.
func (s session) freshSince(
	ctx context.Context, session *int64, path string, read func() error, kept ...any,
) (err error) {
	return s.after(ctx, session, func(id int64) error {
		if id != 0 && id == *session {
			_, err := s.on(ctx).Sync(path)
			return err
		}
		err := s.fence(ctx)
		if err == nil {
			*session = id
		}
		return err
	}, read, append(kept, session)...)
}

// synced runs read after a sync, so that it sees what is new unless a leader that was cut off has answered. Nothing
// may be concluded from what read does not see.
func (s session) synced(ctx context.Context, path string, read func() error, kept ...any) error {
	return s.after(ctx, nil, func(int64) error {
		_, err := s.on(ctx).Sync(path)
		return err
	}, read, kept...)
}

// after runs first and then read, until both are answered in one session. first gets the session's id. Of a try, the
// next one remembers only *session; session may be nil.
func (s session) after(
	ctx context.Context, session *int64, first func(id int64) error, read func() error, kept ...any,
) (err error) {
	defer Forget(s.env)(append(kept, &err)...)
	for {
		Keep(s.env, session)
		if err := ctx.Err(); err != nil {
			return err
		}
		id := s.conn.SessionID()
		err := first(id)
		if err == nil {
			err = read()
		}
		switch {
		case interrupted(err):
			if err := s.again(ctx, err); err != nil {
				return err
			}
		case s.continues(id), err == zk.ErrInvalidPath: // the library itself returns it, with or without a session
			return err
		}
	}
}

// fence is a write that changes nothing: a multi without operations. It needs no permission and no znode, and fires
// no watch, but it is a txn of its own, so an answer says that the present leader and a majority of the servers have
// it. The alternatives cost more: a set of an own znode fires watches, and so does a create followed by a delete.
func (s session) fence(ctx context.Context) error {
	_, err := s.on(ctx).Multi()
	return err
}

// continues reports whether the session is still the one that had this id. No session has the id 0, which the
// connection shows before its first session and between sessions.
func (s session) continues(id int64) bool { return id != 0 && s.conn.SessionID() == id }

// find looks for a child of dir whose name contains the unique word. It returns "" if there is none. After a create
// whose answer was lost, it settles whether that create was executed. The fence comes first, so the listing shows
// everything that was executed before; without it a server that lags, or a deposed leader, could miss some. And if
// the session is the same, a request of the old connection cannot be executed any more. If it is another session, the
// old one may live for a while, but its ephemeral znodes end with it; for znodes that last see [session.ticketed].
func (s session) find(ctx context.Context, dir, word string) (name string, err error) {
	defer Forget(s.env)(&name, &err)
	err = s.fresh(ctx, func() error {
		name = ""
		children, _, err := s.on(ctx).Children(dir)
		for _, c := range children {
			if strings.Contains(c, word) {
				name = c
			}
		}
		return err
	}, &name)
	if err == zk.ErrNoNode {
		return "", nil
	}
	return name, err
}

// creation is a create, or a multi with creates, that leaves something from which its outcome can be told when the
// answer is lost.
type creation struct {
	what string // what is created, a word for schedules and reports
	dir  string // made, with acl, when it is missing; "": zk.ErrNoNode is an answer like any other
	acl  []zk.ACL

	do   func() error                            // the request
	kept []any                                   // what is remembered of what do sees
	done func(ctx context.Context) (bool, error) // whether it was executed; see find
	// undo removes what the request may have left behind. It runs in the background when the outcome is unknown, for as
	// long as it takes.
	undo func(ctx context.Context)
	// prepare, if not nil, makes what may be missing when a multi of [session.ticketed] fails with zk.ErrNoNode.
	prepare func(ctx context.Context) error
	// insist, if not nil, makes the caller wait for undo as long as there is a connection, even if ctx is done.
	insist *alarm
}

// create executes the request of c exactly once. After an error the request was not executed, or undo is under way.
func (s session) create(ctx context.Context, c creation) (err error) {
	defer Forget(s.env)(append(c.kept, &err)...)
	for {
		Keep(s.env, c.kept...)
		if err := ctx.Err(); err != nil {
			return err
		}
		err := c.do()
		switch {
		case err == zk.ErrNoNode && c.dir != "":
			err = s.makePath(ctx, c.dir, c.acl)
		case unsent(err):
			err = s.again(ctx, err)
		case !unanswered(err):
			return err
		default:
			var ok bool
			if ok, err = c.done(ctx); ok && err == nil {
				return nil
			}
			if err != nil {
				ended := s.cleanUp(c.what, c.undo)
				if c.insist != nil {
					s.whileConnected(ended, c.insist)
				}
			}
		}
		if err != nil {
			return err
		}
	}
}

// cleanUp runs undo in the background, for as long as it takes, after the requests that were given up. The channel
// gets an event when undo has ended.
func (s session) cleanUp(what string, undo func(ctx context.Context)) (ended <-chan zk.Event) {
	end := make(chan zk.Event, 1)
	s.env.Undo(what+"-cleanup", func() {
		undo(context.Background())
		end <- zk.Event{}
	})
	return end
}

// removeLater is remove in the background; see cleanUp.
func (s session) removeLater(what, path string) (ended <-chan zk.Event) {
	return s.cleanUp(what, func(ctx context.Context) { s.remove(ctx, path) })
}

// whileConnected waits for a clean-up for as long as there is a connection.
func (s session) whileConnected(ended <-chan zk.Event, a *alarm) {
	defer Forget(s.env)(a)
	a.set(s.env)
	if s.conn.State() == zk.StateHasSession {
		a.await(context.Background(), s.env, ended)
	}
}

// awaitChange waits until something happens to the znode path or to the session. It returns at once if the znode is
// not there.
func (s session) awaitChange(ctx context.Context, path string, a *alarm) (err error) {
	defer Forget(s.env)(a, &err)
	a.set(s.env)
	event := a.watch(path)
	if event == nil {
		seen, err := s.look(ctx, path)
		if err != nil || seen.stat == nil {
			return err
		}
		event = seen.event
	}
	return a.awaitPath(ctx, s.env, path, event)
}

// interrupted reports whether err says only that the connection was lost or the server busy. Unless err is also
// unsent, nobody knows whether the request was executed; see [Conn].
func interrupted(err error) bool {
	if err == nil {
		return false
	}
	if unsent(err) {
		return true
	}
	switch err {
	case zk.ErrConnectionClosed, zk.ErrSessionExpired, zk.ErrSessionMoved:
		return true
	}
	// The error of a failed write to the socket reaches the caller as it is.
	var network interface{ Timeout() bool }
	return errors.As(err, &network) && !errors.Is(err, context.DeadlineExceeded)
}

// unsent reports whether err says that the request was not executed and may be sent again: it has not left the
// client, or a busy server has dropped it.
func unsent(err error) bool { return err == zk.ErrNoServer || throttled(err) }

// throttled reports whether a busy server has dropped the request: THROTTLEDOP, for which the library has no name.
func throttled(err error) bool { return err != nil && err.Error() == "unknown error: -127" }

// unanswered reports whether a request that has ended with err may have been executed, or may still be.
func unanswered(err error) bool {
	return interrupted(err) && !unsent(err) || err == zk.ErrClosing
}

// open returns acl, or if it is nil the ACL that lets everybody do everything.
func open(acl []zk.ACL) []zk.ACL {
	if acl == nil {
		return worldACL
	}
	return acl
}

var worldACL = zk.WorldACL(zk.PermAll)
