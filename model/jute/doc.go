// Package jute reads and writes ZooKeeper's protocol as bytes: the handshake, a client's requests, and a server's
// answers and watch events, for all operations of 3.9, as [model] has them. It knows no network and no clock, and
// does not know what an operation does.
//
// A frame is a length of four bytes and a packet of that length. [Frames] cuts a stream into packets, [StartFrame]
// and [EndFrame] make a frame. A length is accepted only up to a limit, and a count only up to what is left of the
// packet, so that no memory is reserved for what has not arrived.
//
// Like ZooKeeper, the parsers ignore what follows the last field of a packet.
package jute

import "errors"

// What is wrong with a packet. The errors of this package wrap one of these, except for a result of a multi whose type
// no multi has; see [Reply.Response].
var (
	// ErrShort says that a packet ends within a field.
	ErrShort = errors.New("jute: the packet ends within a field")
	// ErrLength says that a length is negative or greater than permitted.
	ErrLength = errors.New("jute: unreasonable length")
	// ErrHeader says that a request or an answer has no complete header, so that nobody knows what it is about. A server
	// that gets such a request closes the connection. Every other error of [ParseRequest] is about the record after the
	// header, and a server answers it with model.MarshallingError.
	ErrHeader = errors.New("jute: no whole header")
)

// The xids of packets that the client does not number.
const (
	XidEvent int32 = -1
	XidPing  int32 = -2
	XidAuth  int32 = -4
)

// NoZxid is the zxid in the header of a watch event before 3.9: those servers do not say which txn has fired it.
const NoZxid = -1
