package recipes

import "github.com/go-zookeeper/zk"

type Conn interface{ Close() }

var _ Conn = (*zk.Conn)(nil)
