package recipes

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// errTaken says that another consumer was faster.
var errTaken = errors.New("recipes: the item is claimed or gone")

// queue is what the queues share. An item's rank is the word in its name: items are ordered by rank, and items of the
// same rank by creation.
type queue struct {
	session
	dir    string
	opt    QueueOptions
	turn   *Lock // nil: all consumers wait at once
	ranked bool  // items may be put before others
	watch  queueWatch
}

func newQueue(s session, dir string, opt QueueOptions) queue {
	opt.ACL = open(opt.ACL)
	q := queue{session: s, dir: dir, opt: opt}
	if opt.Turns {
		q.turn = NewLock(s.conn, s.env, dir+"/turns", LockOptions{ACL: opt.ACL})
	}
	return q
}

// Take waits for an item and removes it. An item is delivered at most once: if its removal is in doubt it is not
// delivered, and the error is ErrUnknownOutcome, for errors.Is. This can happen when the session ends at the wrong
// moment, or when ctx is done before the outcome is known. With any other error no item was removed.
func (q *queue) Take(ctx context.Context) ([]byte, error) { return q.take(ctx, q.Claim) }

// TryTake is Take, except that it returns ErrEmpty when at some moment of the call no item is free.
func (q *queue) TryTake(ctx context.Context) ([]byte, error) { return q.take(ctx, q.TryClaim) }

func (q *queue) take(ctx context.Context, claim func(context.Context) (*QueueItem, error)) (data []byte, err error) {
	defer Forget(q.env)(&q.turn, &q.watch, &data, &err)
	for {
		Keep(q.env, &q.turn, &q.watch)
		item, err := claim(ctx)
		if err != nil {
			return nil, err
		}
		if err = item.ack(ctx); err == nil {
			return item.data, nil
		}
		if err != ErrClaimLost {
			item.releaseLater()
			return nil, err
		}
		item.tidyLater()
	}
}

// Claim waits for an item and claims it. No other consumer gets the item while
// it is claimed. The claim ends with Ack or Return, or with the session. After an
// error nothing remains claimed.
func (q *queue) Claim(ctx context.Context) (item *QueueItem, err error) {
	defer Forget(q.env)(&q.turn, &q.watch, &item, &err)
	if q.turn != nil {
		if err := q.turn.Lock(ctx); err != nil {
			return nil, err
		}
		// Claims keep consumers apart, not the turn, so losing the turn does no harm.
		defer q.turn.Unlock(ctx)
	}
	for {
		Keep(q.env, &q.turn, &q.watch)
		item, err := q.claimFirst(ctx, false)
		if err != ErrEmpty {
			return item, err
		}
		if err := q.awaitFree(ctx); err != nil {
			return nil, err
		}
	}
}

// TryClaim is Claim, except that it returns ErrEmpty when at some moment of the call no item is free.
func (q *queue) TryClaim(ctx context.Context) (item *QueueItem, err error) {
	defer Forget(q.env)(&item, &err)
	item, err = q.claimFirst(ctx, false)
	if err == ErrEmpty {
		item, err = q.claimFirst(ctx, true)
	}
	return item, err
}

// listed reads the queue by [session.synced], which may miss the youngest items. It uses [session.fresh] if items
// overtake each other, because then a missing item may be the first.
func (q *queue) listed(ctx context.Context, read func() error, kept ...any) error {
	if q.ranked {
		return q.fresh(ctx, read, kept...)
	}
	return q.synced(ctx, q.dir, read, kept...)
}

// claimFirst claims the first free item, or returns ErrEmpty. With sure, ErrEmpty is certain.
func (q *queue) claimFirst(ctx context.Context, sure bool) (item *QueueItem, err error) {
	defer Forget(q.env)(&item, &err)
	for {
		Keep(q.env)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name, err := q.first(ctx, sure)
		if err != nil {
			return nil, err
		}
		if item, err := q.claim(ctx, name); err != errTaken {
			return item, err
		}
	}
}

// first returns the first free item, or ErrEmpty. A deposed leader may also show no free item. And items and claims
// are listed one after the other: an item that comes in between is free although all listed ones are claimed. So with
// sure, first reads after a fence, and again if an item has come or gone meanwhile.
func (q *queue) first(ctx context.Context, sure bool) (name string, err error) {
	defer Forget(q.env)(&name, &err)
	list := q.listed
	if sure {
		list = q.fresh
	}
	for {
		Keep(q.env)
		var free []string
		still := true
		err = list(ctx, func() (err error) {
			var before, after state
			if sure {
				before, err = q.items(ctx)
			}
			if err == nil {
				free, err = q.free(ctx, q.children(ctx), q.children(ctx))
			}
			if err == nil && sure && len(free) == 0 {
				after, err = q.items(ctx)
				still = before == after
			}
			return err
		}, &free, &still)
		switch {
		case err != nil:
			return "", err
		case len(free) > 0:
			return free[0], nil
		case still:
			return "", ErrEmpty
		}
	}
}

// items returns the state of the list of items.
func (q *queue) items(ctx context.Context) (state, error) {
	exists, stat, err := q.on(ctx).Exists(q.dir + "/items")
	if !exists {
		stat = nil
	}
	return ofChildren(stat), err
}

// Len returns how many items there are, claimed ones included.
func (q *queue) Len(ctx context.Context) (n int, err error) {
	defer Forget(q.env)(&n, &err)
	err = q.fresh(ctx, func() error {
		names, err := q.children(ctx)(q.dir + "/items")
		n = 0
		for _, name := range names {
			if word, _ := contender(name); word != "" {
				n++
			}
		}
		return err
	}, &n)
	if err == zk.ErrNoNode {
		return 0, nil
	}
	return n, err
}

func (q *queue) put(ctx context.Context, data []byte, rank string) (err error) {
	guid := q.env.UUID()
	defer Forget(q.env)(&guid, &err)
	items, receipt := q.dir+"/items", q.dir+"/"+guid
	var before int64 // the session
	err = q.create(ctx, creation{what: "receipt", dir: items, acl: q.opt.ACL, kept: []any{&before},
		do: func() error {
			before = q.conn.SessionID()
			_, err := q.on(ctx).Multi(
				&zk.CreateRequest{Path: items + "/" + guid + "-" + rank + "-", Data: data, Acl: q.opt.ACL, Flags: zk.FlagSequence},
				&zk.CreateRequest{Path: receipt, Acl: q.opt.ACL, Flags: zk.FlagEphemeral})
			return err
		},
		done: func(ctx context.Context) (bool, error) {
			name, err := q.find(ctx, q.dir, guid)
			if err == nil && name == "" && !q.continues(before) {
				name, err = q.find(ctx, items, guid)
				if err == nil && name == "" {
					return false, ErrUnknownOutcome
				}
			}
			if err != nil {
				err = errors.Join(ErrUnknownOutcome, err)
			}
			return name != "", err
		},
		undo: func(ctx context.Context) { q.remove(ctx, receipt) }})
	if err == nil {
		q.abandon(ctx, "receipt", receipt)
	}
	return err
}

// claim claims an item, or returns errTaken. Each try has a GUID of its own: otherwise a try that is executed late,
// in a session that was given up, would be taken for the next one, and end with its own session.
func (q *queue) claim(ctx context.Context, name string) (item *QueueItem, err error) {
	var guid string
	i := &QueueItem{session: q.session, path: q.dir + "/items/" + name, claim: q.dir + "/claims/" + name}
	defer Forget(q.env)(&i, &item, &err)
	err = q.retry(ctx, func() (err error) {
		i.data, _, err = q.on(ctx).Get(i.path)
		return err
	}, &i.data)
	if err == zk.ErrNoNode {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	err = q.create(ctx, creation{what: "claim", kept: []any{&guid, &i.owner, &i.proof},
		do: func() error {
			guid, i.owner = q.env.UUID(), q.conn.SessionID()
			i.proof = q.dir + "/" + guid
			_, err := q.on(ctx).Multi(
				&zk.CheckVersionRequest{Path: i.path, Version: -1},
				&zk.CreateRequest{Path: i.claim, Acl: q.opt.ACL, Flags: zk.FlagEphemeral},
				&zk.CreateRequest{Path: i.proof, Acl: q.opt.ACL, Flags: zk.FlagEphemeral})
			if err == zk.ErrNodeExists || err == zk.ErrNoNode {
				return errTaken
			}
			return err
		},
		done: func(ctx context.Context) (bool, error) {
			name, err := q.find(ctx, q.dir, guid)
			return name != "", err
		},
		undo: func(ctx context.Context) { i.release(ctx) }})
	if err != nil {
		return nil, err
	}
	return i, nil
}

// free returns the unclaimed items, in order. items and claims list the two folders, with or without watches.
func (q *queue) free(ctx context.Context, items, claims func(path string) ([]string, error)) ([]string, error) {
	for {
		names, err := items(q.dir + "/items")
		var claimed []string
		if err == nil && len(names) > 0 {
			claimed, err = claims(q.dir + "/claims")
		}
		if err == zk.ErrNoNode {
			if err = q.makePath(ctx, q.dir+"/items", q.opt.ACL); err == nil {
				err = q.makePath(ctx, q.dir+"/claims", q.opt.ACL)
			}
			if err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(claimed, name) })
		names, err = q.inOrder(ctx, q.dir+"/items", names, func(word string) bool { return word != "" })
		slices.SortStableFunc(names, func(a, b string) int {
			x, _ := contender(a)
			y, _ := contender(b)
			return strings.Compare(x, y)
		})
		return names, err
	}
}

func (q *queue) children(ctx context.Context) func(path string) ([]string, error) {
	return func(path string) ([]string, error) {
		names, _, err := q.on(ctx).Children(path)
		return names, err
	}
}

// awaitFree waits until there is, or may be, a free item.
func (q *queue) awaitFree(ctx context.Context) (err error) {
	defer Forget(q.env)(&q.watch, &err)
	return q.retry(ctx, func() error {
		w := &q.watch
		w.begin(q.env)
		free, err := q.free(ctx, w.list(q.on(ctx), &w.items), w.list(q.on(ctx), &w.claims))
		if err != nil || len(free) > 0 {
			return err
		}
		return w.wait(ctx, q.env)
	}, &q.watch)
}
