package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// Errors of the queues.
var (
	// ErrEmpty is returned by TryTake and TryClaim when there is no unclaimed item.
	ErrEmpty = errors.New("recipes: the queue is empty")
	// ErrClaimLost is returned by Ack when this consumer's claim on the item is gone: another consumer gets the item, or
	// already has it. Both Ack and Return return it once the item is settled.
	ErrClaimLost = errors.New("recipes: the claim on the item is lost")
)

// QueueOptions are the options of a queue. The zero value is fine.
type QueueOptions struct {
	ACL []zk.ACL // of the znodes made; nil: everything for everybody
	// Turns makes waiting consumers queue up, so that an item wakes one of them instead of all. All consumers of a queue
	// should agree on it.
	Turns bool
}

// Queue is a first-in-first-out queue between producers and consumers: the
// recipe "Queues" of the ZooKeeper documentation, without its holes.
//
// The consumer chooses the delivery mode for each item by what it calls. Take delivers at most once: when a consumer
// ends in the middle, its item may be lost. Claim delivers at least once: an item that its consumer returns, or whose
// consumer's session ends before it is acknowledged, goes to another.
//
// # Protocol
//
// Items are persistent sequential znodes dir/items/GUID-item-NUMBER. To put one,
//
//  1. In one multi, create the item and dir/GUID, an ephemeral receipt.
//  2. If the answer is lost, fence and look for the receipt; if the session has ended, and the receipt with it, look
//     for the item. If the session has ended and neither is there, the outcome is unknown and Put says so.
//  3. Delete the receipt.
//
// To claim the first item that is free,
//
//  4. Sync (but fence before saying that there is no item), and list dir/items and dir/claims. Of the items without a
//     claim, take the one with the lowest number and read it.
//  5. In one multi, check that the item is there and create dir/claims/ITEM and
//     dir/GUID, both ephemeral. If the claim exists or the item does not, go
//     to 4. If the answer is lost, fence and look for the GUID.
//  6. If no item is free, list both again, leaving watches (on claims only if there are items). If these lists show
//     no free item, wait for either watch or a change of the session's state. Then go to 4.
//
// To acknowledge it,
//
//  7. In one multi, delete dir/GUID, dir/claims/ITEM and the item. If there is no dir/GUID, the claim was lost with
//     its session; if only dir/GUID is there, somebody has deleted the claim or the item. After a lost answer the
//     multi may also have been executed: fence and look. If dir/GUID or the item is there, it was not executed. If
//     both are gone, it was executed if the session is still the one that made the claim; in another session the
//     outcome is unknown.
//
// To return an item, leave out the last of the three deletes. Take is 4 to 7 and delivers what has been acknowledged.
//
// # What the recipe page leaves out
//
// The page makes items ephemeral, so that they vanish with their producer (mutant ephemeral-items), and says nothing
// about lost answers. A put that is tried again may put the item twice (put-twice), and looking for the item is not
// enough, because it may have been consumed; hence the receipt. If a repeated delete finds no item, the first attempt
// may have succeeded (delete-lost), and a caller that gives up has to be told that the item may be gone
// (cancel-take). The page says nothing about consumers that end in the middle. A claim that is not part of the multi
// that deletes the item protects nothing (ack-unchecked), and consumers that wait have to hear of a claim that is
// given up (items-only). A server that lags may call a queue empty that is not (stale-take), an item may have come
// before the watch was left (blind-wait), and names with a GUID are in no order (guid-sort).
//
// Near 2^31 the server repeats sequence numbers. From there on items are ordered by the zxid that created them, and
// after a reconnect the server does not tell of creates that the client's watches have missed. Hence the change of
// state in step 6.
//
// # Fan-out
//
// An item notifies every consumer that waits, all but one in vain, and up to four times: when it comes, when it is
// claimed, and when item and claim go. With [QueueOptions.Turns] only one consumer waits for items, at the price of a
// [Lock] for each Take and Claim.
//
// A wait that ends with its context leaves its watches to the next one. Only if it ends while they are being left are
// they lost, and take up memory until the queue changes.
//
// A Queue is for one goroutine at a time; the items that it has delivered may be
// used by others.
type Queue struct{ queue }

// NewQueue returns a queue on the znode dir, which must not be "/" and should be
// used for nothing else. It is created when it is missing.
func NewQueue(conn Conn, env Env, dir string, opt QueueOptions) *Queue {
	return &Queue{newQueue(session{conn, env}, dir, opt)}
}

// Put appends an item. If the error is ErrUnknownOutcome, for errors.Is, the item may have been put nevertheless: the
// session has ended at the wrong moment, or ctx was done before the outcome was known. With any other error the item
// was not put. Data that exceed what a packet may have (1 MB, unless jute.maxbuffer says otherwise) never get
// through, and Put tries until ctx is done; data that the library refuses to send, from 1.5 MB on, end it at once.
func (q *Queue) Put(ctx context.Context, data []byte) error { return q.put(ctx, data, "item") }
