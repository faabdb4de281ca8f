package model

import (
	"slices"
	"strconv"
	"testing"
)

// slack is what a connection may remember beyond twice its live watches.
const slack = 17

// TestAConnectionRemembersItsLiveWatchesOnly arms and fires watches for a long
// time.
func TestAConnectionRemembersItsLiveWatchesOnly(t *testing.T) {
	s := NewServer(Config{})
	fired := 0
	s.OnEvent = func(*Conn, Event) { fired++ }
	var res Response
	zxid := int64(0)
	apply := func(r *Request) {
		zxid++
		s.Apply(&Txn{Zxid: zxid, Req: r}, &res)
	}
	apply(&Request{Op: OpCreate, Path: "/a", ACL: open})
	c := &Conn{}
	const kept, rounds = 100, 10_000
	for i := range kept { // watches that stay
		s.Read(c, &Request{Op: OpExists, Path: "/" + strconv.Itoa(i), Watch: true}, &res)
	}
	for i := range rounds { // and one that fires each time
		s.Read(c, &Request{Op: OpGetData, Path: "/a", Watch: true}, &res)
		s.Read(c, &Request{Op: OpGetData, Path: "/a", Watch: true}, &res) // the same
		if i%2 == 0 {
			apply(&Request{Op: OpSetData, Path: "/a", Version: -1})
		} else {
			s.Read(c, &Request{Op: OpRemoveWatches, Path: "/a", Mode: 2}, &res)
		}
		if limit := 2*(kept+1) + slack; c.live != kept || len(c.armed) > limit || cap(c.armed) > 2*limit {
			t.Fatalf("round %d: %d live, %d remembered in %d", i, c.live, len(c.armed), cap(c.armed))
		}
	}
	if fired != rounds/2 {
		t.Errorf("%d events, want %d", fired, rounds/2)
	}
	s.Disconnect(c)
	if c.live != 0 || len(c.armed) != 0 || len(s.data.paths) != 0 || len(s.child.paths) != 0 {
		t.Errorf("after the disconnect: %d live, %d remembered, %v, %v", c.live, len(c.armed), s.data.paths, s.child.paths)
	}
}

// TestDisconnectForgetsWatchesOfEveryMode changes modes to and fro first: the
// number of recursive watches must come out right.
func TestDisconnectForgetsWatchesOfEveryMode(t *testing.T) {
	s := NewServer(Config{})
	s.OnEvent = func(*Conn, Event) {}
	var res Response
	a, b := &Conn{}, &Conn{}
	for _, r := range []*Request{
		{Op: OpAddWatch, Path: "/x", Mode: 1},
		{Op: OpAddWatch, Path: "/x", Mode: 0},
		{Op: OpAddWatch, Path: "/x", Mode: 1},
		{Op: OpExists, Path: "/x", Watch: true}, // one-shot in the data table
		{Op: OpAddWatch, Path: "/y", Mode: 1},
	} {
		s.Read(a, r, &res)
		s.Read(b, r, &res)
	}
	if s.data.recursive != 2 || s.child.recursive != 4 {
		t.Errorf("%d and %d recursive watches, want 2 and 4", s.data.recursive, s.child.recursive)
	}
	s.Disconnect(a)
	if s.data.recursive != 1 || s.child.recursive != 2 || b.live != 4 {
		t.Errorf("%d and %d recursive watches and %d live, want 1, 2 and 4", s.data.recursive, s.child.recursive, b.live)
	}
}

func TestTheWatchesOfAConnectionAreListed(t *testing.T) {
	s := NewServer(Config{})
	s.OnEvent = func(*Conn, Event) {}
	var res Response
	a, b := &Conn{}, &Conn{}
	s.Apply(&Txn{Zxid: 1, Req: &Request{Op: OpCreate, Path: "/x", ACL: open}}, &res)
	s.Apply(&Txn{Zxid: 2, Session: 9, Req: &Request{Op: OpCreateSession}}, &res)
	s.Apply(&Txn{Zxid: 3, Session: 5, Req: &Request{Op: OpCreateSession}}, &res)
	for _, r := range []Request{{Op: OpExists, Path: "/y"}, {Op: OpGetChildren2, Path: "/x"}, {Op: OpGetData, Path: "/x"},
		{Op: OpExists, Path: "/x"}} {
		r.Watch = true
		s.Read(a, &r, &res)
	}
	s.Read(b, &Request{Op: OpExists, Path: "/y", Watch: true}, &res)
	want := []Watch{{"/x", false}, {"/x", true}, {"/y", false}}
	if got := s.Watches(a); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	s.Apply(&Txn{Zxid: 4, Req: &Request{Op: OpCreate, Path: "/x/z", ACL: open}}, &res)
	if got := s.Watches(a); !slices.Equal(got, []Watch{{"/x", false}, {"/y", false}}) {
		t.Errorf("%v after the watch on the children has fired", got)
	}
	s.Disconnect(a)
	if got := s.Watches(a); len(got) > 0 || !slices.Equal(s.Watches(b), []Watch{{"/y", false}}) {
		t.Errorf("%v after the disconnection", got)
	}
	if got := s.Sessions(); !slices.Equal(got, []int64{5, 9}) {
		t.Errorf("sessions %v", got)
	}
}

// TestALookForWatchesWalksUpThePath: it ends where there is one, and fails when what is left has no slash.
func TestALookForWatchesWalksUpThePath(t *testing.T) {
	s := NewServer(Config{})
	c := &Conn{}
	var res Response
	s.Read(c, &Request{Op: OpExists, Path: " /x", Watch: true}, &res)
	check := func(path string, mode int32, want Code) {
		t.Helper()
		if s.Read(c, &Request{Op: OpCheckWatches, Path: path, Mode: mode}, &res); res.Err != want {
			t.Errorf("%q, %d: %v, expected %v", path, mode, res.Err, want)
		}
	}
	check(" /x/y", 2, NoWatcher) // nobody looks at what is below
	for _, path := range []string{" /w", "w", "//"} {
		s.Read(c, &Request{Op: OpAddWatch, Path: path, Mode: 1}, &res)
	}
	for _, x := range []struct {
		path string
		mode int32
		want Code
	}{
		{" /x", 2, OK}, {" /x", 3, MarshallingError}, {" /x/y", 2, MarshallingError}, {" /w/y", 3, MarshallingError},
		{"w", 3, MarshallingError}, {"w/y", 3, MarshallingError}, {"", 3, NoWatcher}, {"/", 3, NoWatcher}, {"//", 3, OK},
		{"//a", 3, NoWatcher}, {"///", 3, NoWatcher},
	} {
		check(x.path, x.mode, x.want)
	}
}
