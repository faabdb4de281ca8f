package recipes

import "github.com/go-zookeeper/zk"

var _ Conn = (*zk.Conn)(nil)
