// Package prove explores all schedules of a bounded scenario: every order of
// messages, every placement of the faults of a plan. It runs the recipe's own
// code, from the start, wherever a client or a server does something for the first time;
// what it did it remembers, and does not run it again where another run comes to the
// same. It remembers the states that it has been to by a fingerprint of 16 bytes.
//
// What a proof says is in its [Certificate]: within that scope, no schedule violates
// any of the named checkers, but for a collision of fingerprints, whose
// probability is given. What is outside of the scope:
//
//   - More clients, rounds or faults than the scope has.
//   - Time passes only when nothing else can happen, so a timeout strikes at rest; or
//     the faults are over from then on.
//   - Unless Scope.Interleave is set, client code is quick: see there.
//   - What ZooKeeper leaves open, as the order of a list of children, and the names
//     that Env.UUID makes, are those of one Scope.Order.
//   - Code that depends on the distance of two zxids, and not only on their order, needs the
//     reduction of zxids switched off.
//   - The programs of two clients share nothing but the ensemble and the guarded resource
//     (scenarios.Process.Resource).
package prove
