//go:build linux

package simrun

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"zksim/internal/zkserver/zkservertest"
)

// running returns the command lines of processes that name a folder.
func running(folder string) (list []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(folder)) {
			list = append(list, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return list
}

// awaits waits for a condition, since how long servers take is up to the machine.
func awaits(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// A server may be stopped, killed or cut off at that moment.
func TestNothingIsLeftOfAnEnsembleAfterASignal(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts four ensembles")
	}
	zkservertest.ForTest(t, 1).Stop() // or skip
	tool := filepath.Join(t.TempDir(), "simrun")
	if out, err := exec.Command("go", "build", "-o", tool, "zksim/cmd/simrun").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, x := range []struct {
		plan   string
		signal syscall.Signal
		status int
	}{
		{"pause=1@leader,nth=1", syscall.SIGHUP, exitInconclusive},
		{"depose=1@nth=1", syscall.SIGTERM, exitInconclusive},
		{"kill=1@all,nth=1", syscall.SIGINT, exitInconclusive},
	} {
		t.Run(x.plan, func(t *testing.T) {
			tmp := t.TempDir()
			c := exec.Command(tool, "check", "-backend", "zookeeper", "-nodes", "3", "-faults", x.plan, "-seeds", "1-1000", "-o",
				filepath.Join(tmp, "out"), "lock/lock")
			c.Env = append(os.Environ(), "TMPDIR="+tmp)
			var out bytes.Buffer
			c.Stdout, c.Stderr = &out, &out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			awaits(t, "three servers run", func() bool { return len(running(tmp+"/zksim-zookeeper")) >= 3 })
			time.Sleep(4 * time.Second) // somewhere in a run
			c.Process.Signal(x.signal)
			c.Wait()
			if code := c.ProcessState.ExitCode(); code != x.status || !strings.Contains(out.String(), "interrupted") {
				t.Errorf("status %d:\n%s", code, &out)
			}
			if left := running(tmp + "/zksim-zookeeper"); len(left) > 0 {
				t.Errorf("still running: %q", left)
			}
			if left, _ := filepath.Glob(tmp + "/zksim-*"); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}
