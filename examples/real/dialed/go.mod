module github.com/go-zookeeper/zk

go 1.26.0

require example.com/go-zookeeper/zk v1.0.4

replace example.com/go-zookeeper/zk => github.com/go-zookeeper/zk v1.0.4
