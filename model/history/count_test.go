package history_test

import (
	"testing"

	"zksim/model/history"
)

func TestOneThingIsNoPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 runs", 1: "1 run", 2: "2 runs"} {
		if got := history.Counted(n, "run"); got != want {
			t.Errorf("%d: %q, expected %q", n, got, want)
		}
	}
}
