//go:build unix

package zktest_test

import (
	"os"
	"syscall"
	"testing"

	"zksim/scenarios/zktest"
)

// TestMemoryThatIsSharedIsThereWhenTheDiskIsFull has all blocks of it be taken when it is made: else the first access
// to one would end the process.
func TestMemoryThatIsSharedIsThereWhenTheDiskIsFull(t *testing.T) {
	const memory = "/dev/shm" // where files take what was written
	if _, err := os.Stat(memory); err != nil {
		t.Skip("without " + memory)
	}
	f, size, err := zktest.SharedFile(memory)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if n := info.Sys().(*syscall.Stat_t).Blocks * 512; n < int64(size) {
		t.Errorf("%d bytes of %d are there", n, size)
	}
}
