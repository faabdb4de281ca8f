package wire

import (
	"encoding/binary"
	"errors"
)

// frames cuts a stream of bytes into packets: a length of four bytes, and as many
// bytes as it says.
type frames struct {
	pending []byte
	hear    func(packet []byte) // valid during the call
}

// feed takes the next bytes of the stream.
func (f *frames) feed(b []byte) {
	f.pending = append(f.pending, b...)
	rest := f.pending
	for len(rest) >= 4 {
		n := int(binary.BigEndian.Uint32(rest))
		if len(rest)-4 < n {
			break
		}
		f.hear(rest[4 : 4+n])
		rest = rest[4+n:]
	}
	f.pending = append(f.pending[:0], rest...)
}

var errShort = errors.New("wire: a packet ends too early")

// reader reads the fields of a packet. After the end it gives zeros and remembers
// that.
type reader struct {
	b     []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.short, r.b = true, nil
		return make([]byte, max(0, min(n, 8)))
	}
	field := r.b[:n]
	r.b = r.b[n:]
	return field
}

func (r *reader) int32() int32 { return int32(binary.BigEndian.Uint32(r.take(4))) }
func (r *reader) int64() int64 { return int64(binary.BigEndian.Uint64(r.take(8))) }
func (r *reader) bool() bool   { return r.take(1)[0] != 0 }

// string reads a string or a buffer; the length of a null one is -1.
func (r *reader) string() string {
	n := int(r.int32())
	if n < 0 || n > len(r.b) {
		r.short = r.short || n > len(r.b)
		return ""
	}
	return string(r.take(n))
}

// acl skips a list of rights.
func (r *reader) acl() {
	for n := r.int32(); n > 0 && !r.short; n-- {
		r.int32()
		r.string()
		r.string()
	}
}

func (r *reader) err() error {
	if r.short {
		return errShort
	}
	return nil
}
