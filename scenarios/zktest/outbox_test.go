//go:build unix

package zktest_test

import (
	"strings"
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

// TestAPanicIsKeptWhateverWasPrintedBefore has a process print more than is kept before it dies, and as it does.
func TestAPanicIsKeptWhateverWasPrintedBefore(t *testing.T) {
	line := strings.Repeat("x", 32<<10-1) + "\n"
	for _, x := range []struct{ often, once string }{{line, "panic: here"},
		{line + "panic: old\n" + line, "panic: here"}} {
		const times = 1100
		kept, passed, err := zktest.Output(x.often, times, x.once)
		if all := int64(times*len(x.often) + len(x.once)); err != nil || !strings.HasSuffix(kept, x.once) ||
			passed+int64(len(kept)) != all {
			t.Errorf("%v: of %d bytes %d are passed on, and %d kept", err, all, passed, len(kept))
		}
	}
	kept, _, err := zktest.Output(line, 900, "panic: here\n"+strings.Repeat(line, 300))
	if err != nil || !strings.HasSuffix(kept, "panic: here\n"+strings.Repeat(line, 300)) {
		t.Errorf("%v, %d bytes are kept, and not all of the panic", err, len(kept))
	}
}
