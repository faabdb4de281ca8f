package recipes

import (
	"context"
	"fmt"
)

// PriorityQueue is a [Queue] in which items of higher priority overtake: the recipe "Priority Queues" of the
// ZooKeeper documentation. As there, a lower number is a higher priority. Items of the same priority are
// first-in-first-out.
//
// # Protocol
//
// As [Queue], with the priority in place of the word "item" in the names: dir/items/GUID-PRIORITY-NUMBER. The first
// item is the one with the lowest PRIORITY, and among equals the one with the lowest NUMBER.
//
// # What the recipe page leaves out
//
// The page appends the priority to the name as it is; names compare as strings, so 10 comes before 9 (mutant
// unpadded). Here priorities are padded to five digits, which is why they are limited to 16 bits. The page demands a
// fresh list after each watch that fires. But an event can be late, and until it comes the list is out of date
// (stale-list). Here no list is kept from call to call, and a fence comes before each list, because a sync can be
// answered by a leader that was deposed.
//
// # Fan-out
//
// As [Queue].
type PriorityQueue struct{ queue }

// NewPriorityQueue is like [NewQueue].
func NewPriorityQueue(conn Conn, env Env, dir string, opt QueueOptions) *PriorityQueue {
	q := &PriorityQueue{newQueue(session{conn, env}, dir, opt)}
	q.ranked = true
	return q
}

// Put adds an item; 0 is the highest priority. Otherwise it is like [Queue.Put].
func (q *PriorityQueue) Put(ctx context.Context, data []byte, priority uint16) error {
	return q.put(ctx, data, fmt.Sprintf("%05d", priority))
}
