// Package wire reads what a client and a ZooKeeper server say to each other from the bytes of their connection. So the
// history of a real run has what no client library tells: every request and answer, the zxids, and which change fired
// which watch. Package jute knows what the bytes mean. Nothing changes on the way, unless a [Gate] loses it.
package wire
