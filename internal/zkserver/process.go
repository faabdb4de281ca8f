package zkserver

import (
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync/atomic"
	"time"
)

// process is a running or ended child process whose last output is kept.
type process struct {
	name   string
	cmd    *exec.Cmd
	out    *tail
	killed atomic.Bool   // we ended it
	done   chan struct{} // closed when it has ended and all its output was read
}

// startProcess starts cmd, which should end no later than this process does. Its output also goes to log, unless that
// is nil.
func startProcess(name string, cmd *exec.Cmd, log io.Writer) (*process, error) {
	p := &process{name: name, cmd: cmd, out: &tail{prefix: name + ": ", log: log}, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out, p.out // the same value, so one goroutine writes
	cmd.WaitDelay = time.Second           // in case someone else holds the pipe
	dieWithParent(cmd)
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// run starts the process and waits for it on the same thread. Linux takes the thread that started a process for its
// parent, and would kill the process when Go ends the thread (go.dev/issue/27505). Waiting occupies a thread anyway.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.cmd.Wait() // leaves the status in cmd.ProcessState
	p.out.end()
	close(p.done)
}

// kill ends the process at once, if it has not ended, and waits for that.
func (p *process) kill() {
	select {
	case <-p.done:
		return
	default:
	}
	p.killed.Store(true)
	p.cmd.Process.Kill()
	<-p.done
}

// died reports whether the process has ended and was not killed by us.
func (p *process) died() bool {
	select {
	case <-p.done:
		return !p.killed.Load()
	default:
		return false
	}
}

// death returns nil if the process lives or was killed by us, otherwise an
// error that wraps errDied and quotes its last words.
func (p *process) death() error {
	if !p.died() {
		return nil
	}
	return fmt.Errorf("zkserver: %s %w (%v)%s", p.name, errDied, p.cmd.ProcessState, p.lastWords())
}

// lastWords returns the end of what the process wrote, to follow the sentence that says what happened to it.
func (p *process) lastWords() string {
	text := p.out.String()
	if text == "" {
		return ", it logged nothing"
	}
	return ", its last lines:\n" + text
}
