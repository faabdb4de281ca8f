// Package recipes is a package that no rule minds.
package recipes

import "github.com/go-zookeeper/zk"

// Conn is a small interface.
type Conn interface{ Close() }

var _ Conn = (*zk.Conn)(nil)
