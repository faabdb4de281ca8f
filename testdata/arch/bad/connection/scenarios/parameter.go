package scenarios

import "github.com/go-zookeeper/zk"

func use(conn *zk.Conn) {}
