package reports

import (
	"strings"
	"testing"
)

// TestALongTextIsCutBetweenWords cuts texts with blanks, and with none that is near.
func TestALongTextIsCutBetweenWords(t *testing.T) {
	words := strings.Repeat("mutexes ", 100)
	for _, x := range []struct{ text, want string }{
		{words, words[:215] + "… (800 bytes)"},
		{words[3:], words[3:223] + "… (797 bytes)"}, // a word ends where it is cut
		{words[4:], words[4:223] + "… (796 bytes)"},
		{"at " + strings.Repeat("x", 300), "at " + strings.Repeat("x", 217) + "… (303 bytes)"},
		{words[:240], words[:240]},
	} {
		if got := clip(x.text); got != x.want || clip(got) != got {
			t.Errorf("%q is cut to\n%q, expected\n%q", x.text, got, x.want)
		}
	}
}
