package scenarios

import . "github.com/go-zookeeper/zk"

type wrapped struct{ *Conn }
