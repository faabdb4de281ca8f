//go:build unix

package zktest_test

import (
	"testing"

	"zksim/scenarios/zktest"
)

// TestRepliesThatWereNotSentAreFound has a process end with replies that it has not sent, some of which are too long to
// be kept.
func TestRepliesThatWereNotSentAreFound(t *testing.T) {
	for _, sizes := range [][]int{{}, {10}, {10, 20_000, 30}, {40_000, 40_000, 40_000}, {10, 200_000, 10, 70_000, 5}} {
		got, err := zktest.Unsent(t.TempDir(), sizes)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(sizes) {
			t.Fatalf("%d replies of %v", len(got), sizes)
		}
		for i, n := range got {
			if n != sizes[i] {
				t.Errorf("reply %d has %d bytes, expected %d", i, n, sizes[i])
			}
		}
	}
}
