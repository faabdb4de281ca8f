// Package jute is ZooKeeper's protocol as bytes: the handshake, the requests of a client, and the answers and watch
// events of a server, in both directions and for all operations of 3.9, as [model] has them. It knows no network and
// no clock, and not what an operation does.
//
// A packet is what a frame carries: a length of four bytes comes before each packet on a connection ([Frames] cuts a
// stream, [StartFrame] and [EndFrame] make one). A length is believed only up to a limit, and a count only up to what
// is left of the packet, so that no memory is set aside for what has not arrived.
//
// As ZooKeeper does, the parsers ignore what follows the last field of a packet.
package jute

import "errors"

// What is wrong with a packet; the errors of this package wrap one of these.
var (
	// ErrShort says that a packet ends within a field.
	ErrShort = errors.New("jute: the packet ends within a field")
	// ErrLength says that a length is negative or greater than permitted.
	ErrLength = errors.New("jute: unreasonable length")
	// ErrHeader says that a request has no whole header, so that nobody knows what it asks: a server closes the
	// connection. Every other error is about the record behind the header, and a server answers it with
	// model.MarshallingError.
	ErrHeader = errors.New("jute: no whole header")
)

// The xids of packets that are not numbered by the client.
const (
	XidEvent int32 = -1
	XidPing  int32 = -2
	XidAuth  int32 = -4
)

// NoZxid is the zxid in the header of a watch event: the servers before 3.9 do not say which txn has fired it.
const NoZxid = -1
