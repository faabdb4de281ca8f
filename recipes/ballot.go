package recipes

import (
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"
)

// errStale sends a count back to its beginning: the session has changed between
// two reads that belong together.
var errStale = errors.New("recipes: another session has read the rest")

// settle is Outcome, or Finish if wait is false.
func (t *Transaction) settle(ctx context.Context, wait bool) (d Decision, err error) {
	defer Forget(t.env)(&t.alarm, &t.decision, &d, &err)
	for t.decision == Undecided {
		Keep(t.env, &t.alarm)
		if err := ctx.Err(); err != nil {
			return Undecided, err
		}
		d, err := t.round(ctx, wait)
		if err == zk.ErrNoNode { // which may be a server that lags
			err = t.check(ctx)
		}
		if interrupted(err) {
			err = t.again(ctx, err)
		}
		if err != nil && err != errStale {
			return Undecided, err
		}
		t.decision = d
	}
	return t.decision, nil
}

// round looks for the decision, and waits for it or makes it. It returns Undecided when it must be called again.
func (t *Transaction) round(ctx context.Context, wait bool) (d Decision, err error) {
	defer Forget(t.env)(&t.alarm, &d, &err)
	path := t.path("decision")
	data, _, err := t.on(ctx).Get(path)
	if err == nil {
		return decisionIn(data), nil
	}
	if err != zk.ErrNoNode {
		return Undecided, err
	}
	var made <-chan zk.Event
	if wait {
		var exists bool
		if exists, _, made, err = t.on(ctx).ExistsW(path); err != nil || exists {
			return Undecided, err
		}
		if t.opt.Form == ByCoordinator && t.opt.Site != "" {
			return Undecided, t.awaitDecision(ctx, made)
		}
	}
	b := ballot{Transaction: t, watches: []<-chan zk.Event{made}}
	b.keep()
	if wait {
		t.alarm.set(t.env)
	}
	if err := b.open(ctx); err != nil {
		return Undecided, err
	}
	for wait && b.count() == Undecided {
		b.keep()
		i, err := t.alarm.awaitAny(ctx, t.env, b.watches...)
		if err != nil || i == 0 || i == len(b.watches) {
			return Undecided, err
		}
		if err := b.read(ctx, (i-1)/2); err != nil {
			return Undecided, err
		}
	}
	b.watches = nil
	b.keep()
	return b.decide(ctx)
}

// awaitDecision waits for a site that leaves the votes to the coordinator. Until the site has voted, the transaction
// may be withdrawn, and then the site's znode is deleted. After a disconnect it looks again: if another object of the
// site has forgotten the transaction, the decision may have come and gone, and then no watch fires.
func (t *Transaction) awaitDecision(ctx context.Context, made <-chan zk.Event) error {
	t.alarm.set(t.env)
	data, _, err := t.on(ctx).Get(t.own)
	var gone <-chan zk.Event
	if err == nil && !final(string(data)) {
		_, _, gone, err = t.on(ctx).GetW(t.own)
	}
	if err != nil {
		return err // zk.ErrNoNode: no decision will come
	}
	return t.alarm.await(ctx, t.env, made, gone)
}

// ballot holds the votes of a transaction as one participant sees them.
type ballot struct {
	*Transaction
	votes []vote
	// watches has one watch for the decision, nil if nobody waits, and then two for each vote: on the site's znode and
	// on its sign of life. A watch is nil where no change is expected.
	watches []<-chan zk.Event
}

// vote is what a site's znode says.
type vote struct {
	site    string
	content string
	version int32
	failed  bool // joined, without a vote, and without a sign of life
}

// open reads all votes. The znodes of all sites are created at once, so until sites forget the transaction a listing
// shows all of them or none.
func (b *ballot) open(ctx context.Context) error {
	names, _, err := b.on(ctx).Children(b.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if site, ok := strings.CutPrefix(name, sitePrefix); ok {
			b.votes = append(b.votes, vote{site: site})
			b.watches = append(b.watches, nil, nil)
		}
	}
	for k := range b.votes {
		if err := b.read(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// read reads vote k. It leaves watches only where there is something to wait for: watches on znodes that have a vote
// would all fire when these are deleted.
func (b *ballot) read(ctx context.Context, k int) error {
	v, changed, ended := &b.votes[k], &b.watches[1+2*k], &b.watches[2+2*k]
	*changed, *ended = nil, nil
	b.keep()
	path, id, wait := b.path(sitePrefix+v.site), b.conn.SessionID(), b.watches[0] != nil
	data, stat, err := b.on(ctx).Get(path)
	if err == nil && wait && !final(string(data)) {
		data, stat, *changed, err = b.on(ctx).GetW(path)
	}
	if err != nil {
		return err
	}
	v.content, v.version = string(data), stat.Version
	if !wait || v.content != joined {
		return nil
	}
	life, err := b.look(ctx, b.path("live-"+v.site))
	if err != nil {
		return err
	}
	if *ended = life.event; !b.continues(id) {
		return errStale
	}
	v.failed = life.stat == nil
	return nil
}

// keep says that round remembers only the votes that it has read.
func (b *ballot) keep() { Keep(b.env, &b.alarm, &b.votes, &b.watches) }

// count returns the decision that follows from the votes so far. Without sites it is Aborted, because nobody has said
// yes.
func (b *ballot) count() Decision {
	if len(b.votes) == 0 {
		return Aborted
	}
	d := Committed
	for _, v := range b.votes {
		switch {
		case v.content == voteNo || v.failed:
			return Aborted
		case v.content != voteYes:
			d = Undecided
		}
	}
	return d
}

// decide makes the decision that follows from the votes, unless somebody else makes one or a vote changes. A missing
// vote is a "no".
func (b *ballot) decide(ctx context.Context) (Decision, error) {
	d := b.count()
	if d == Undecided {
		d = Aborted
	}
	var ops []any
	for _, v := range b.votes {
		ops = append(ops, &zk.CheckVersionRequest{Path: b.path(sitePrefix + v.site), Version: v.version})
	}
	if ops = append(ops, b.publish(d)); len(b.votes) == 0 { // dir may be something else than a transaction
		ops = append(ops, &zk.CheckVersionRequest{Path: b.own, Version: -1})
	}
	_, err := b.on(ctx).Multi(ops...)
	switch {
	case err == nil:
		return d, nil
	case err == zk.ErrNodeExists, err == zk.ErrBadVersion, err == zk.ErrNoNode && len(b.votes) > 0:
		return Undecided, nil
	}
	return Undecided, err
}
