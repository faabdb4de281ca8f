//go:build unix

package zktest_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"zksim/scenarios/zktest"
)

func TestCodeSpinsThatHasAProcessorForTenSeconds(t *testing.T) {
	if raced {
		t.Skip("what instruments code slows it down")
	}
	for _, x := range []struct {
		begins, each time.Duration
		want         int
	}{{time.Second, time.Second, 10}, {time.Second, 2 * time.Second, 5}, {time.Hour, time.Second / 2, 20},
		{time.Second, time.Second / 4, 0}, {0, 0, 0}} {
		got := zktest.Spins(func(second int) time.Duration { return x.begins + time.Duration(second)*x.each })
		if got != x.want {
			t.Errorf("%+v: after %d s", x, got)
		}
	}
}

func TestTheTimeThatAProcessHasAProcessorIsItsOwn(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it is known of Linux only")
	}
	sleeps := exec.Command("sleep", "100")
	if err := sleeps.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { sleeps.Process.Kill(); sleeps.Wait() }()
	const some = 50 * time.Millisecond
	for before := zktest.ProcessorTime(os.Getpid()); zktest.ProcessorTime(os.Getpid()) < before+some; {
	}
	if d := zktest.ProcessorTime(sleeps.Process.Pid); d >= some {
		t.Errorf("a process that sleeps has had a processor for %v", d)
	}
	if d := zktest.ProcessorTime(1 << 30); d != 0 {
		t.Errorf("a process that there is not has had a processor for %v", d)
	}
}
