package zktest

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"unsafe"
)

// memory is that of a process for runs. It is collected between runs, and not during one, where that could change the
// turns of goroutines.
//
// go-zookeeper makes a buffer of 1.5 MB for each zk.Conn and another one for each connection, and uses the first few
// hundred bytes of it. Memory that is new from the system need not be cleared and is there only where it is touched;
// memory that was used before must be cleared, which takes longer than all the rest of a run. So buffers that a
// connection has seen are never given back: the process keeps them until they are many, and then makes place for
// another process.
type memory struct {
	mu    sync.Mutex
	kept  map[*byte]struct{} // nil: none are kept
	bytes int64              // in these

	limited int64  // as bytes was when the limit was set
	counted uint64 // garbage at the last collection
	sample  []metrics.Sample
}

const (
	// largeBuffer is the size from which on a buffer is kept: smaller ones cost less to clear than to keep.
	largeBuffer = 256 << 10
	// maxKept is how much is kept, in address space. About one byte in a hundred of it is in use.
	maxKept = 16 << 30
	// collectAt is after how much garbage memory is collected.
	collectAt = 16 << 20
	// spare is what a run may use beyond that until memory is collected while it goes on, so that the system does not
	// end the process.
	spare = 1 << 30
	// keptEach is by how much more is kept when that limit is set anew.
	keptEach = spare / 4
)

// allocated is the name of the metric of all that was ever allocated.
const allocated = "/gc/heap/allocs:bytes"

// large is the memory of this process, if it makes runs.
var large *memory

// newMemory has the memory of this process be collected between runs only.
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

// deep waits with so many kilobytes on its stack. Goroutines begin with a stack as large as those are on the average
// that a collection has found. Between two runs there are few, so with this one the goroutines of a run get a stack
// that need not grow, each time by a copy.
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

// keep keeps the buffer that begins as b does, if it is large.
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

// seen keeps a buffer of a connection unless it is the one that was seen last.
func seen(b []byte, last **byte) {
	if p := unsafe.SliceData(b); cap(b) >= largeBuffer && p != *last {
		*last = p
		large.keep(b)
	}
}

// betweenRuns collects what there is to collect.
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

// full reports whether another process is to go on.
func (m *memory) full() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes >= maxKept
}
