package herd

import "testing"

func TestAWatchTakesSomeHundredBytes(t *testing.T) {
	for _, n := range []int{1, 100, 30_000} {
		for _, m := range WatchMemory(n) {
			if each := m.Bytes / float64(n); m.Watches != n || each < 16 || each > 1000 {
				t.Errorf("%+v: %.0f bytes each", m, each)
			} else {
				t.Logf("%d, %s: %.0f bytes each", n, m.Layout, each)
			}
		}
	}
}
