package simrun

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestASignalThatIsSentTwiceIsOne sends a signal as timeout(1) does, to the command and at once to its group. What the
// command has to say must not be lost.
func TestASignalThatIsSentTwiceIsOne(t *testing.T) {
	binary := build(t)
	for try := range 100 {
		c := exec.Command(binary, "serve", "-listen", "127.0.0.1:0")
		pipe, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		out := bufio.NewReader(pipe)
		out.ReadString('\n') // it is ready, or says nothing
		for range 2 {
			c.Process.Signal(syscall.SIGTERM) // it may have ended
			time.Sleep(time.Duration(try) * 5 * time.Microsecond)
		}
		text, _ := io.ReadAll(out)
		c.Wait() // the exit status says it
		if code := c.ProcessState.ExitCode(); code != exitInconclusive || !strings.Contains(string(text), "judged") {
			t.Fatalf("try %d: status %d: %s", try, code, text)
		}
	}
}
