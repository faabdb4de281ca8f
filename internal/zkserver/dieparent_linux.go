package zkserver

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel kill the process when the thread that starts it
// ends; process.run sees to it that this is not before our own end.
//
// The process also gets a group of its own, so that a Ctrl-C in the terminal
// reaches only us and servers end when we say so.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
