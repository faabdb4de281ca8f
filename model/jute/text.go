package jute

import "unicode/utf8"

// ValidText returns the text that Java makes of bytes: UTF-8 in which U+FFFD replaces invalid bytes. As Unicode
// recommends, one U+FFFD replaces as many bytes as could begin a character, but also the three bytes of a surrogate.
// ValidText returns b itself if it is valid.
func ValidText(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	text := make([]byte, 0, len(b)+8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = malformed(b)
		}
		text = utf8.AppendRune(text, r)
		b = b[n:]
	}
	return text
}

// malformed returns how many bytes at the start of b are replaced together.
func malformed(b []byte) int {
	low, high, whole := byte(0x80), byte(0xbf), 1
	switch lead := b[0]; {
	case lead >= 0xc2 && lead <= 0xdf:
		whole = 2
	case lead >= 0xe0 && lead <= 0xef:
		if whole = 3; lead == 0xe0 {
			low = 0xa0
		}
	case lead >= 0xf0 && lead <= 0xf4:
		switch whole = 4; lead {
		case 0xf0:
			low = 0x90
		case 0xf4:
			high = 0x8f
		}
	}
	n := 1
	for n < whole && n < len(b) && b[n] >= low && b[n] <= high {
		low, high = 0x80, 0xbf
		n++
	}
	return n
}
