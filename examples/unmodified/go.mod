module example.com/unmodified

go 1.26.0

require (
	github.com/go-zookeeper/zk v1.0.4
	zksim v0.0.0
)

require github.com/anishathalye/porcupine v1.3.1 // indirect

replace zksim => ../..
