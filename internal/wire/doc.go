// Package wire reads what a client and a ZooKeeper server say to each other from
// the bytes of their connection, and so writes the history of a real run with what
// no client library tells: every request and answer, the zxids, and which change
// fired which watch. It knows the formats of jute that it needs and
// changes nothing on the way.
package wire
