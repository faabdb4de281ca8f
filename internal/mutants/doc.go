// Package mutants re-creates documented bugs of ZooKeeper recipes, each in a few lines. Do not believe a harness that
// misses one of them when it says that a correct recipe holds.
//
// Every [Flaw] says what is wrong. The museum of package catalog says where it was seen, what wakes it, and which
// checker has to catch it. Nothing here is for use.
package mutants

// Flaw is one bug of a recipe.
type Flaw int

// The flaws of locks. The numbers are those of docs/museum.md.
const (
	// PlainCreate retries a create whose answer was lost. Nobody knows of the first znode.
	PlainCreate Flaw = 1
	// NoOwnCheck takes "nobody is lower" for "I am the lowest", without checking that its own znode is still listed.
	NoOwnCheck Flaw = 2
	// IgnoreExists waits for the predecessor although the call that left the watch said that it was gone.
	IgnoreExists Flaw = 3
	// NameSort orders the queue by whole names, that is by GUID.
	NameSort Flaw = 4
	// LeakOnError returns an error that comes after the create, and leaves the znode.
	LeakOnError Flaw = 5
	// WatchFirst makes all waiters watch the lowest znode.
	WatchFirst Flaw = 6
	// StringSequence compares sequence numbers as strings. At the end of the sequence numbers repeat, and two
	// contenders are the first.
	StringSequence Flaw = 8
	// NoToken has no fencing token: the holder writes without one.
	NoToken Flaw = 9
	// KeepHeld forgets the lock before it deletes the znode, and ignores the error of the delete.
	KeepHeld Flaw = 10
	// CancelLeak leaves a znode that was perhaps created before the context was cancelled.
	CancelLeak Flaw = 11
	// WatchOnly waits for the deletion event alone and hears nothing of the session's end.
	WatchOnly Flaw = 12
	// Wedged returns from Unlock with the error of the delete before it clears its state. When the znode is gone, the
	// object is dead forever.
	Wedged Flaw = 13
	// ForeignDelete has names without a GUID and deletes the parent when it is empty, so names repeat. A late unlock
	// deletes another client's znode.
	ForeignDelete Flaw = 14

	// SameSession takes any first znode of its own session for its own. Two lock objects of one process hold the lock
	// at once.
	SameSession Flaw = 101
	// StaleTry believes a listing made before it has a znode of its own: it says "locked" although the lock is
	// free.
	StaleTry Flaw = 102
	// ClosedSpin goes on reading a watch channel that was closed with the session.
	ClosedSpin Flaw = 103
	// SyncedRetry looks, after a sync, for the znode of a create without an answer. If it does not see the znode, it
	// creates another one under a new GUID.
	SyncedRetry Flaw = 105
	// LowToken uses the lower 32 bits of the zxid as a fencing token. They start anew with each leader.
	LowToken Flaw = 106
	// FewTries gives an unlock up after a few zk.ErrNoServer and believes that the znode has gone with the session. But
	// the session lives on when there is a leader again.
	FewTries Flaw = 107
	// ExistsLeak leaves its watch on the predecessor by exists, which also leaves one on a znode that is gone. Its name
	// never comes again, so the watch never fires.
	ExistsLeak Flaw = 180
	// AnyName takes every child of the lock's znode for a contender, as every lock here does. Nobody deletes a child
	// that is no contender.
	AnyName Flaw = 108
)
