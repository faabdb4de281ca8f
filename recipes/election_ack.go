package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// Leader is a leader that has acknowledged its election.
type Leader struct {
	Data  []byte // of its candidate
	Token int64  // its [Election.Token]
}

func (e *Election) leader() string { return e.root + "/leader" }

// Check returns an operation for a multi. It makes the whole multi fail with zk.ErrNoNode unless the object leads at
// the moment when the multi is executed.
func (e *Election) Check() *zk.CheckVersionRequest {
	path := e.dir + "/none"
	if e.held != nil {
		path = e.dir + "/" + e.name()
	}
	return &zk.CheckVersionRequest{Path: path, Version: -1}
}

// Acknowledge tells clients that ask for the leader that the leader procedure is complete: after nil, Leader names
// this object for as long as it leads. It returns ErrNotLeading when the leadership is lost, or can no longer be
// relied on because the connection was lost; then the leader should resign.
func (e *Election) Acknowledge(ctx context.Context) (err error) {
	defer Forget(e.env)(&err)
	for e.held != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := []byte(e.name())
		answers, err := e.on(ctx).Multi(e.Check(), &zk.SetDataRequest{Path: e.leader(), Data: name, Version: -1})
		if err == zk.ErrNoNode && len(answers) > 0 && answers[0].Error == nil {
			// There has never been a leader.
			if _, err = e.on(ctx).Create(e.leader(), nil, 0, e.opt.ACL); err == nil || err == zk.ErrNodeExists {
				continue
			}
		}
		over := err == nil && e.shaken() // a session that is over for the client may live on for the servers
		if !over && !interrupted(err) && err != zk.ErrNoNode {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !unsent(err) || e.shaken() {
			break
		}
		if err := e.again(ctx, err); err != nil {
			return err
		}
	}
	return ErrNotLeading
}

// Leader returns who leads, or ErrNoLeader. The answer was true at some moment
// during the call.
func (e *Election) Leader(ctx context.Context) (Leader, error) {
	var session int64
	x, err := e.leading(ctx, &session)
	if err != nil {
		return Leader{}, err
	}
	return Leader{x.data, x.stat.Czxid}, nil
}

// leading returns the znode of a leader that leads, or has led since an earlier call with the same session.
func (e *Election) leading(ctx context.Context, session *int64) (x sight, err error) {
	defer Forget(e.env)(session, &x, &err)
	err = e.freshSince(ctx, session, e.root, func() error {
		name, _, err := e.on(ctx).Get(e.leader())
		if err != nil {
			return err
		}
		if len(name) == 0 {
			return zk.ErrNoNode
		}
		x.data, x.stat, err = e.on(ctx).Get(e.dir + "/" + string(name))
		return err
	}, &x)
	if err == zk.ErrNoNode {
		err = ErrNoLeader
	}
	return x, err
}

// AwaitLeader waits until there is a leader, and returns it as Leader does. When
// ctx is done first it returns ctx's error.
func (e *Election) AwaitLeader(ctx context.Context) (Leader, error) {
	x, err := e.awaitLeading(ctx)
	if err != nil {
		return Leader{}, err
	}
	return Leader{x.data, x.stat.Czxid}, nil
}

// awaitLeading waits until somebody leads, and returns its znode.
func (e *Election) awaitLeading(ctx context.Context) (x sight, err error) {
	defer Forget(e.env)(&x, &e.follow, &err)
	var session int64
	for {
		if err := ctx.Err(); err != nil {
			return sight{}, err
		}
		Keep(e.env, &e.follow, &session)
		e.follow.set(e.env)
		event, err := e.follow.watch(e.leader()), error(nil)
		if event == nil {
			if _, _, event, err = e.on(ctx).ExistsW(e.leader()); err == nil {
				e.follow.leave(e.leader(), event)
			}
		}
		switch {
		case interrupted(err):
			err = e.again(ctx, err)
		case err == nil:
			if x, err := e.leading(ctx, &session); err != ErrNoLeader {
				return x, err
			}
			err = e.follow.await(ctx, e.env, event)
		}
		if err != nil {
			return sight{}, err
		}
	}
}
