package recipes

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"
)

// ticketPrefix begins the names of tickets, and of places in a queue.
const ticketPrefix = "_c_"

// ticketed executes a multi that makes znodes which outlive the session, exactly once, as [session.create] does with c.
//
// A request whose answer was lost may be executed as long as its session lives, and that may go on when its client has
// another one: a leader that was deposed says that it has ended, and a client may have given it up. By then the second
// try has succeeded, and what it made is perhaps gone again. So the multi deletes a ticket, an ephemeral znode that
// take has made before. The second try needs it, too: if it finds it, the first one cannot be executed any more; if
// it does not, the first one was executed, or the session has ended, which the znodes show. Where the second try fails
// for another reason, the ticket is deleted before that is said: the first one might be executed yet.
func (s session) ticketed(
	ctx context.Context, take func(ctx context.Context) (ticket string, err error), c creation,
	multi func(ticket *zk.DeleteRequest) ([]zk.MultiResponse, error),
) (err error) {
	var ticket string
	gone, lost, undone := true, false, false
	var session int64 // that of the ticket, 0 if it is not certain
	defer Forget(s.env)(append(c.kept, &err)...)
	c.kept = slices.Clip(append(slices.Clip(c.kept), &gone, &lost, &undone, &session))
	done, undo := c.done, c.undo
	c.do = func() error {
		results, err := multi(&zk.DeleteRequest{Path: ticket, Version: -1})
		gone = len(results) > 0 && results[0].Error == zk.ErrNoNode
		lost = lost || unanswered(err)
		return err
	}
	c.done = func(ctx context.Context) (executed bool, err error) {
		executed, err = done(ctx)
		undone = err != nil // create has begun it
		return executed, err
	}
	c.undo = func(ctx context.Context) {
		if s.remove(ctx, ticket) == nil { // else nothing can be told of what comes yet
			undo(ctx)
		}
	}
	for {
		Keep(s.env, append(c.kept, &ticket)...)
		if gone {
			lost = false
			session = s.conn.SessionID()
			if ticket, err = take(ctx); err != nil {
				return err
			}
			if !s.continues(session) { // it has begun meanwhile, or is the client's first
				session = s.sessionOf(ctx, ticket)
			}
		}
		err := s.create(ctx, c)
		switch {
		case err != zk.ErrNoNode:
		case gone:
			executed, err := c.done(ctx)
			if err == nil && !executed && lost && s.continues(session) {
				return nil // only the first try can have taken it; what that made is gone again
			}
			if err == nil && !executed {
				continue
			}
			if err != nil {
				s.cleanUp(c.what, c.undo)
			}
			return err
		case c.prepare != nil:
			if err = c.prepare(ctx); err == nil {
				continue
			}
		}
		switch {
		case err == nil, undone:
		case lost:
			return s.settle(ctx, ticket, c, err)
		default:
			s.abandon(ctx, "ticket", ticket)
		}
		return err
	}
}

// settle returns the error of a ticketed whose last try has failed with err after others were lost, or nil if one of
// those was executed. As long as the ticket is there that may happen yet.
func (s session) settle(ctx context.Context, ticket string, c creation, err error) error {
	executed, unsettled := false, s.remove(ctx, ticket)
	if unsettled == nil {
		executed, unsettled = c.done(ctx)
	}
	switch {
	case unsettled != nil:
		s.cleanUp(c.what, c.undo)
		return unsettled
	case executed:
		return nil
	}
	return err
}

// ticket makes a ticket in dir and returns its path.
func (s session) ticket(ctx context.Context, dir string, acl []zk.ACL) (path string, err error) {
	path = dir + "/" + ticketPrefix + s.env.UUID() + "-ticket"
	defer Forget(s.env)(&path, &err)
	err = s.create(ctx, creation{what: "ticket", dir: dir, acl: acl,
		do: func() error {
			_, err := s.on(ctx).Create(path, nil, zk.FlagEphemeral, acl)
			if err == zk.ErrNodeExists { // an earlier try was executed
				return nil
			}
			return err
		},
		done: func(ctx context.Context) (bool, error) { return s.exists(ctx, path) },
		undo: func(ctx context.Context) { s.remove(ctx, path) }})
	return path, err
}

// sessionOf returns the session of an ephemeral znode, 0 if that cannot be told at once.
func (s session) sessionOf(ctx context.Context, path string) (id int64) {
	defer Forget(s.env)(&id)
	exists, stat, err := s.on(ctx).Exists(path)
	if err != nil || !exists {
		return 0
	}
	return stat.EphemeralOwner
}

// exists reports whether a znode of a unique name that was created by the caller is there. Coming after a create whose
// answer was lost, it settles whether that was executed, as find does.
func (s session) exists(ctx context.Context, path string) (exists bool, err error) {
	defer Forget(s.env)(&exists, &err)
	err = s.fresh(ctx, func() (err error) {
		exists, _, err = s.on(ctx).Exists(path)
		return err
	}, &exists)
	return exists, err
}
