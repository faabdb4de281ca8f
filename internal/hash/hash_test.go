package hash

import (
	"testing"

	"pgregory.net/rapid"
)

// TestDifferentSequencesHaveDifferentHashes has sequences that a careless encoding takes for the same.
func TestDifferentSequencesHaveDifferentHashes(t *testing.T) {
	var none Hash
	seen := map[Hash]int{}
	for i, h := range []Hash{
		none,
		none.Uint64(0),
		none.Uint64(0).Uint64(0),
		none.Uint64(1),
		none.Uint64(1).Uint64(2),
		none.Uint64(2).Uint64(1),
		none.Int(-1),
		none.String("a"),
		none.String("a").String("b"),
		none.String("ab").String(""),
		none.String("").String("ab"),
		none.String("a\x00"),
		none.String("12345678"),
		none.String("123456781"),
		none.String("1234567812345678"),
		none.Bytes(nil).Bytes([]byte{}),
		none.Bytes([]byte{}).Bytes(nil),
		none.Bytes([]byte{0, 0}),
	} {
		if j, ok := seen[h]; ok {
			t.Errorf("sequences %d and %d have the hash %x", j, i, h)
		}
		seen[h] = i
	}
	small := map[Hash]bool{}
	for a := range Hash(64) {
		for b := range uint64(64) {
			if h := a.Uint64(b); small[h] {
				t.Errorf("another pair than %d, %d has the same hash", a, b)
			} else {
				small[h] = true
			}
		}
	}
	if none.Bool(true) == none.Bool(false) {
		t.Error("true and false are the same")
	}
}

// TestStringsAndBytesAreHashedByTheirContents compares both, and changes one byte.
func TestStringsAndBytesAreHashedByTheirContents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		begin := Hash(rapid.Uint64().Draw(t, "begin"))
		b := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "bytes")
		if begin.Bytes(b) != begin.String(string(b)) {
			t.Fatal("bytes and the string of them differ")
		}
		i := rapid.IntRange(0, len(b)-1).Draw(t, "place")
		was := begin.Bytes(b)
		b[i] ^= rapid.ByteRange(1, 255).Draw(t, "change")
		if begin.Bytes(b) == was {
			t.Fatal("a byte makes no difference")
		}
	})
}
