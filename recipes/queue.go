package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// Errors of the queues.
var (
	// ErrEmpty is returned by TryTake and TryClaim when there is no item that
	// nobody has claimed.
	ErrEmpty = errors.New("recipes: the queue is empty")
	// ErrClaimLost is returned by Ack when the item is not claimed by this
	// consumer any more: another one gets it, or has got it.
	ErrClaimLost = errors.New("recipes: the claim on the item is lost")
)

// QueueOptions are the options of a queue. The zero value is fine.
type QueueOptions struct {
	ACL []zk.ACL // of the znodes made; nil: everything for everybody
	// Turns makes the consumers that wait do so one behind the other, so that an
	// item wakes one of them instead of all. All consumers of a queue should
	// agree on it.
	Turns bool
}

// Queue is a first-in-first-out queue between producers and consumers: the
// recipe "Queues" of the ZooKeeper documentation, without its holes.
//
// The consumer declares the delivery mode by what it calls, item by item. Take
// delivers at most once: when a consumer ends in the middle, its item is lost at
// worst. Claim delivers at least once: an item that is not acknowledged, because
// its consumer says so or because its session ends, goes to another.
//
// # Protocol
//
// Items are persistent sequential znodes dir/items/GUID-item-NUMBER. To put one,
//
//  1. In one multi, create the item and dir/GUID, an ephemeral receipt.
//  2. If the answer is lost, fence and look for the receipt; where the session
//     has ended, and the receipt with it, look for the item. With neither, after
//     a session's end, the outcome is unknown and Put says so.
//  3. Delete the receipt.
//
// To claim the first item that is free,
//
//  4. Sync, or fence to say that there is none, list dir/items and dir/claims. Take the item with the lowest number
//     of those without a claim, and read it.
//  5. In one multi, check that the item is there and create dir/claims/ITEM and
//     dir/GUID, both ephemeral. If the claim exists or the item does not, go
//     to 4. If the answer is lost, fence and look for the GUID.
//  6. With no item free, list both leaving watches (claims only if there are
//     items), and look at the answer: if it has a free item go to 4, else wait
//     for either watch, or a change of the session's state, first.
//
// To acknowledge it,
//
//  7. In one multi, delete dir/GUID, dir/claims/ITEM and the item. If there is
//     no dir/GUID, the claim was lost with its session; if dir/GUID is alone,
//     somebody has deleted the claim or the item. After a lost answer it may
//     also be that the multi was executed: fence and look. If dir/GUID or the item
//     is there, it was not; if both are gone, it was if the session is the one
//     that made the claim, and in another session the outcome is unknown.
//
// To return an item, leave out the last of the three. Take is 4 to 7 and
// delivers what has been acknowledged.
//
// # What the recipe page leaves out
//
// The page makes items ephemeral, so that they vanish with their producer (mutant
// ephemeral-items), and says nothing of lost answers. A put that is tried again
// may be the second one (put-twice), and looking for the item is not enough,
// since it may have been consumed; hence the receipt. Deleting an item again and
// being told that there is none may mean that the first attempt had succeeded
// (delete-lost), and a caller who gives up has to be told that the item is perhaps
// gone (cancel-take). Of consumers that end in the middle it says nothing; a claim
// that is not part of the multi that deletes the item protects nothing
// (ack-unchecked), and those who wait have to hear of one that is given up
// (items-only). A server that lags calls a queue empty that is not (stale-take), an
// item may have come before the watch was left (blind-wait), and names with a GUID
// are in no order (guid-sort).
//
// Near 2^31 the server repeats sequence numbers; from there on items are ordered by
// the zxid that created them, and a server to which a client reconnects does not
// know of the creates that it has missed. Hence the change of state in step 6.
//
// # Fan-out
//
// An item notifies every consumer that waits, and all but one in vain: up to four
// times, as it comes, as it is claimed, and as item and claim go. With
// [QueueOptions.Turns] only one consumer waits for items, for the price of a
// [Lock] at each Take and Claim.
//
// A wait that ends with its context leaves its watches to the next one. Only if it ends
// while they are being left does nobody hear of them, and they take up memory until
// the queue changes.
//
// A Queue is for one goroutine at a time; the items that it has delivered may be
// used by others.
type Queue struct{ queue }

// NewQueue returns a queue on the znode dir, which must not be "/" and should be
// used for nothing else. It is created when it is missing.
func NewQueue(conn Conn, env Env, dir string, opt QueueOptions) *Queue {
	return &Queue{newQueue(session{conn, env}, dir, opt)}
}

// Put appends an item. If the error is ErrUnknownOutcome, for errors.Is, the item
// may have been put nevertheless: because the session has ended at the wrong
// moment, or because ctx was done before the outcome could be told. With any
// other error it has not. Data that exceed what a packet may have never get
// through (1 MB, unless jute.maxbuffer says otherwise), and Put tries until ctx
// is done; what the library refuses to send, from 1.5 MB on, ends it at once.
func (q *Queue) Put(ctx context.Context, data []byte) error { return q.put(ctx, data, "item") }
