package model

import _ "github.com/go-zookeeper/zk"
