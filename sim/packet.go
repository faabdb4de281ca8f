package sim

import (
	"strings"
	"unicode/utf16"

	"zksim/model"
)

// The longest packets: what fits into go-zookeeper's buffer together with the
// length in front, and the server's jute.maxbuffer, of which the length is no
// part. A longer one fails in the library with zk.ErrShortBuffer; the server
// closes the connection without an answer.
const (
	libraryMaxPacketLen = 1536*1024 - 4
	serverMaxPacketLen  = 0xfffff
)

// Sizes on the wire: an int, a long, the header of a request, and the header of
// an operation inside a multi, one more of which ends the multi.
const (
	intLen           = 4
	longLen          = 8
	requestHeaderLen = intLen + intLen
	multiHeaderLen   = intLen + 1 + intLen
)

// packetLen is the length of the packet of a request that carries data, without
// the length in front. The others are short.
func packetLen(r *model.Request) int {
	switch r.Op {
	case model.OpCreate, model.OpCreateContainer, model.OpCreateTTL, model.OpSetData, model.OpMulti:
		return requestHeaderLen + bodyLen(r)
	}
	return 0
}

func bodyLen(r *model.Request) int {
	n := intLen + len(r.Path) + intLen + len(r.Data) + intLen // the version, or the flags
	switch r.Op {
	case model.OpDelete, model.OpCheck:
		return n - intLen
	case model.OpMulti:
		n = multiHeaderLen
		for i := range r.Ops {
			n += multiHeaderLen + bodyLen(&r.Ops[i])
		}
		return n
	case model.OpSetData:
		return n
	case model.OpCreateTTL:
		n += longLen
	}
	n += intLen
	for _, e := range r.ACL {
		n += intLen + intLen + len(e.Scheme) + intLen + len(e.ID)
	}
	return n
}

// wireText is what becomes of a string that the server sends. It encodes a
// character beyond the basic plane as two surrogates of three bytes each (CESU-8,
// BinaryOutputArchive.stringToByteBuffer), and the library takes the bytes as
// they are.
func wireText(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r > 0xffff }) < 0 {
		return s
	}
	var b []byte
	for _, r := range s {
		if r <= 0xffff {
			b = append(b, string(r)...)
			continue
		}
		high, low := utf16.EncodeRune(r)
		for _, u := range []rune{high, low} {
			b = append(b, 0xe0|byte(u>>12), 0x80|byte(u>>6&0x3f), 0x80|byte(u&0x3f))
		}
	}
	return string(b)
}
