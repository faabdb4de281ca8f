// Package transcript reads recordings of a real ZooKeeper server and replays them against package model: [Parse] reads
// one, [Replay] lists where the model would have answered differently. The recordings are the referee of the model; the
// format and the rules of comparison are those of testdata/golden.
//
// The driver does what the model leaves to its caller: zxids, time, the table of sessions, reconnects, the limit on the
// size of a packet and the leader's clean-up of containers. The package knows nothing about the simulator and has no
// network, clock or goroutine.
package transcript
