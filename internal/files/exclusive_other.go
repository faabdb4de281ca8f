//go:build !unix

package files

import "io/fs"

// exclusive reports whether nobody else can change what is in a folder, as in that for temporary files, which each user
// has one of here.
func exclusive(fs.FileInfo) bool { return true }
