package scenarios

import "github.com/go-zookeeper/zk"

var conn *zk.Conn
