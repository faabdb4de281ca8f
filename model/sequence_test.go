package model

import (
	"fmt"
	"math"
	"testing"

	"github.com/go-zookeeper/zk"
)

// TestTheSequenceEndsWhereTheCounterDoes: the counter only moves forward, so it
// stays at 2147483647 and takes pzxid with it. (The documentation says that it
// rolls over; the real server rolls over only for creates in flight.)
func TestTheSequenceEndsWhereTheCounterDoes(t *testing.T) {
	s := NewServer(Config{})
	var events []Event
	s.OnEvent = func(_ *Conn, e Event) { events = append(events, e) }
	var res Response
	zxid := int64(0)
	apply := func(r *Request) *Response {
		zxid++
		r.Version, r.ACL = -1, open
		s.Apply(&Txn{Zxid: zxid, Req: r}, &res)
		return &res
	}
	create := func(path string, flags int32) *Response {
		return apply(&Request{Op: OpCreate, Path: path, Flags: flags})
	}
	parent := func() zk.Stat {
		s.Read(&Conn{}, &Request{Op: OpExists, Path: "/p"}, &res)
		return res.Stat
	}
	create("/p", 0)
	s.nodes["/p"].creates = math.MaxInt32 - 1

	for _, step := range []struct {
		prefix, path string
		code         Code
	}{
		{"/p/n-", "/p/n-2147483646", OK},
		{"/p/n-", "/p/n-2147483647", OK},
		{"/p/n-", "", NodeExists},
		{"/p/m-", "/p/m-2147483647", OK},
		{"/p/m-", "", NodeExists},
	} {
		if got := create(step.prefix, zk.FlagSequence); got.Err != step.code || got.Path != step.path {
			t.Fatalf("create %s: %v %q, want %v %q", step.prefix, got.Err, got.Path, step.code, step.path)
		}
	}
	if got := parent(); got.Pzxid != 2 || got.NumChildren != 3 {
		t.Errorf("pzxid is %d with %d children, want that of the last create that counted, 2, and 3", got.Pzxid,
			got.NumChildren)
	}
	// Catch-up goes by pzxid and so misses creates, but not deletes.
	c := &Conn{}
	catchUp := &Request{Op: OpSetWatches, Watches: &WatchLists{RelativeZxid: 2, Child: []string{"/p"}}}
	s.Read(c, catchUp, &res)
	if len(events) != 0 {
		t.Errorf("catch-up after creates: %v", events)
	}
	apply(&Request{Op: OpDelete, Path: "/p/m-2147483647"})
	if got := parent(); got.Pzxid != zxid || len(events) != 1 {
		t.Errorf("pzxid is %d after a delete, want %d; events %v", got.Pzxid, zxid, events)
	}
	if got := create("/p/m-", zk.FlagSequence); got.Path != "/p/m-2147483647" {
		t.Errorf("create after the delete: %v %q", got.Err, got.Path)
	}
}

// TestAMultiGoesOnWithNegativeNumbers has what a real server answers to a multi of sequential creates: the leader
// numbers them before any of them is applied. The counter itself stays at its end.
func TestAMultiGoesOnWithNegativeNumbers(t *testing.T) {
	s := NewServer(Config{})
	s.OnEvent = func(*Conn, Event) {}
	var res Response
	zxid := int64(0)
	multi := func(prefixes ...string) (got string) {
		r := &Request{Op: OpMulti}
		for _, prefix := range prefixes {
			r.Ops = append(r.Ops, Request{Op: OpCreate, Path: prefix, Flags: zk.FlagSequence, ACL: open})
		}
		zxid++
		s.Apply(&Txn{Zxid: zxid, Req: r}, &res)
		for _, x := range res.Results {
			got += fmt.Sprintf(" %v%s", x.Err, x.Path)
		}
		s.Read(&Conn{}, &Request{Op: OpExists, Path: "/p"}, &res)
		return fmt.Sprintf("%s, cversion %d, pzxid %d", got, res.Stat.Cversion, res.Stat.Pzxid)
	}
	zxid++
	s.Apply(&Txn{Zxid: zxid, Req: &Request{Op: OpCreate, Path: "/p", ACL: open}}, &res)
	s.SetCounter("/p", math.MaxInt32-1)
	for _, step := range []struct{ got, want string }{
		{multi("/p/n-", "/p/n-", "/p/n-"),
			" OK/p/n-2147483646 OK/p/n-2147483647 OK/p/n--2147483648, cversion -5, pzxid 2"},
		{multi("/p/m-", "/p/m-"), " OK/p/m-2147483647 OK/p/m--2147483648, cversion -7, pzxid 2"},
		{multi("/p/m-", "/p/k-"), " NODEEXISTS RUNTIMEINCONSISTENCY, cversion -7, pzxid 2"},
		{multi("/p/k-", "/p/m-"), " OK NODEEXISTS, cversion -7, pzxid 2"},
	} {
		if step.got != step.want {
			t.Errorf("got%s, expected%s", step.got, step.want)
		}
	}
}

// TestTheSequenceCountsOneParent: making the parent anew starts at 0.
func TestTheSequenceCountsOneParent(t *testing.T) {
	s := NewServer(Config{})
	s.OnEvent = func(*Conn, Event) {}
	var res Response
	for i, r := range []*Request{
		{Op: OpCreate, Path: "/p", ACL: open},
		{Op: OpCreate, Path: "/p/n-", Flags: zk.FlagSequence, ACL: open},
		{Op: OpDelete, Path: "/p/n-0000000000", Version: -1},
		{Op: OpDelete, Path: "/p", Version: -1},
		{Op: OpCreate, Path: "/p", ACL: open},
		{Op: OpCreate, Path: "/p/n-", Flags: zk.FlagSequence, ACL: open},
	} {
		if s.Apply(&Txn{Zxid: int64(i) + 1, Req: r}, &res); res.Err != OK {
			t.Fatalf("%v %s: %v", r.Op, r.Path, res.Err)
		}
	}
	if res.Path != "/p/n-0000000000" {
		t.Errorf("the first child of a new parent is %s", res.Path)
	}
}
