package jute

import "testing"

// What Java makes of bytes that are no UTF-8.
func TestBytesThatAreNoTextBecomeWhatJavaMakesOfThem(t *testing.T) {
	const one, two, three = "\uFFFD", "\uFFFD\uFFFD", "\uFFFD\uFFFD\uFFFD"
	for text, want := range map[string]string{
		"":                         "",
		"/\u00e9\U0001F600":        "/\u00e9\U0001F600",
		"\uFFFD":                   "\uFFFD",
		"\xff":                     one,
		"\xc0\x80":                 two,
		"\xc3":                     one,
		"\xc3a":                    one + "a",
		"\xe2\x82":                 one,
		"\xe2\x82a":                one + "a",
		"\xe2\x82\xe2\x82\xac":     one + "\u20ac",
		"\xe0\x80\x80":             three,
		"\xed\xa0\xbd\xed\xb8\x80": two,
		"\xed\xa0":                 one,
		"\xf0\x9f\x98":             one,
		"\xf0\x9fa":                one + "a",
		"\xf0\x80\x80":             three,
		"\xf4\x8f\xbfa":            one + "a",
		"\xf4\x90\x80":             three,
		"\xf5\x80":                 two,
	} {
		if got := string(ValidText([]byte(text))); got != want {
			t.Errorf("%x: %x, expected %x", text, got, want)
		}
	}
}
