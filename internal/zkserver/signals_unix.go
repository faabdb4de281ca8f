//go:build unix

package zkserver

import (
	"os"
	"syscall"
)

// What stops a process, and what lets it go on.
var stopSignal, goSignal os.Signal = syscall.SIGSTOP, syscall.SIGCONT
