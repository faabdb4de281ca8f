// Package model is ZooKeeper as a pure function: the znode tree, sessions,
// watches and sequence counters as a state machine without goroutines, clock
// or randomness. [Server] is one replica: [Server.Apply] executes a txn of the
// replicated log, [Server.Read] a read of a connection. The caller supplies
// zxids, times and session ids.
//
// The behaviour is that of Apache ZooKeeper 3.8.0 as Debian 12 ships it,
// including order of error checks, order of children and order of events.
// Where a newer release differs, the comment says so.
package model
