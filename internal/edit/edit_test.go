package edit

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, x := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"lock", "", 4}, {"lock", "lock", 0}, {"lock", "look", 1}, {"tryacquire", "trylock", 7},
		{"abc", "xabc", 1}} {
		if got := Distance(x.a, x.b); got != x.want || Distance(x.b, x.a) != got {
			t.Errorf("%q, %q: %d, not %d", x.a, x.b, got, x.want)
		}
	}
}

func TestNearestNamesWhatWasMeantOrNothing(t *testing.T) {
	known := []string{"list", "check", "strategies", "lose-reply", "lose-request", "lock/lock", "lock/workers",
		"-nodes", "-seeds", "-o"}
	for word, want := range map[string]string{
		"chekc": "check", "-sedes": "-seeds", "CHECK": "", "strat": "strategies", "lose": "lose-reply",
		"lose-replies": "lose-reply",
		"lock/lokc":    "lock/lock", "lock/worker": "lock/workers", "": "", "x": "", "list": "", "zzz": "", "lst": "list",
		"-x": "", "-foo": "", "-out": "-o",
		strings.Repeat("check", 1000): "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("%.20q: %q, not %q", word, got, want)
		}
	}
	if got := Meant("chekc", known); got != "; did you mean check?" {
		t.Error(got)
	}
	if got := Meant("zzz", known); got != "" || nearest("check", nil) != "" {
		t.Error(got)
	}
}
