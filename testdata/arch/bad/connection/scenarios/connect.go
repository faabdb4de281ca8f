package scenarios

import "github.com/go-zookeeper/zk"

func dial() { zk.Connect(nil, 0) }
