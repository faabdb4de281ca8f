// Package model is ZooKeeper as a pure function: a state machine of the znode tree, sessions, watches and sequence
// counters, without goroutines, clock or randomness. [Server] is one replica: [Server.Apply] executes a txn of the
// replicated log, [Server.Read] a read of a connection. The caller supplies zxids, times and session ids.
//
// It behaves like Apache ZooKeeper 3.8.0 as Debian 12 ships it, including the order of error checks, of children and
// of events. Comments say where a newer release differs.
package model
