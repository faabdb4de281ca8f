package mutants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// The flaws of queues. The numbers are those of docs/museum.md.
const (
	// EphemeralItems makes items ephemeral: they go with their producer.
	EphemeralItems Flaw = 22
	// DeleteLost takes an item by deleting it. When a second attempt finds no item, it thinks that another consumer has
	// it.
	DeleteLost Flaw = 23
	// PutTwice puts again when the answer was lost.
	PutTwice Flaw = 24
	// StaleList goes through a list of items to its end before it reads another. Items of higher priority come
	// meanwhile.
	StaleList Flaw = 25
	// Unpadded puts the priority into the name without padding: 10 sorts before 9.
	Unpadded Flaw = 26
	// AckUnchecked acknowledges by deleting the item, without looking at the claim. An item that is already gone counts
	// as success.
	AckUnchecked Flaw = 27

	// BlindWait waits although the listing that left the watch shows an item.
	BlindWait Flaw = 140
	// GUIDSort orders items by their whole names, that is by GUID.
	GUIDSort Flaw = 141
	// CancelTake, when its context is cancelled, forgets the item that it has perhaps removed, and says that it has
	// done nothing.
	CancelTake Flaw = 142
	// ItemsOnly waits for a change of the items, and misses a claim that is given up.
	ItemsOnly Flaw = 143
	// StaleTake says that the queue is empty, as a lagging server sees it.
	StaleTake Flaw = 144
	// StaleLength counts the items after a sync, which a deposed leader also answers.
	StaleLength Flaw = 189
)

// Queue is a queue with one flaw. Otherwise it follows the protocol of recipes.Queue in the plainest way, with a
// priority for every item.
type Queue struct {
	patient
	dir  string
	flaw Flaw

	list []string // of StaleList
}

// NewQueue returns a queue with the given flaw on dir, which must have children
// "items" and "claims".
func NewQueue(conn recipes.Conn, env recipes.Env, dir string, flaw Flaw) *Queue {
	return &Queue{patient: patient{conn, env}, dir: dir, flaw: flaw}
}

// Put adds an item; 0 is the highest priority.
func (q *Queue) Put(ctx context.Context, data []byte, priority int) error {
	guid := q.env.UUID()
	flags, format := int32(zk.FlagSequence), "%s/items/%s-%05d-"
	if q.flaw == EphemeralItems {
		flags |= zk.FlagEphemeral
	}
	if q.flaw == Unpadded {
		format = "%s/items/%s-%d-"
	}
	item := &zk.CreateRequest{Path: fmt.Sprintf(format, q.dir, guid, priority), Data: data, Acl: everybody, Flags: flags}
	for q.flaw == PutTwice {
		if _, err := q.conn.Create(item.Path, data, flags, everybody); !interrupted(err) {
			return err
		}
		if err := q.session(context.Background()); err != nil {
			return err
		}
	}
	return q.once(ctx, guid, item)
}

// once executes ops exactly once, with a receipt that tells whether they were executed.
func (q *Queue) once(ctx context.Context, guid string, ops ...interface{}) error {
	receipt := q.dir + "/" + guid
	ops = append(ops, &zk.CreateRequest{Path: receipt, Acl: everybody, Flags: zk.FlagEphemeral})
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		before := q.conn.SessionID()
		_, err := q.conn.Multi(ops...)
		if interrupted(err) && err != zk.ErrNoServer {
			if _, takes := ops[0].(*zk.DeleteRequest); takes && q.flaw == CancelTake {
				if q.session(ctx); ctx.Err() != nil {
					return ctx.Err() // nobody looks whether it was executed
				}
			}
			var names []string
			if names, err = q.fresh(q.dir); err == nil && !slices.Contains(names, guid) {
				if before == 0 || q.conn.SessionID() != before {
					return recipes.ErrUnknownOutcome
				}
				continue
			}
		}
		if err == zk.ErrNoServer {
			err = q.session(context.Background())
			if err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		return q.discard(receipt)
	}
}

// fresh lists children after a sync.
func (q *Queue) fresh(dir string) (names []string, err error) {
	return names, q.until(context.Background(), func() error {
		before := q.conn.SessionID()
		_, err := q.conn.Sync(dir)
		if err == nil {
			names, _, err = q.conn.Children(dir)
		}
		if before == 0 || q.conn.SessionID() != before {
			return zk.ErrSessionExpired // the new session may have begun in the past
		}
		return err
	})
}

// Take waits for an item and removes it.
func (q *Queue) Take(ctx context.Context) ([]byte, error) { return q.take(ctx, true) }

// TryTake returns recipes.ErrEmpty when there is no item.
func (q *Queue) TryTake(ctx context.Context) ([]byte, error) { return q.take(ctx, false) }

func (q *Queue) take(ctx context.Context, wait bool) ([]byte, error) {
	for {
		name, data, err := q.first(ctx, wait)
		if err != nil {
			return nil, err
		}
		path := q.dir + "/items/" + name
		if q.flaw == DeleteLost {
			err = q.until(context.Background(), func() error { return q.conn.Delete(path, -1) })
		} else {
			err = q.once(ctx, q.env.UUID(), &zk.DeleteRequest{Path: path, Version: -1})
		}
		if err == zk.ErrNoNode {
			continue // another consumer has it
		}
		return data, err
	}
}

// Len returns how many items there are.
func (q *Queue) Len(context.Context) (n int, err error) {
	var names []string
	err = q.until(context.Background(), func() error {
		if q.flaw != StaleLength {
			if _, err := q.conn.Multi(); err != nil { // a write
				return err
			}
		}
		names, err = q.fresh(q.dir + "/items")
		return err
	})
	return len(names), err
}

// Claim waits for an item and claims it.
func (q *Queue) Claim(ctx context.Context) (*Item, error) { return q.claim(ctx, true) }

// TryClaim returns recipes.ErrEmpty when there is no item.
func (q *Queue) TryClaim(ctx context.Context) (*Item, error) { return q.claim(ctx, false) }

func (q *Queue) claim(ctx context.Context, wait bool) (*Item, error) {
	for {
		name, data, err := q.first(ctx, wait)
		if err != nil {
			return nil, err
		}
		guid := q.env.UUID()
		i := &Item{data: data, queue: q, path: q.dir + "/items/" + name, claim: q.dir + "/claims/" + name, proof: q.dir +
			"/claims/" + guid}
		i.owner = q.conn.SessionID()
		err = q.once(context.Background(), guid,
			&zk.CheckVersionRequest{Path: i.path, Version: -1},
			&zk.CreateRequest{Path: i.claim, Acl: everybody, Flags: zk.FlagEphemeral},
			&zk.CreateRequest{Path: i.proof, Acl: everybody, Flags: zk.FlagEphemeral})
		switch err {
		case nil:
			return i, nil
		case zk.ErrNodeExists, zk.ErrNoNode, recipes.ErrUnknownOutcome: // in the last case the claim went with the session
		default:
			return nil, err
		}
	}
}

// first returns the first item that is free.
func (q *Queue) first(ctx context.Context, wait bool) (name string, data []byte, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return "", nil, err
		}
		if len(q.list) == 0 || q.flaw != StaleList {
			if q.list, err = q.free(); err != nil {
				return "", nil, err
			}
		}
		switch {
		case len(q.list) > 0:
			name, q.list = q.list[0], q.list[1:]
			err = q.until(context.Background(), func() (err error) {
				data, _, err = q.conn.Get(q.dir + "/items/" + name)
				return err
			})
			if err != zk.ErrNoNode {
				return name, data, err
			}
		case !wait:
			return "", nil, recipes.ErrEmpty
		default:
			if err := q.wait(ctx); err != nil {
				return "", nil, err
			}
		}
	}
}

// free lists the items that nobody has claimed, in order.
func (q *Queue) free() ([]string, error) {
	var items, claims []string
	var err error
	if q.flaw == StaleTake {
		err = q.until(context.Background(), func() (err error) {
			items, _, err = q.conn.Children(q.dir + "/items")
			return err
		})
	} else {
		items, err = q.fresh(q.dir + "/items")
	}
	if err == nil {
		claims, err = q.fresh(q.dir + "/claims")
	}
	return q.order(items, claims), err
}

func (q *Queue) order(items, claims []string) []string {
	items = slices.DeleteFunc(slices.Clone(items), func(name string) bool { return slices.Contains(claims, name) })
	slices.SortFunc(items, func(a, b string) int {
		if q.flaw == GUIDSort {
			return strings.Compare(a, b)
		}
		return strings.Compare(a[strings.Index(a, "-"):], b[strings.Index(b, "-"):])
	})
	return items
}

// wait waits until there may be a free item.
func (q *Queue) wait(ctx context.Context) error {
	items, _, changed, err := q.conn.ChildrenW(q.dir + "/items")
	var claims []string
	var released <-chan zk.Event
	if err == nil {
		claims, _, released, err = q.conn.ChildrenW(q.dir + "/claims")
	}
	if q.flaw == ItemsOnly {
		released = nil
	}
	if interrupted(err) {
		return q.session(ctx)
	}
	if err != nil || len(q.order(items, claims)) > 0 && q.flaw != BlindWait {
		return err
	}
	_, _, err = q.env.Await(ctx, changed, released)
	return err
}

// Item is an item that was claimed.
type Item struct {
	data               []byte
	queue              *Queue
	path, claim, proof string
	owner              int64
}

// Data returns what was put.
func (i *Item) Data() []byte { return i.data }

// Znodes returns the paths that the object knows of.
func (i *Item) Znodes() []string { return []string{i.claim, i.proof} }

// Ack removes the item.
func (i *Item) Ack(context.Context) error {
	q := i.queue
	if i.queue.flaw == AckUnchecked {
		if err := q.discard(i.path); err != nil {
			return err
		}
		return i.Return(context.Background())
	}
	lost := false
	err := q.until(context.Background(), func() error {
		_, err := q.conn.Multi(
			&zk.DeleteRequest{Path: i.proof, Version: -1},
			&zk.DeleteRequest{Path: i.claim, Version: -1},
			&zk.DeleteRequest{Path: i.path, Version: -1})
		lost = lost || interrupted(err)
		return err
	})
	switch {
	case err == zk.ErrNoNode && !lost:
		return recipes.ErrClaimLost
	case err == zk.ErrNoNode && (i.owner == 0 || q.conn.SessionID() != i.owner):
		return recipes.ErrUnknownOutcome
	case err == zk.ErrNoNode:
		return nil
	}
	return err
}

// Return gives the item back.
func (i *Item) Return(context.Context) error {
	err := i.queue.until(context.Background(), func() error {
		_, err := i.queue.conn.Multi(
			&zk.DeleteRequest{Path: i.proof, Version: -1},
			&zk.DeleteRequest{Path: i.claim, Version: -1})
		return err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}
