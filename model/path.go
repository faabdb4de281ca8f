package model

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// ValidPath reports whether the server accepts path for a new znode, for set, setACL and check
// (org.apache.zookeeper.common.PathUtils.validatePath). That check works on UTF-16, so it refuses characters beyond
// the basic plane: their surrogates are in the forbidden range. Reads are not validated.
func ValidPath(path string) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	if path == "/" {
		return true
	}
	if path[len(path)-1] == '/' {
		return false
	}
	start := 1 // of the component
	for i := 1; i < len(path); {
		c := path[i]
		switch {
		case c == '/':
			if !component(path[start:i]) {
				return false
			}
			start = i + 1
			i++
		case c >= 0x20 && c < 0x7f:
			i++
		default:
			r, n := utf8.DecodeRuneInString(path[i:])
			if forbiddenRune(r) {
				return false
			}
			i += n
		}
	}
	return component(path[start:])
}

// component reports whether s is possible as a part of a path between slashes.
func component(s string) bool { return s != "" && s != "." && s != ".." }

func forbiddenRune(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}

// ParentPath returns the path up to the last slash. It returns "" for a child of the root, and for a string without a
// slash. The empty path is an alias of "/" in ZooKeeper.
func ParentPath(path string) string {
	return path[:max(0, strings.LastIndexByte(path, '/'))]
}

// Folder returns the path of the znode above another: that of [ParentPath], but "/" for a child of the root.
func Folder(path string) string { return cmp.Or(ParentPath(path), "/") }

// BaseName returns the part after the last slash.
func BaseName(path string) string {
	return path[strings.LastIndexByte(path, '/')+1:]
}

// malformed is the only check that create and delete make before they look for the parent: a path needs a slash and
// must not have a NUL.
func malformed(path string) bool {
	return strings.LastIndexByte(path, '/') < 0 || strings.IndexByte(path, 0) >= 0
}
