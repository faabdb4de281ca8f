package prove

import (
	"sync"
	"testing"
)

// Workers that put different things under the same keys agree on what is there, and find it from
// then on.
func TestWorkersAgreeOnWhatIsInATable(t *testing.T) {
	const workers, keys = 4, 20_000
	key := func(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 } // 0 is one of them
	var all table[int]
	var seen [workers][keys]int
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range keys {
				k := (i + w*keys/workers) % keys
				seen[w][k] = all.put(key(k), w+1)
				if x, ok := all.get(key(k)); !ok || x != seen[w][k] {
					t.Errorf("key %d: %d, %v after %d", k, x, ok, seen[w][k])
				}
			}
		})
	}
	wg.Wait()
	for i := range keys {
		if x, ok := all.get(key(i)); !ok || x < 1 || x > workers || x != seen[0][i] || x != seen[1][i] || x != seen[2][i] ||
			x != seen[3][i] {
			t.Fatalf("key %d: %d, %v", i, x, ok)
		}
	}
	if x, ok := all.get(key(keys)); ok {
		t.Errorf("what nobody has put there: %d", x)
	}
}
