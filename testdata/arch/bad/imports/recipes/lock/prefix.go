package lock

import _ "github.com/go-zookeeper/zkother"
