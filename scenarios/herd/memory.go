package herd

import (
	"runtime"
	"strconv"

	"zksim/model"
)

// Memory is the memory that the model of a server takes for watches.
type Memory struct {
	Watches int     `json:"watches"` // each on a connection of its own
	Layout  string  `json:"layout"`
	Bytes   float64 `json:"bytes"` // for all of them, without the paths
}

// Layouts of watches: OwnZnodes as a queue leaves them, OneZnode as a herd does.
const (
	OwnZnodes = "a znode for each"
	OneZnode  = "one znode for all"
)

// WatchMemory measures the memory that so many watches take, by the heap of this process. Nothing else may use the heap
// meanwhile.
func WatchMemory(watches int) []Memory {
	var all []Memory
	for _, layout := range []string{OwnZnodes, OneZnode} {
		all = append(all, Memory{watches, layout, heldBy(watches, layout)})
	}
	return all
}

// enough is how many watches there must be for the rest of the heap not to matter.
const enough = 20_000

// heldBy measures with as many servers as it takes to have enough watches.
func heldBy(watches int, layout string) float64 {
	servers := make([]*model.Server, max(1, enough/watches))
	conns := make([]model.Conn, watches*len(servers))
	paths := make([]string, watches)
	for i := range paths {
		paths[i] = "/herd"
		if layout == OwnZnodes {
			paths[i] += "/" + strconv.Itoa(i)
		}
	}
	for i := range servers {
		servers[i] = model.NewServer(model.Config{})
	}
	before := heap()
	var res model.Response
	for i := range conns {
		servers[i/watches].Read(&conns[i], &model.Request{Op: model.OpExists, Path: paths[i%watches], Watch: true}, &res)
	}
	after := heap()
	runtime.KeepAlive(servers)
	runtime.KeepAlive(conns)
	runtime.KeepAlive(paths)
	return float64(after-before) / float64(len(servers))
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
