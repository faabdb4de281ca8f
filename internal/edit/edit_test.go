package edit

import "testing"

func TestDistance(t *testing.T) {
	for _, x := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"lock", "", 4}, {"lock", "lock", 0}, {"lock", "look", 1}, {"tryacquire", "trylock", 7}, {"abc", "xabc", 1}} {
		if got := Distance(x.a, x.b); got != x.want || Distance(x.b, x.a) != got {
			t.Errorf("%q, %q: %d, not %d", x.a, x.b, got, x.want)
		}
	}
}
