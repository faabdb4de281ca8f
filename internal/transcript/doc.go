// Package transcript reads recordings of a real ZooKeeper server and replays
// them against package model: [Parse] reads one, [Replay] lists where the model
// would have answered otherwise. The recordings are the referee of the model;
// the format and the rules of comparison are those of testdata/golden.
//
// What the model leaves to its caller lives here, in the driver: zxids, time,
// the table of sessions, reconnects, the limit on the size of a packet and the
// leader's clean-up of containers. The package knows nothing of the simulator
// and has no network, clock or goroutine.
package transcript
