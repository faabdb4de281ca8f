package recipes

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"
)

// ticketPrefix begins the names of tickets and of places in a queue.
const ticketPrefix = "_c_"

// ticketed executes, exactly once, a multi that makes znodes that outlive the session. c is as for [session.create].
//
// A request whose answer was lost may be executed as long as its session lives, and the session may live on when its
// client has another one: a deposed leader may have called it expired, or the client may have given it up. By then
// the second try may have succeeded, and what it made may be gone again. So the multi deletes a ticket, an ephemeral
// znode that take has made. The second try needs the ticket too. If it finds it, the first try cannot be executed any
// more; if not, the first try was executed or the session has ended, and the znodes show which. If the second try
// fails for another reason, the ticket is deleted before ticketed returns, because the first try might still be
// executed.
func (s session) ticketed(
	ctx context.Context, take func(ctx context.Context) (ticket string, err error), c creation,
	multi func(ticket *zk.DeleteRequest) ([]zk.MultiResponse, error),
) (err error) {
	var ticket string
	gone, lost, undone := true, false, false
	var session int64 // the ticket's session, 0 if it is not certain
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
		undone = err != nil // create has started undo
		return executed, err
	}
	c.undo = func(ctx context.Context) {
		if s.remove(ctx, ticket) == nil { // else a try may still be executed
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
			if !s.continues(session) { // the session has begun meanwhile, or is the client's first
				session = s.sessionOf(ctx, ticket)
			}
		}
		err := s.create(ctx, c)
		switch {
		case err != zk.ErrNoNode:
		case gone:
			executed, err := c.done(ctx)
			if err == nil && !executed && lost && s.continues(session) {
				return nil // only the first try can have taken the ticket; what it made is gone again
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

// settle ends a ticketed whose last try has failed with err after earlier answers were lost. It returns nil if one of
// the earlier tries was executed, err if not, and another error if it cannot tell. It deletes the ticket first,
// because while that exists those tries may still be executed.
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

// sessionOf returns the session of an ephemeral znode, or 0 if one read does not tell.
func (s session) sessionOf(ctx context.Context, path string) (id int64) {
	defer Forget(s.env)(&id)
	exists, stat, err := s.on(ctx).Exists(path)
	if err != nil || !exists {
		return 0
	}
	return stat.EphemeralOwner
}

// exists reports whether a znode that the caller has created by a unique name is there. After a create whose answer
// was lost, it settles whether that was executed, as find does.
func (s session) exists(ctx context.Context, path string) (exists bool, err error) {
	defer Forget(s.env)(&exists, &err)
	err = s.fresh(ctx, func() (err error) {
		exists, _, err = s.on(ctx).Exists(path)
		return err
	}, &exists)
	return exists, err
}
