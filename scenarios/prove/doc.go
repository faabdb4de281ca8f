// Package prove explores all schedules of a bounded scenario: every order of messages and every placement of the faults
// of a plan. It runs the recipe's own code, from the start, wherever a client or a server does something for the first
// time. It remembers what that did, and does not run it again when another run reaches the same point. It remembers
// visited states by a fingerprint of 16 bytes.
//
// The result of a proof is its [Certificate]: within that scope, no schedule violates any of the named checkers, except
// for a collision of fingerprints, whose probability is given. A scope has limits:
//
//   - It has a number of clients, rounds and faults. More are outside of it.
//   - Time passes only when nothing else can happen, so a timeout strikes at rest (but see Scope.Ticks). At rest, the
//     faults may also be over from then on.
//   - Unless Scope.Interleave is set, client code is quick: see there.
//   - What ZooKeeper leaves open, such as the order of a list of children, and the names that Env.UUID makes, are those
//     of one Scope.Order.
//   - Code that depends on the distance of two zxids, and not only on their order, needs the reduction of zxids
//     switched off.
//   - The programs of two clients share nothing but the ensemble and the guarded resource (scenarios.Process.Resource).
package prove
