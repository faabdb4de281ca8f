package recipes

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"
)

// Leaving is how participants that leave a double barrier wait for each other. The ways differ in how many clients
// one change notifies.
type Leaving uint8

const (
	// LeaveLowest is the way of the recipe page: all but the lowest delete their znodes at once and watch the lowest;
	// the lowest watches the highest one that is left. Of k members, the last end notifies k-1, any other at most one.
	LeaveLowest Leaving = iota
	// LeaveNaive is the simplest way: all delete their znodes at once and watch the
	// list of children. Each end notifies everyone who is leaving.
	LeaveNaive
	// LeaveSequential lets each watch one neighbour: the one above it; the highest watches the lowest. From the highest
	// downwards, each marks its znode when the one above it is marked or gone; the mark of the lowest says that all are
	// leaving, and with it the lowest is done. Then, from the highest downwards, each deletes its znode when the one
	// above it is gone. So each change notifies at most one, while sessions live on, and leaving takes 2k steps one
	// after the other.
	LeaveSequential
)

const memberLeaving = "leaving"

// Leave waits until every participant of the round has begun to leave or has lost its session, even if the client has
// lost its own; it returns ErrOutside if the client is not inside. When ctx is done first it returns ctx's error. In
// any case the client is outside and keeps nobody waiting: its own znode is gone, or is being deleted in the
// background.
func (d *DoubleBarrier) Leave(ctx context.Context) (err error) {
	defer Forget(d.env)(&d.alarm, &err)
	if d.held == nil {
		return ErrOutside
	}
	d.held.end()
	d.held = nil
	err = d.leave(ctx)
	own := triesUpTo(d.node)
	d.node = ""
	if err != nil {
		d.cleanUp("barrier", func(ctx context.Context) { d.removeAll(ctx, d.dir, own) })
	}
	return err
}

func (d *DoubleBarrier) leave(ctx context.Context) (err error) {
	defer Forget(d.env)(&d.alarm, &err)
	step := d.leaveLowest
	switch d.leaving {
	case LeaveNaive:
		step = d.leaveNaive
	case LeaveSequential:
		step = d.leaveSequential
	}
	earlier := triesUpTo(d.node)
	if err := d.removeAll(ctx, d.dir, earlier[:len(earlier)-1]); err != nil {
		return err
	}
	for {
		Keep(d.env, &d.marked, &d.round.session, &d.alarm)
		if err := ctx.Err(); err != nil {
			return err
		}
		inside, err := d.inside(ctx)
		if err == zk.ErrNoNode || err == nil && len(inside) == 0 {
			return nil
		}
		done := false
		if err == nil {
			done, err = step(ctx, inside)
		}
		if interrupted(err) {
			err = d.again(ctx, err)
		}
		if err != nil || done {
			return err
		}
	}
}

// inside returns the members of the round that are still there.
func (d *DoubleBarrier) inside(ctx context.Context) (inside []string, err error) {
	defer Forget(d.env)(&inside, &d.round.session, &err)
	err = d.freshSince(ctx, &d.round.session, d.dir, func() (err error) {
		inside, _, err = d.list(ctx, d.round)
		return err
	}, &inside)
	return inside, err
}

// leaveLowest is a step of LeaveLowest: it does or waits for one thing. inside has the members that are still there,
// at least one. The result says whether all are known to be leaving.
func (d *DoubleBarrier) leaveLowest(ctx context.Context, inside []string) (done bool, err error) {
	lowest, highest := inside[0], inside[len(inside)-1]
	switch {
	case highest == lowest && lowest == d.node:
		return true, d.remove(ctx, d.path(d.node))
	case lowest == d.node:
		return false, d.awaitChange(ctx, d.path(highest), &d.alarm)
	case slices.Contains(inside, d.node):
		err = d.remove(ctx, d.path(d.node))
	}
	if err == nil {
		err = d.awaitChange(ctx, d.path(lowest), &d.alarm)
	}
	return false, err
}

// leaveNaive is a step of LeaveNaive; see leaveLowest.
func (d *DoubleBarrier) leaveNaive(ctx context.Context, inside []string) (done bool, err error) {
	if slices.Contains(inside, d.node) {
		return len(inside) == 1, d.remove(ctx, d.path(d.node))
	}
	d.alarm.set(d.env)
	names, _, changed, err := d.on(ctx).ChildrenW(d.dir)
	if err == nil && slices.ContainsFunc(inside, func(name string) bool { return slices.Contains(names, name) }) {
		err = d.alarm.await(ctx, d.env, changed)
	}
	return false, err
}

// leaveSequential is a step of LeaveSequential; see leaveLowest. A client whose session has ended, so that its own
// znode is gone, only waits for the lowest to be marked.
func (d *DoubleBarrier) leaveSequential(ctx context.Context, inside []string) (done bool, err error) {
	i, last := slices.Index(inside, d.node), len(inside)-1
	switch {
	case i < 0:
		return d.awaitMark(ctx, inside[0])
	case !d.marked:
		turn := i == last
		if !turn {
			turn, err = d.awaitMark(ctx, inside[i+1])
		}
		if turn && err == nil {
			err = d.mark(ctx)
		}
		return false, err
	case 0 < i && i < last:
		return false, d.awaitChange(ctx, d.path(inside[i+1]), &d.alarm)
	case 0 < i:
		if all, err := d.awaitMark(ctx, inside[0]); !all || err != nil {
			return false, err
		}
	}
	return true, d.remove(ctx, d.path(d.node))
}

// mark marks its own znode. If it is gone, the next look will tell.
func (d *DoubleBarrier) mark(ctx context.Context) (err error) {
	defer Forget(d.env)(&d.marked, &err)
	err = d.retry(ctx, func() error {
		_, err := d.on(ctx).Set(d.path(d.node), []byte(memberLeaving), -1)
		return err
	})
	if err == zk.ErrNoNode {
		return nil
	}
	d.marked = err == nil
	return err
}

// awaitMark reports whether a member is marked. If it is not, it waits until something happens to the member's znode.
// It leaves no watch when there is nothing to wait for.
func (d *DoubleBarrier) awaitMark(ctx context.Context, member string) (marked bool, err error) {
	defer Forget(d.env)(&d.alarm, &marked, &err)
	data, _, err := d.on(ctx).Get(d.path(member))
	if err == nil && string(data) != memberLeaving {
		var changed <-chan zk.Event
		d.alarm.set(d.env)
		data, _, changed, err = d.on(ctx).GetW(d.path(member))
		if err == nil && string(data) != memberLeaving {
			return false, d.alarm.await(ctx, d.env, changed)
		}
	}
	if err == zk.ErrNoNode {
		return false, nil
	}
	return err == nil, err
}
