package model

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/go-zookeeper/zk"
)

var open = zk.WorldACL(zk.PermAll)

func BenchmarkCreateDelete(b *testing.B) {
	s := NewServer(Config{Order: 1})
	s.OnEvent = func(*Conn, Event) {}
	var res Response
	s.Apply(&Txn{Zxid: 1, Session: 7, Req: &Request{Op: OpCreateSession, Version: 1000}}, &res)
	s.Apply(&Txn{Zxid: 1, Session: 7, Req: &Request{Op: OpCreate, Path: "/lock", ACL: open}}, &res)
	b.ReportAllocs()
	z := int64(1)
	var cr, del = &Request{Op: OpCreate, Path: "/lock/n-", Flags: 3, ACL: open}, &Request{Op: OpDelete, Version: -1}
	for b.Loop() {
		z++
		s.Apply(&Txn{Zxid: z, Session: 7, Req: cr}, &res)
		z++
		del.Path = res.Path
		s.Apply(&Txn{Zxid: z, Session: 7, Req: del}, &res)
	}
}

func TestTheZnodesAreThoseOfTheTreeOnceTheyAreSorted(t *testing.T) {
	s := NewServer(Config{})
	for i := range 100 {
		r := &Request{Op: OpCreate, Path: fmt.Sprintf("/n%d", i*37%100), ACL: zk.WorldACL(zk.PermAll)}
		s.Apply(&Txn{Zxid: int64(i + 1), Req: r}, &Response{})
	}
	got := s.Znodes()
	SortTree(got)
	if want := s.Tree(); len(got) != 101 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d znodes, expected the %d of the tree", len(got), len(want))
	}
}

func TestTheSizeOfAPathIsThatOfItsCharacters(t *testing.T) {
	s := NewServer(Config{})
	before := s.Size().Bytes
	q := Request{Op: OpCreate, Path: "/\u00e9\u20ac", Data: []byte("\u00e9"), ACL: zk.WorldACL(zk.PermAll)}
	s.Apply(&Txn{Zxid: 1, Req: &q}, &Response{})
	if got := s.Size().Bytes - before; got != 3+2 {
		t.Errorf("%d, expected 3 characters and 2 bytes", got)
	}
}
