// Package wire reads what a client and a ZooKeeper server say to each other from
// the bytes of their connection, and so writes the history of a real run with what
// no client library tells: every request and answer, the zxids, and which change
// fired which watch. What the bytes mean package jute knows. Nothing changes on the
// way, unless a [Gate] loses it.
package wire
