// Package conform compares the simulator with real ZooKeeper. [Run] lets both execute the same random operations of
// several sessions through the same client interface, recipes.Conn, and compares everything that a program can observe:
// results, errors, Stats, watch events in their order per session, and the watch channels that fire. A difference is
// shrunk to a short sequence. [Replay] compares recordings of a server with the model behind the simulator.
//
// Operations do not overlap, so that there is one right answer: each is executed to its end, with all its consequences,
// before the next one begins. What overlapping operations may do is the subject of the scenarios, not of this package,
// which knows no recipe and no checker.
package conform
