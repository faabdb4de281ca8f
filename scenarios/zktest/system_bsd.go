//go:build unix && !linux

package zktest

import (
	"syscall"
	"time"
)

// attributes are those of a process for runs: it is in a group of its own, so that ^C is for its parent only.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// plentiful reports whether address space costs nothing. It is not known of these systems.
func plentiful() bool { return false }

// processorTime returns for how long a process has had a processor; 0, as that is not known of these systems.
func processorTime(int) time.Duration { return 0 }

// leaveNoCore has a process that dies write no memory dump.
func leaveNoCore() { syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }
