package zkserver

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// envOrphan makes this test binary the parent that is killed in
// TestAServerDiesWithItsParent.
const envOrphan = "ZKSERVER_TEST_ORPHAN"

func TestMain(m *testing.M) {
	if os.Getenv(envOrphan) != "" {
		p, err := startProcess("child", exec.Command("sleep", "60"), nil)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(p.cmd.Process.Pid)
		time.Sleep(time.Minute)
	}
	os.Exit(m.Run())
}

// gone says whether the process has ended; a zombie has.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "Z")
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func TestAServerDiesWithItsParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), envOrphan+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("the parent said %q", line)
	}
	if gone(pid) {
		t.Fatal("the child does not live")
	}
	parent.Process.Kill() // no chance to clean up
	parent.Wait()
	eventually(t, "the child is gone", func() bool { return gone(pid) })
}

func TestAServerSurvivesTheThreadThatAskedForIt(t *testing.T) {
	started := make(chan *process)
	go func() {
		runtime.LockOSThread() // and never unlock: the thread ends with the goroutine
		p, err := startProcess("child", exec.Command("sleep", "60"), nil)
		if err != nil {
			t.Error(err)
		}
		started <- p
	}()
	p := <-started
	if p == nil {
		return
	}
	defer p.kill()
	select {
	case <-p.done:
		t.Error(p.death())
	case <-time.After(300 * time.Millisecond):
	}
}

func TestADeathByItselfIsToldFromAKill(t *testing.T) {
	start := func() *process {
		p, err := startProcess("child", exec.Command("sleep", "60"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.death(); err != nil {
			t.Errorf("alive: %v", err)
		}
		return p
	}
	killed := start()
	killed.kill()
	killed.kill()
	if err := killed.death(); err != nil {
		t.Errorf("killed: %v", err)
	}
	died := start()
	syscall.Kill(died.cmd.Process.Pid, syscall.SIGSEGV)
	<-died.done
	died.kill()
	const want = "zkserver: child died (signal: segmentation fault"
	if err := died.death(); !errors.Is(err, errDied) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestStartingWhatIsNotThereIsAnError(t *testing.T) {
	if _, err := startProcess("child", exec.Command("/nonexistent/java"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
