module example.com/gokit

go 1.26.0

require (
	github.com/go-kit/kit v0.13.0
	github.com/go-zookeeper/zk v1.0.4
	zksim v0.0.0
)

require (
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/go-kit/log v0.2.0 // indirect
	github.com/go-logfmt/logfmt v0.5.1 // indirect
)

replace zksim => ../..
