//go:build unix

package zktest

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// isolates says whether runs can have their own processes on this system.
const isolates = true

// askSignal makes a process check whether its goroutines wait for one another. showSignal makes it show them and end.
const (
	askSignal  = syscall.SIGUSR1
	showSignal = syscall.SIGQUIT
)

func mapFile(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func unmapFile(mem []byte) { syscall.Munmap(mem) }

// ownOnly keeps programs from inheriting a file that this process got from its parent.
func ownOnly(fd uintptr) { syscall.CloseOnExec(int(fd)) }

// spawner starts commands from one thread that lives until the spawner is closed, because Linux ends a command when the
// thread that started it ends.
type spawner struct {
	once  sync.Once
	tasks chan func()
}

func (s *spawner) spawn(cmd *exec.Cmd) error {
	s.once.Do(func() {
		s.tasks = make(chan func())
		go func() {
			runtime.LockOSThread()
			for f := range s.tasks {
				f()
			}
		}()
	})
	done := make(chan error)
	s.tasks <- func() { done <- cmd.Start() }
	return <-done
}

// close ends the thread. All commands must have ended.
func (s *spawner) close() {
	if s.tasks != nil {
		close(s.tasks)
	}
}
