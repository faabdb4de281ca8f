package faults

import "github.com/go-zookeeper/zk"

type Conn interface{}

var _ Conn = (*zk.Conn)(nil)
