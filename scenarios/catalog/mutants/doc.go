// Package mutants re-creates documented bugs of ZooKeeper recipes, each in a few
// lines: a harness that lets one of them get away is not to be
// believed when it says that a correct recipe holds.
//
// Every [Flaw] says what is wrong, where it was seen, what wakes it, and which
// checker has to catch it. Nothing here is for use.
package mutants

// Flaw is one bug of a recipe.
type Flaw int

// The flaws of locks. The numbers are those of docs/museum.md.
const (
	// PlainCreate retries a create whose answer was lost. The first znode
	// belongs to nobody who knows of it.
	// Seen: Netflix/curator#3, ZOOKEEPER-1262, zk-ruby#54.
	// Wakes: lose-reply of the create. Caught by: quiescence, tree.
	PlainCreate Flaw = 1
	// NoOwnCheck takes "nobody is lower" for "I am the lowest", without
	// looking whether the own znode is still listed.
	// Seen: go-zookeeper lock.go. Wakes: expire. Caught by: ownership, belief.
	NoOwnCheck Flaw = 2
	// IgnoreExists waits for the predecessor although the call that left the
	// watch said that it is gone.
	// Seen: Apache WriteLock, Helix PR 44. Wakes: the schedule alone.
	// Caught by: quiescence.
	IgnoreExists Flaw = 3
	// NameSort orders the queue by whole names, and so by GUID.
	// Seen: ZOOKEEPER-2931, Accumulo PR 1926. Wakes: the schedule alone.
	// Caught by: ownership, belief.
	NameSort Flaw = 4
	// LeakOnError returns an error that comes after the create and leaves the
	// znode.
	// Seen: samuel/go-zookeeper#229. Wakes: lose-request of the listing.
	// Caught by: tree, quiescence.
	LeakOnError Flaw = 5
	// WatchFirst makes all waiters watch the lowest znode.
	// Seen: kazoo commit 7dd4c4c, ZOOKEEPER-1483. Wakes: nothing is needed.
	// Caught by: herd.
	WatchFirst Flaw = 6
	// StringSequence compares sequence numbers as strings. At the end of the
	// numbers they repeat, and two contenders are the first.
	// Seen: kazoo#730, go-zookeeper PR 65. Wakes: sequence near 2^31-1.
	// Caught by: ownership, belief.
	StringSequence Flaw = 8
	// NoToken has no fencing token: the holder writes without one.
	// Seen: CURATOR-206, libkv PR 156. Wakes: a pause beyond the session's
	// timeout (learn-late). Caught by: fenced.
	NoToken Flaw = 9
	// KeepHeld forgets the lock before it deletes the znode, and ignores the
	// error of the delete.
	// Seen: CURATOR-678. Wakes: lose-request of the delete.
	// Caught by: tree, quiescence.
	KeepHeld Flaw = 10
	// CancelLeak leaves the znode that was perhaps created when the context is
	// cancelled.
	// Seen: CURATOR-79, Vitess PR 15757. Wakes: cancel with lose-reply.
	// Caught by: tree.
	CancelLeak Flaw = 11
	// WatchOnly waits for the deletion event alone and hears nothing of the
	// session's end.
	// Seen: kazoo PR 170, twitter commons#20. Wakes: expire.
	// Caught by: quiescence.
	WatchOnly Flaw = 12
	// Wedged returns from Unlock with the error of the delete before it has
	// cleared its state. When the znode is gone, the object is dead forever.
	// Seen: go-zookeeper lock.go, gnmi-gateway#61. Wakes: expire while held.
	// Caught by: liveness.
	Wedged Flaw = 13
	// ForeignDelete has names without a GUID and deletes the parent when it is
	// empty, so that names come again. A late unlock deletes another's znode.
	// Seen: zk-ruby#34. Wakes: expire and the parent made anew.
	// Caught by: belief.
	ForeignDelete Flaw = 14

	// SameSession takes any first znode of its own session for its own. Two
	// lock objects of one process hold the lock at once.
	// Derived from Curator's per-thread locks. Wakes: the schedule alone.
	// Caught by: ownership.
	SameSession Flaw = 101
	// StaleTry believes a listing made before it has a znode of its own: it
	// says "locked" although the lock is free.
	// Derived from the stale reads of followers. Wakes: a server that lags.
	// Caught by: linearizability.
	StaleTry Flaw = 102
	// ClosedSpin goes on reading a watch channel that was closed with the
	// session.
	// Derived from go-zookeeper's channels. Wakes: expire. Caught by: steps.
	ClosedSpin Flaw = 103
	// SyncedRetry looks for a znode whose create had no answer behind a sync, and
	// creates another one under a new GUID if it does not see it.
	// Derived from leaders that were deposed (ZOOKEEPER-1675).
	// Wakes: depose, late-commit of the create. Caught by: quiescence, tree.
	SyncedRetry Flaw = 105
	// LowToken has the lower 32 bits of the zxid for a fencing token, which start
	// anew with each leader.
	// Derived from zxids. Wakes: elect. Caught by: fenced.
	LowToken Flaw = 106
	// FewTries gives an unlock up after a few zk.ErrNoServer and takes the znode for
	// gone with the session, which lives on when there is a leader again.
	// Derived from retry policies. Wakes: elect. Caught by: tree, quiescence.
	FewTries Flaw = 107
)
