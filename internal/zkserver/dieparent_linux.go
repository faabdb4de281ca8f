package zkserver

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel kill the process when the thread that starts it ends. process.run makes sure that this
// thread does not end before this process.
//
// The process also gets its own process group, so that a Ctrl-C in the terminal reaches only us, and servers end when
// we say so.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
