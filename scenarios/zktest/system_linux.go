package zktest

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// attributes returns the attributes of a process for runs. It has its own process group, so that only its parent gets
// ^C, and it ends with its parent, even if its code spins.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// leaveNoCore prevents core dumps of this process.
func leaveNoCore() {
	const setDumpable = 4 // PR_SET_DUMPABLE
	syscall.RawSyscall(syscall.SYS_PRCTL, setDumpable, 0, 0)
}

// processorTime returns how much processor time a process has had; 0 if unknown. What other processes use does not
// count.
func processorTime(pid int) time.Duration {
	const perTick, user = 10 * time.Millisecond, 11 // field 14 of proc(5), as an index after the name
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if err != nil || len(fields) <= user+1 {
		return 0
	}
	inUser, _ := strconv.Atoi(fields[user])
	inKernel, _ := strconv.Atoi(fields[user+1])
	return time.Duration(inUser+inKernel) * perTick
}

// plentiful reports whether address space costs nothing, and makes sure that touching a byte costs one page and no
// more.
func plentiful() bool {
	const disableHugePages = 41 // PR_SET_THP_DISABLE
	var space syscall.Rlimit
	overcommit, err := os.ReadFile("/proc/sys/vm/overcommit_memory")
	switch {
	case instrumented || unsafe.Sizeof(uintptr(0)) < 8:
		return false
	case syscall.Getrlimit(syscall.RLIMIT_AS, &space) != nil || space.Cur < 1<<40:
		return false
	case err != nil || strings.TrimSpace(string(overcommit)) == "2": // address space is counted as memory
		return false
	}
	_, _, failed := syscall.RawSyscall6(syscall.SYS_PRCTL, disableHugePages, 1, 0, 0, 0, 0)
	return failed == 0
}
