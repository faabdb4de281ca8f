package scenarios

import "github.com/go-zookeeper/zk"

var stat zk.Stat
