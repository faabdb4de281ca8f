package live

import (
	_ "github.com/go-zookeeper/zk"
	_ "zksim/recipes"
	_ "zksim/recipes/live/zkserver"
)
