// Package mutants re-creates documented bugs of ZooKeeper recipes, each in a few
// lines: a harness that lets one of them get away is not to be
// believed when it says that a correct recipe holds.
//
// Every [Flaw] says what is wrong. Where it was seen, what wakes it, and which
// checker has to catch it stands in the museum of package catalog. Nothing here is for use.
package mutants

// Flaw is one bug of a recipe.
type Flaw int

// The flaws of locks. The numbers are those of docs/museum.md.
const (
	// PlainCreate retries a create whose answer was lost. The first znode belongs to nobody who knows of it.
	PlainCreate Flaw = 1
	// NoOwnCheck takes "nobody is lower" for "I am the lowest", without looking whether the own znode is still
	// listed.
	NoOwnCheck Flaw = 2
	// IgnoreExists waits for the predecessor although the call that left the watch said that it is gone.
	IgnoreExists Flaw = 3
	// NameSort orders the queue by whole names, and so by GUID.
	NameSort Flaw = 4
	// LeakOnError returns an error that comes after the create and leaves the znode.
	LeakOnError Flaw = 5
	// WatchFirst makes all waiters watch the lowest znode.
	WatchFirst Flaw = 6
	// StringSequence compares sequence numbers as strings. At the end of the numbers they repeat, and two
	// contenders are the first.
	StringSequence Flaw = 8
	// NoToken has no fencing token: the holder writes without one.
	NoToken Flaw = 9
	// KeepHeld forgets the lock before it deletes the znode, and ignores the error of the delete.
	KeepHeld Flaw = 10
	// CancelLeak leaves the znode that was perhaps created when the context is cancelled.
	CancelLeak Flaw = 11
	// WatchOnly waits for the deletion event alone and hears nothing of the session's end.
	WatchOnly Flaw = 12
	// Wedged returns from Unlock with the error of the delete before it has cleared its state. When the znode is
	// gone, the object is dead forever.
	Wedged Flaw = 13
	// ForeignDelete has names without a GUID and deletes the parent when it is empty, so that names come again.
	// A late unlock deletes another's znode.
	ForeignDelete Flaw = 14

	// SameSession takes any first znode of its own session for its own. Two lock objects of one process hold the
	// lock at once.
	SameSession Flaw = 101
	// StaleTry believes a listing made before it has a znode of its own: it says "locked" although the lock is
	// free.
	StaleTry Flaw = 102
	// ClosedSpin goes on reading a watch channel that was closed with the session.
	ClosedSpin Flaw = 103
	// SyncedRetry looks for a znode whose create had no answer behind a sync, and creates another one under a
	// new GUID if it does not see it.
	SyncedRetry Flaw = 105
	// LowToken has the lower 32 bits of the zxid for a fencing token, which start anew with each leader.
	LowToken Flaw = 106
	// FewTries gives an unlock up after a few zk.ErrNoServer and takes the znode for gone with the session,
	// which lives on when there is a leader again.
	FewTries Flaw = 107
	// ExistsLeak leaves its watch on the predecessor by exists, which leaves one on a znode that is gone as well:
	// its name never comes again, and so neither does the event.
	ExistsLeak Flaw = 180
	// AnyName takes every child of the lock's znode for a contender, as any lock here does. Another's child is one that
	// nobody deletes.
	AnyName Flaw = 108
)
