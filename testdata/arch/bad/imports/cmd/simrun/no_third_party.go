package main

import _ "github.com/go-zookeeper/zk"
