package model

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

const million = 1_000_000

// grown returns a server with a million znodes, a thousand below each of a
// thousand parents, and their paths.
func grown(tb testing.TB) (*Server, []string) {
	tb.Helper()
	s := NewServer(Config{})
	s.OnEvent = func(*Conn, Event) {}
	var res Response
	paths := make([]string, 0, million)
	zxid := int64(0)
	create := func(path string) {
		zxid++
		s.Apply(&Txn{Zxid: zxid, Req: &Request{Op: OpCreate, Path: path, Data: []byte{}, ACL: open}}, &res)
		if res.Err != OK {
			tb.Fatal(path, res.Err)
		}
	}
	for i := range 1000 {
		parent := fmt.Sprintf("/p%03d", i)
		create(parent)
		for k := range 1000 {
			paths = append(paths, fmt.Sprintf("%s/node-%010d", parent, k))
			create(paths[len(paths)-1])
		}
	}
	return s, paths
}

// heap returns the bytes in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestAMillionWatchesTakeLessThan150BytesEach is ZooKeeper's own figure (250 to
// 300 bytes) with room to spare.
func TestAMillionWatchesTakeLessThan150BytesEach(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a million znodes")
	}
	before := heap()
	s, paths := grown(t)
	mid := heap()
	t.Logf("%d bytes a znode, the path among them", (mid-before)/million)
	conns := make([]*Conn, 100)
	for i := range conns {
		conns[i] = &Conn{Index: i}
	}
	var res Response
	for i, p := range paths {
		s.Read(conns[i%len(conns)], &Request{Op: OpGetData, Path: p, Watch: true}, &res)
	}
	if each := (heap() - mid) / million; each > 150 {
		t.Errorf("%d bytes a watch", each)
	} else {
		t.Logf("%d bytes a watch", each)
	}
	runtime.KeepAlive(s)
}

// TestACrowdOnOnePathIsWatchedAndToldInLinearTime guards against a search of all
// watchers for each.
func TestACrowdOnOnePathIsWatchedAndToldInLinearTime(t *testing.T) {
	s := NewServer(Config{})
	told := 0
	s.OnEvent = func(*Conn, Event) { told++ }
	var res Response
	crowd := make([]Conn, 100_000)
	start := time.Now()
	for round := range 2 {
		for i := range crowd {
			s.Read(&crowd[i], &Request{Op: OpExists, Path: "/x", Watch: true}, &res)
		}
		for i := range 1000 {
			s.Disconnect(&crowd[i])
		}
		op := OpCreate
		if round == 1 {
			op = OpDelete
		}
		s.Apply(&Txn{Zxid: int64(round + 1), Req: &Request{Op: op, Path: "/x", Version: -1, ACL: open}}, &res)
	}
	if want := 2 * (len(crowd) - 1000); told != want {
		t.Errorf("%d events, want %d", told, want)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
}

// BenchmarkMixed is a mixed load on a million znodes: half reads, a quarter
// sets, a quarter creates and deletes in turn.
func BenchmarkMixed(b *testing.B) {
	s, paths := grown(b)
	rng := rand.New(rand.NewPCG(1, 2))
	var res Response
	c := &Conn{}
	zxid := s.Zxid()
	made := ""
	b.ReportAllocs()
	for b.Loop() {
		p := paths[rng.IntN(len(paths))]
		switch rng.IntN(4) {
		case 0, 1:
			s.Read(c, &Request{Op: OpGetData, Path: p}, &res)
			continue
		case 2:
			zxid++
			s.Apply(&Txn{Zxid: zxid, Req: &Request{Op: OpSetData, Path: p, Version: -1}}, &res)
			continue
		}
		zxid++
		if made == "" {
			s.Apply(&Txn{Zxid: zxid, Req: &Request{Op: OpCreate, Path: ParentPath(p) + "/new-", Flags: 2, ACL: open}}, &res)
			made = res.Path
		} else {
			s.Apply(&Txn{Zxid: zxid, Req: &Request{Op: OpDelete, Path: made, Version: -1}}, &res)
			made = ""
		}
	}
}
