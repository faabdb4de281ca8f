//go:build !unix

package zktest

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// isolates says whether runs can have their own processes on this system.
const isolates = false

const (
	askSignal  = syscall.SIGINT
	showSignal = syscall.SIGINT
)

func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) {}

func ownOnly(uintptr) {}

type spawner struct{}

func (*spawner) spawn(*exec.Cmd) error { return errors.ErrUnsupported }

func (*spawner) close() {}

func attributes() *syscall.SysProcAttr { return nil }

func plentiful() bool { return false }

func processorTime(int) time.Duration { return 0 }

func leaveNoCore() {}
