//go:build unix && !linux

package zktest

import (
	"syscall"
	"time"
)

// attributes returns the attributes of a process for runs. It has its own process group, so that only its parent gets
// ^C.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// plentiful reports whether address space costs nothing, which is not known on these systems.
func plentiful() bool { return false }

// processorTime returns how much processor time a process has had: 0, which means unknown, on these systems.
func processorTime(int) time.Duration { return 0 }

// leaveNoCore prevents core dumps of this process.
func leaveNoCore() { syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }
