package prove_test

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// number is that of an environment variable.
func number(t testing.TB, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q, expected a number", name, text)
	}
	return n
}

func TestRandomProgramsHaveNoOtherOutcomesThanAPlainSearchFinds(t *testing.T) {
	usual := uint64(3000)
	if testing.Short() {
		usual = 300
	}
	first, count := number(t, "ZKSIM_SEED", 1), number(t, "ZKSIM_PROGRAMS", usual)
	var next, closed, skipped, sets atomic.Uint64
	var wg sync.WaitGroup
	var mu sync.Mutex
	kinds := map[string]int{}
	for range runtime.GOMAXPROCS(0) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				i := next.Add(1) - 1
				if i >= count {
					return
				}
				p := generate(first + i)
				x := examine(p, usualLimits)
				if x.closed {
					closed.Add(1)
					sets.Add(uint64(x.set))
				} else {
					skipped.Add(1)
				}
				if x.finding != nil {
					mu.Lock()
					kinds[x.finding.kind]++
					n := kinds[x.finding.kind]
					mu.Unlock()
					if n <= 2 {
						q, f := shrink(p, x.finding, usualLimits)
						mu.Lock()
						t.Errorf("seed %d: %s\n%s\n%s", first+i, f.kind, q, f.text)
						mu.Unlock()
					}
				}
			}
		}()
	}
	wg.Wait()
	var list []string
	for k, n := range kinds {
		list = append(list, fmt.Sprintf("%5d %s", n, k))
	}
	sort.Strings(list)
	t.Logf("%d programs closed with %d outcomes, %d skipped\n%s", closed.Load(), sets.Load(), skipped.Load(), strings.Join(list, "\n"))
}
