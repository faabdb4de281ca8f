package scenarios

import client "github.com/go-zookeeper/zk"

var dialer = client.ConnectWithDialer
