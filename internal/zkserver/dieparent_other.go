//go:build !linux

package zkserver

import "os/exec"

// dieWithParent does nothing: only Linux can tie a process to its parent's life. Elsewhere servers outlive a parent
// that is killed before it can call Stop. They share its process group, so a Ctrl-C reaches them.
func dieWithParent(*exec.Cmd) {}
