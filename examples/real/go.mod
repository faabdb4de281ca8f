module example.com/real

go 1.26.0

require (
	github.com/go-kit/kit v0.13.0
	github.com/go-kit/log v0.2.1
	github.com/go-zookeeper/zk v1.0.4
	zksim v0.0.0
)

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/prometheus/client_golang v1.19.1 // indirect
	github.com/prometheus/client_model v0.6.1 // indirect
	github.com/prometheus/common v0.55.0 // indirect
	github.com/prometheus/procfs v0.15.1 // indirect
	golang.org/x/sys v0.49.0 // indirect
	google.golang.org/protobuf v1.34.2 // indirect
)

require (
	example.com/go-zookeeper/zk v1.0.4 // indirect
	github.com/abronan/valkeyrie v0.2.0
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/go-logfmt/logfmt v0.6.0 // indirect
	github.com/kvtools/valkeyrie v1.0.0
	github.com/kvtools/zookeeper v1.0.2
	github.com/prometheus/prometheus v0.54.1
	github.com/samuel/go-zookeeper v0.0.0-20190923202752-2cc03de413da // indirect
)

replace zksim => ../..

// All connections use the dialer of the test: see dialed.
replace (
	example.com/go-zookeeper/zk => github.com/go-zookeeper/zk v1.0.4
	github.com/go-zookeeper/zk => ./dialed
	github.com/samuel/go-zookeeper => ./samuel/dialed
)
