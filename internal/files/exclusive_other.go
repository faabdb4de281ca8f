//go:build !unix

package files

import "io/fs"

// exclusive reports whether nobody else can change what is in a folder. It is always true: here each user has a folder
// for temporary files.
func exclusive(fs.FileInfo) bool { return true }
