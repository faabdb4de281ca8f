package zktest

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"unsafe"
)

// memory manages the memory of a process for runs. It is collected between runs, never during one, where a collection
// could change the turns of goroutines.
//
// go-zookeeper makes a buffer of 1.5 MB for each zk.Conn and another one for each connection, and uses the first few
// hundred bytes of it. Memory that is new from the system need not be cleared and is only backed where it is touched.
// Memory that was used before must be cleared, which takes longer than all the rest of a run. So the process never
// frees buffers that a connection has seen. It keeps them until they are too many, and then makes way for another
// process.
type memory struct {
	mu    sync.Mutex
	kept  map[*byte]struct{} // nil: keep none
	bytes int64              // in these

	limited int64  // bytes when the limit was set
	counted uint64 // garbage at the last collection
	sample  []metrics.Sample
}

const (
	// largeBuffer is the smallest size of a buffer that is kept. Smaller ones cost less to clear than to keep.
	largeBuffer = 256 << 10
	// maxKept limits the address space that is kept. About one byte in a hundred of it is in use.
	maxKept = 16 << 30
	// collectAt is how much garbage starts a collection.
	collectAt = 16 << 20
	// spare is how much more a run may use before a collection starts during the run, so that the system does not end the
	// process.
	spare = 1 << 30
	// keptEach is how much the kept memory grows before that limit is set again.
	keptEach = spare / 4
)

// allocated is the name of the metric that counts all bytes ever allocated.
const allocated = "/gc/heap/allocs:bytes"

// large is the memory of this process, if it makes runs.
var large *memory

// newMemory makes the memory of this process be collected only between runs.
func newMemory() *memory {
	m := &memory{sample: []metrics.Sample{{Name: allocated}}}
	if plentiful() {
		m.kept = map[*byte]struct{}{}
	}
	runtime.MemProfileRate = 0 // each large buffer would be a sample
	debug.SetGCPercent(-1)
	m.limit()
	go deep(depth)
	return m
}

// depth is how many times deep calls itself.
const depth = 64

// deep waits with that many kilobytes on its stack. Goroutines begin with a stack of the average size that a collection
// has found. Few goroutines exist between two runs, so with this one the goroutines of a run get a stack that need not
// grow, which would copy it each time.
//
//go:noinline
func deep(n int) byte {
	var kilobyte [1024]byte
	if n == 0 {
		select {}
	}
	kilobyte[n] = deep(n - 1)
	return kilobyte[depth-n]
}

func (m *memory) limit() {
	m.limited = m.bytes
	debug.SetMemoryLimit(m.bytes + spare)
}

// keep keeps the large buffer that b is the beginning of.
func (m *memory) keep(b []byte) {
	if m == nil || m.kept == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := unsafe.SliceData(b)
	if _, known := m.kept[p]; !known {
		m.kept[p] = struct{}{}
		m.bytes += int64(cap(b))
	}
}

// seen keeps a buffer of a connection if it is large and not the one that was seen last.
func seen(b []byte, last **byte) {
	if p := unsafe.SliceData(b); cap(b) >= largeBuffer && p != *last {
		*last = p
		large.keep(b)
	}
}

// betweenRuns collects garbage if there is enough of it.
func (m *memory) betweenRuns() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bytes >= m.limited+keptEach {
		m.limit()
	}
	metrics.Read(m.sample)
	garbage := m.sample[0].Value.Uint64() - uint64(m.bytes)
	if m.counted == 0 || garbage >= m.counted+collectAt {
		m.counted = garbage
		runtime.GC()
	}
}

// full reports whether another process should take over.
func (m *memory) full() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes >= maxKept
}
