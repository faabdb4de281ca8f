package judge

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"zksim/internal/hash"
)

const (
	// longData is from where data in a history are replaced by their length and hash, as are those that are not UTF-8.
	longData = 256
	// longPath is from where paths are, but for their beginning.
	longPath      = 512
	pathBeginning = 64
)

// ShortData returns data as a history has them, also in its file. Those that differ have different ones.
func ShortData(s string) string {
	if len(s) <= longData && utf8.ValidString(s) {
		return s
	}
	return digest(s)
}

// ShortPath returns a path as a history has it. Those that differ have different ones.
func ShortPath(s string) string {
	if len(s) <= longPath {
		return s
	}
	n := pathBeginning
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.Clone(s[:n]) + "... " + digest(s)
}

func digest(s string) string {
	return fmt.Sprintf("%d bytes, hash %016x", len(s), uint64(hash.Hash(0).String(s)))
}
