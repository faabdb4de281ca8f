package sim

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"zksim/model/jute"
)

// libraryMaxPacketLen is the longest packet that fits into go-zookeeper's buffer together with the length before it. A
// longer one fails in the library with zk.ErrShortBuffer.
const libraryMaxPacketLen = 1536*1024 - 4

// tooLong reports whether the library cannot encode r. It finds that out just before it sends r: without a connection
// such a request waits like all others.
func (r *request) tooLong() bool { return r.req.PacketLen() > libraryMaxPacketLen }

// wireText returns a string as the library receives it from the server. The server encodes a character beyond the basic
// plane as two surrogates of three bytes each (CESU-8, BinaryOutputArchive.stringToByteBuffer), and the library takes
// the bytes as they are.
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

// javaText returns a string from code as the server reads it; see [jute.ValidText].
func javaText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(jute.ValidText([]byte(s)))
}

// copyACL returns a copy of a list, with its strings as they arrive.
func copyACL(list []zk.ACL, arrives func(string) string) []zk.ACL {
	list = slices.Clone(list)
	for i := range list {
		list[i].Scheme, list[i].ID = arrives(list[i].Scheme), arrives(list[i].ID)
	}
	return list
}
