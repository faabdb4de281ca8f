//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// exclusive reports whether only this user and root can change what is in a folder.
func exclusive(info fs.FileInfo) bool {
	x, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(x.Uid) == os.Getuid() && info.Mode().Perm()&0o022 == 0
}
