package sim

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"zksim/model/jute"
)

// libraryMaxPacketLen is the longest packet that fits into go-zookeeper's buffer
// together with the length in front. A longer one fails in the library with
// zk.ErrShortBuffer.
const libraryMaxPacketLen = 1536*1024 - 4

// tooLong reports whether the library cannot encode r, which it finds out when it is about to send it: without a
// connection such a request waits as all others do.
func (r *request) tooLong() bool { return r.req.PacketLen() > libraryMaxPacketLen }

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

// javaText is what the server reads of a string that code sends; see [jute.ValidText].
func javaText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(jute.ValidText([]byte(s)))
}

// copyACL returns a list in memory of its own, with its strings as they arrive.
func copyACL(list []zk.ACL, arrives func(string) string) []zk.ACL {
	list = slices.Clone(list)
	for i := range list {
		list[i].Scheme, list[i].ID = arrives(list[i].Scheme), arrives(list[i].ID)
	}
	return list
}
