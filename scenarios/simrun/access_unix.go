//go:build unix

package simrun

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// access reports whether a device or a pipe can be written, without opening it: an open may block, or make a reader
// think that everything has been written.
func access(name string) error {
	if err := unix.Access(name, unix.W_OK); err != nil {
		return &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return nil
}
