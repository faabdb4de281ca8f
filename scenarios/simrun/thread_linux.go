package simrun

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the CPU time that the calling thread has used. The time of getrusage moves in steps of
// milliseconds on some machines.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic("simrun: the clock of the thread: " + err.Error())
	}
	return time.Duration(t.Nano())
}
