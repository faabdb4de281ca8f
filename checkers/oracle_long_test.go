package checkers

import (
	"math/rand/v2"
	"testing"

	"zksim/model/history"
)

// testLong compares the verdicts of Check with the naive ones on histories of up to so many events. At least one in
// twenty must be of either kind.
func (f *workload) testLong(t *testing.T, most int) {
	t.Helper()
	const histories = 20_000
	r := rand.New(rand.NewPCG(11, 12))
	illegal := 0
	for range histories {
		h := &history.History{}
		h.Reset(3)
		h.Txns = true
		f.grow(r, h, 2+r.IntN(most-1))
		f.end(r, h)
		want, got := f.naive(h), f.checker.Check(h)
		if got.Level != want {
			t.Fatalf("%s says %v, the naive statement %v:\n%s", f.name, got, want, listed(h))
		}
		illegal += one(want == Violated)
	}
	t.Logf("%s: %d histories: %d illegal", f.name, histories, illegal)
	if illegal < histories/20 || illegal > histories*19/20 {
		t.Errorf("%s: %d of %d histories are illegal: too few of one sort", f.name, illegal, histories)
	}
}
