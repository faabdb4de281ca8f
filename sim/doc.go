// Package sim runs client code against a simulated ZooKeeper ensemble and client library in one thread. Everything that
// could go one way or another is a named [Transition] that a [Chooser] picks. A run is the list of these names:
// replaying it gives the same run, bit for bit ([Replay]).
//
// A [World] holds the ensemble (one committed log, of which every server has applied a prefix), the clients' libraries
// with the behaviour of go-zookeeper v1.0.4, and the clients' code as coroutines. Many worlds may run in parallel; they
// share nothing. A world knows no recipes and judges nothing: it writes a history.History.
package sim
