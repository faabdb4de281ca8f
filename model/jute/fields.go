package jute

import (
	"encoding/binary"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"zksim/model"
)

// reader reads the fields of a packet. After the first error, which it remembers, it returns zeros.
type reader struct {
	b   []byte
	err error
}

// take returns the next n bytes, in the memory of the packet, or nil after an error.
func (r *reader) take(n int) []byte {
	if n > len(r.b) && r.err == nil {
		r.err = ErrShort
	}
	if r.err != nil {
		r.b = nil
		return nil
	}
	field := r.b[:n:n]
	r.b = r.b[n:]
	return field
}

func (r *reader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) int64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *reader) bool() bool {
	b := r.take(1)
	return b != nil && b[0] != 0
}

// raw reads a buffer or a string. null reports that its length is -1.
func (r *reader) raw() (b []byte, null bool) {
	n := r.int32()
	if n == -1 {
		return nil, true
	}
	if n < 0 && r.err == nil {
		r.err = ErrLength
	}
	return r.take(int(max(n, 0))), false
}

// string reads a string. A null string is [model.Null].
func (r *reader) string() string {
	b, null := r.raw()
	if null {
		return model.Null
	}
	return string(b)
}

// buffer reads a buffer into memory of its own. A null buffer is nil, an empty one is not.
func (r *reader) buffer() []byte {
	b, null := r.raw()
	if null || r.err != nil {
		return nil
	}
	return append(make([]byte, 0, len(b)), b...)
}

// count reads the length of a list whose elements take at least size bytes each. It returns -1 for a null list. Like
// ZooKeeper, it takes any other negative length for zero.
func (r *reader) count(size int) int {
	n := r.int32()
	switch {
	case n == -1:
		return -1
	case n > 0 && int(n) > len(r.b)/size:
		if r.err == nil {
			r.err = ErrShort
		}
		return 0
	}
	return int(max(n, 0))
}

// strings reads a list of strings. A null list is nil, an empty one is not.
func (r *reader) strings() []string {
	n := r.count(4)
	if n < 0 || r.err != nil {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.string()
	}
	return list
}

// watched reads a list of paths to watch.
func (r *reader) watched() []string {
	list := r.strings()
	if list == nil {
		return []string{model.Null}
	}
	return list
}

// kept reads a list of paths to watch persistently, without null paths. A server does not look up the znodes of these
// watches, so it accepts a null path, and nothing happens there.
func (r *reader) kept() []string {
	if list := r.strings(); list != nil {
		return slices.DeleteFunc(list, func(path string) bool { return path == model.Null })
	}
	return []string{model.Null}
}

// acl reads an access control list. A null list is nil.
func (r *reader) acl() []zk.ACL {
	n := r.count(12)
	if n < 0 || r.err != nil {
		return nil
	}
	list := make([]zk.ACL, n)
	for i := range list {
		list[i] = zk.ACL{Perms: r.int32(), Scheme: r.string(), ID: r.string()}
	}
	return list
}

func (r *reader) stat(s *zk.Stat) {
	s.Czxid, s.Mzxid, s.Ctime, s.Mtime = r.int64(), r.int64(), r.int64(), r.int64()
	s.Version, s.Cversion, s.Aversion = r.int32(), r.int32(), r.int32()
	s.EphemeralOwner = r.int64()
	s.DataLength, s.NumChildren = r.int32(), r.int32()
	s.Pzxid = r.int64()
}

func appendInt32(b []byte, x int32) []byte { return binary.BigEndian.AppendUint32(b, uint32(x)) }
func appendInt64(b []byte, x int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(x)) }

func appendBool(b []byte, x bool) []byte {
	if x {
		return append(b, 1)
	}
	return append(b, 0)
}

// appendString appends a string; [model.Null] is null.
func appendString(b []byte, s string) []byte {
	if s == model.Null {
		return appendInt32(b, -1)
	}
	return append(appendInt32(b, int32(len(s))), s...)
}

// appendText appends a string as a server does: a character beyond the basic plane becomes two surrogates of three
// bytes each (CESU-8, BinaryOutputArchive.stringToByteBuffer). Bytes that are not UTF-8, such as these surrogates,
// stay as they are.
func appendText(b []byte, s string) []byte {
	if s == model.Null {
		return appendInt32(b, -1)
	}
	at := len(b)
	b = appendInt32(b, 0)
	for len(s) > 0 {
		c, n := utf8.DecodeRuneInString(s)
		text := s[:n]
		s = s[n:]
		if c <= 0xffff {
			b = append(b, text...)
			continue
		}
		high, low := utf16.EncodeRune(c)
		for _, u := range [...]rune{high, low} {
			b = append(b, 0xe0|byte(u>>12), 0x80|byte(u>>6&0x3f), 0x80|byte(u&0x3f))
		}
	}
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// appendBuffer appends a buffer; nil is null.
func appendBuffer(b, data []byte) []byte {
	if data == nil {
		return appendInt32(b, -1)
	}
	return append(appendInt32(b, int32(len(data))), data...)
}

// appendStrings appends a list of strings.
func appendStrings(b []byte, list []string) []byte {
	if len(list) == 1 && list[0] == model.Null {
		return appendInt32(b, -1)
	}
	b = appendInt32(b, int32(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

// appendTexts appends a list of strings as a server does, which never sends a null list.
func appendTexts(b []byte, list []string) []byte {
	b = appendInt32(b, int32(len(list)))
	for _, s := range list {
		b = appendText(b, s)
	}
	return b
}

// appendACL appends an access control list; nil is null.
func appendACL(b []byte, list []zk.ACL) []byte {
	if list == nil {
		return appendInt32(b, -1)
	}
	b = appendInt32(b, int32(len(list)))
	for _, e := range list {
		b = appendString(appendString(appendInt32(b, e.Perms), e.Scheme), e.ID)
	}
	return b
}

func appendStat(b []byte, s *zk.Stat) []byte {
	for _, x := range [...]int64{s.Czxid, s.Mzxid, s.Ctime, s.Mtime} {
		b = appendInt64(b, x)
	}
	for _, x := range [...]int32{s.Version, s.Cversion, s.Aversion} {
		b = appendInt32(b, x)
	}
	b = appendInt64(b, s.EphemeralOwner)
	b = appendInt32(appendInt32(b, s.DataLength), s.NumChildren)
	return appendInt64(b, s.Pzxid)
}
