//go:build unix

package zkserver

import (
	"os"
	"syscall"
)

// The signals that stop a process and let it go on.
var stopSignal, goSignal os.Signal = syscall.SIGSTOP, syscall.SIGCONT
