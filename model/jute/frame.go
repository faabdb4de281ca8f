package jute

import (
	"encoding/binary"
	"fmt"
)

// lengthLen is the size of the length field before each packet.
const lengthLen = 4

// Frames cuts a stream of bytes into packets. It keeps no more bytes than have arrived, and no memory between
// packets.
type Frames struct {
	Max     int // the longest packet; 0: any length
	pending []byte
}

// Feed takes the next bytes of the stream and calls hear for each complete packet. A packet is valid only during the
// call. Feed ends with the first error of hear, or an error that wraps [ErrLength], and drops the rest, because the
// stream then makes no sense.
func (f *Frames) Feed(b []byte, hear func(packet []byte) error) error {
	rest := b
	if len(f.pending) > 0 {
		f.pending = append(f.pending, b...)
		rest = f.pending
	}
	for len(rest) >= lengthLen {
		n := int(int32(binary.BigEndian.Uint32(rest)))
		if n < 0 || f.Max > 0 && n > f.Max {
			f.pending = nil
			return fmt.Errorf("%w: %d bytes of a packet", ErrLength, n)
		}
		if len(rest)-lengthLen < n {
			break
		}
		if err := hear(rest[lengthLen : lengthLen+n]); err != nil {
			f.pending = nil
			return err
		}
		rest = rest[lengthLen+n:]
	}
	f.keep(rest)
	return nil
}

// keep stores what is left of the stream.
func (f *Frames) keep(rest []byte) {
	switch len(rest) {
	case 0:
		f.pending = nil
	case len(f.pending): // nothing was cut, so rest is pending: a long packet in small pieces is not copied for each
	default:
		f.pending = append(f.pending[:0], rest...)
	}
}

// Pending returns how many bytes of an incomplete packet there are.
func (f *Frames) Pending() int { return len(f.pending) }

// StartFrame begins a frame at the end of b. Append the packet to the result, and then call [EndFrame] with len(b).
func StartFrame(b []byte) []byte { return appendInt32(b, 0) }

// EndFrame writes the length of the packet into the frame that begins at index at.
func EndFrame(b []byte, at int) []byte {
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-lengthLen))
	return b
}
