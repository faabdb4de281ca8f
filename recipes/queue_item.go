package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// QueueItem is an item of a queue that this consumer has claimed and must acknowledge or return. It is for one
// goroutine at a time.
//
// If somebody deletes dir/GUID, the znode that proves whose claim it is, neither Ack nor Return ends the claim, and
// no other consumer gets the item before the session ends.
type QueueItem struct {
	session
	data  []byte
	path  string // of the item
	claim string // says that the item is claimed
	proof string // says by which client
	owner int64  // the session when the claim was sent

	settled bool // acknowledged, returned or lost
}

// Data returns what the producer has put.
func (i *QueueItem) Data() []byte { return i.data }

// Ack removes the item from the queue for good. It fails with ErrClaimLost when the claim was lost, because the
// session has ended, or somebody has deleted the claim and no other consumer has claimed the item yet. The item is
// then delivered to another consumer, and what this one did with it is done again. It fails with ErrUnknownOutcome,
// for errors.Is, if nobody can tell. When ctx is done first, it also fails with ErrUnknownOutcome, and Ack goes on in
// the background.
func (i *QueueItem) Ack(ctx context.Context) (err error) {
	defer Forget(i.env)(&i.settled, &err)
	if i.settled {
		return ErrClaimLost
	}
	err = i.ack(ctx)
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		i.ackLater()
		err = errors.Join(ErrUnknownOutcome, ctx.Err())
	case err == nil:
	case err == ErrClaimLost:
		i.tidyLater()
	case errors.Is(err, ErrUnknownOutcome):
		i.releaseLater()
	default:
		return err // it can be tried again
	}
	i.settled = true
	return err
}

// Return gives the item back to the queue, where it keeps its place. It does nothing when the claim was lost with its
// session, because the item is then back already. If somebody has deleted the claim and another consumer has claimed
// the item since, it ends the other's claim. When ctx is done first, it returns ctx's error and goes on in the
// background. After Ack or Return it fails with ErrClaimLost.
func (i *QueueItem) Return(ctx context.Context) (err error) {
	defer Forget(i.env)(&i.settled, &err)
	if i.settled {
		return ErrClaimLost
	}
	i.settled = true
	err = i.release(ctx)
	if err != nil && ctx.Err() != nil {
		i.releaseLater()
	}
	return err
}

// Znodes returns the paths that the object answers for: the two znodes of its claim.
func (i *QueueItem) Znodes() []string {
	if i.settled {
		return nil
	}
	return []string{i.claim, i.proof}
}

// ack deletes the claim and the item; see step 7 of [Queue].
func (i *QueueItem) ack(ctx context.Context) (err error) {
	defer Forget(i.env)(&err)
	lost := false // an answer
	err = i.retry(ctx, func() error {
		_, err := i.on(ctx).Multi(
			&zk.DeleteRequest{Path: i.proof, Version: -1},
			&zk.DeleteRequest{Path: i.claim, Version: -1},
			&zk.DeleteRequest{Path: i.path, Version: -1})
		lost = lost || unanswered(err)
		return err
	}, &lost)
	switch {
	case err == zk.ErrNoNode && !lost:
		return ErrClaimLost
	case err == zk.ErrNoNode:
		return i.outcome(ctx)
	case err != nil && lost:
		return errors.Join(ErrUnknownOutcome, err)
	}
	return err
}

// outcome returns what is known of an acknowledgement whose answer was lost and whose retry found something missing.
// If the proof or the item is still there, it was not executed: somebody has deleted the claim or the item, or the
// session has ended. If both are gone, it was executed if the session is still that of the claim; in another session
// nobody can tell.
func (i *QueueItem) outcome(ctx context.Context) error {
	proven, exists := false, false
	err := i.fresh(ctx, func() (err error) {
		if proven, _, err = i.on(ctx).Exists(i.proof); err == nil {
			exists, _, err = i.on(ctx).Exists(i.path)
		}
		return err
	}, &proven, &exists)
	switch {
	case err != nil:
		return errors.Join(ErrUnknownOutcome, err)
	case proven || exists:
		return ErrClaimLost
	case i.continues(i.owner):
		return nil
	}
	return ErrUnknownOutcome
}

// release deletes the claim, if it is there.
func (i *QueueItem) release(ctx context.Context) error { return i.removeProven(ctx, i.proof, i.claim) }

// ackLater is ack in the background, followed by removing what is left of the claim.
func (i *QueueItem) ackLater() {
	defer Forget(i.env)(i)
	i.env.Undo("queue-ack", func() {
		switch i.ack(context.Background()) {
		case nil:
		case ErrClaimLost:
			i.tidy(context.Background())
		default:
			i.release(context.Background())
		}
	})
}

// releaseLater is release in the background.
func (i *QueueItem) releaseLater() {
	defer Forget(i.env)(i)
	i.cleanUp("claim", func(ctx context.Context) { i.release(ctx) })
}

// tidy removes what is left of a lost claim, after an operator's delete for example. The claim's znode may belong to
// another consumer by now, unless the item is gone and nobody can claim it.
func (i *QueueItem) tidy(ctx context.Context) {
	if i.remove(ctx, i.proof) != nil {
		return
	}
	if exists, err := i.exists(ctx, i.path); err == nil && !exists {
		i.remove(ctx, i.claim)
	}
}

// tidyLater is tidy in the background.
func (i *QueueItem) tidyLater() {
	defer Forget(i.env)(i)
	i.cleanUp("claim", i.tidy)
}
