package model

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
)

// bench is a server with /p and /p/a, of which /p is looked at.
type bench struct {
	*Server
	zxid   int64
	events []Event
}

func newBench(l Like) *bench {
	b := &bench{Server: NewServer(Config{Like: l})}
	b.OnEvent = func(_ *Conn, e Event) { b.events = append(b.events, e) }
	b.do(&Request{Op: OpCreateSession, Version: 1000})
	b.do(&Request{Op: OpCreate, Path: "/p"})
	b.do(&Request{Op: OpCreate, Path: "/p/a"})
	return b
}

func (b *bench) do(r *Request) (res Response) {
	b.zxid++
	if r.Op != OpCreateSession {
		r.Version = -1
	}
	r.ACL = open
	for i := range r.Ops {
		r.Ops[i].ACL = open
	}
	b.Apply(&Txn{Zxid: b.zxid, Session: 7, Req: r}, &res)
	return res
}

// parent returns what a client sees of /p.
func (b *bench) parent() zk.Stat {
	var res Response
	b.Read(&Conn{}, &Request{Op: OpExists, Path: "/p"}, &res)
	return res.Stat
}

// TestWhatAParentCounts compares how the two servers tell in the parent of what happens to a child.
func TestWhatAParentCounts(t *testing.T) {
	type counts struct {
		cversion int32
		pzxid    bool // it moves
	}
	child := func(op Op) *Request { return &Request{Op: op, Path: "/p/a", Data: []byte("x")} }
	for name, x := range map[string]struct {
		requests          []*Request
		zookeeper, keeper counts
	}{
		"create":  {[]*Request{{Op: OpCreate, Path: "/p/b"}}, counts{1, true}, counts{1, true}},
		"delete":  {[]*Request{child(OpDelete)}, counts{1, true}, counts{1, false}},
		"setData": {[]*Request{child(OpSetData)}, counts{0, false}, counts{1, false}},
		"setACL":  {[]*Request{child(OpSetACL)}, counts{0, false}, counts{0, false}},
		"end of a session": {[]*Request{{Op: OpCreate, Path: "/p/e", Flags: zk.FlagEphemeral}, {Op: OpCloseSession}},
			counts{2, true}, counts{2, false}},
		"multi": {[]*Request{{Op: OpMulti, Ops: []Request{
			{Op: OpSetData, Path: "/p/a", Version: -1}, {Op: OpSetData, Path: "/p/a", Version: -1}}}},
			counts{0, false}, counts{2, false}},
		"multi that fails": {[]*Request{{Op: OpMulti, Ops: []Request{
			{Op: OpSetData, Path: "/p/a", Version: -1}, {Op: OpDelete, Path: "/p/a", Version: -1},
			{Op: OpDelete, Path: "/p/none", Version: -1}}}},
			counts{0, false}, counts{0, false}},
	} {
		for l, want := range map[Like]counts{ZooKeeper: x.zookeeper, Keeper: x.keeper} {
			b := newBench(l)
			before := b.parent()
			for i, r := range x.requests {
				again := *r
				again.Ops = append([]Request(nil), r.Ops...)
				if b.do(&again); i < len(x.requests)-1 {
					before.Pzxid = b.parent().Pzxid
				}
			}
			after := b.parent()
			if got := (counts{after.Cversion - before.Cversion, after.Pzxid != before.Pzxid}); got != want {
				t.Errorf("%s, %v: %+v, want %+v", name, l, got, want)
			}
		}
	}
}

// TestWhatAReconnectHearsOfChildren has a client set its watch on children again after each thing that can happen to
// one.
func TestWhatAReconnectHearsOfChildren(t *testing.T) {
	for name, x := range map[string]struct {
		op                Op
		path              string
		zookeeper, keeper zk.EventType // 0: none
	}{
		"create": {OpCreate, "/p/b", zk.EventNodeChildrenChanged, zk.EventNodeDataChanged},
		"delete": {OpDelete, "/p/a", zk.EventNodeChildrenChanged, 0},
	} {
		for l, want := range map[Like]zk.EventType{ZooKeeper: x.zookeeper, Keeper: x.keeper} {
			b := newBench(l)
			seen := b.zxid
			b.do(&Request{Op: x.op, Path: x.path})
			var res Response
			c := &Conn{}
			b.Read(c, &Request{Op: OpSetWatches, Watches: &WatchLists{RelativeZxid: seen, Child: []string{"/p"}}}, &res)
			var got []Event
			if want != 0 {
				got = []Event{{Type: want, Path: "/p", Zxid: b.zxid, Caught: true}}
			}
			if !reflect.DeepEqual(b.events, got) {
				t.Errorf("%s, %v: it hears %v, want %v", name, l, b.events, got)
			}
			if armed := len(b.Watches(c)) > 0; armed != (want == 0) {
				t.Errorf("%s, %v: the watch is armed: %v", name, l, armed)
			}
		}
	}
}

// TestLikeIsPartOfTheState compares the two servers where nothing has happened yet that they do differently.
func TestLikeIsPartOfTheState(t *testing.T) {
	if newBench(ZooKeeper).Fingerprint() == newBench(Keeper).Fingerprint() {
		t.Error("the fingerprint does not tell a Keeper from a ZooKeeper")
	}
	a, b := newBench(Keeper), newBench(Keeper)
	a.do(&Request{Op: OpSetData, Path: "/p/a"})
	b.do(&Request{Op: OpSetData, Path: "/p/a"})
	b.nodes["/p"].sets++
	if a.Fingerprint() == b.Fingerprint() {
		t.Error("what a parent counts of its children's data is not in the fingerprint")
	}
}

// TestTheReleaseDecidesWhoMaySeeThatAZnodeExists asks whether a znode is there that nobody may read.
func TestTheReleaseDecidesWhoMaySeeThatAZnodeExists(t *testing.T) {
	for like, want := range map[Like]Code{ZooKeeper: OK, ZooKeeper39: NoAuth} {
		b := newBench(like)
		var res Response
		acl := zk.WorldACL(zk.PermWrite)
		b.Apply(&Txn{Zxid: 100, Session: 7, Req: &Request{Op: OpCreate, Path: "/secret", ACL: acl}}, &res)
		c := &Conn{Session: 7}
		b.Read(c, &Request{Op: OpExists, Path: "/secret", Watch: true}, &res)
		if armed := len(b.Watches(c)) > 0; res.Err != want || armed != (want == OK) {
			t.Errorf("like %v: %v, with a watch: %v", like, res.Err, armed)
		}
	}
}

// TestTheReleaseDecidesWhomAWatchTells deletes a znode whose list was changed after the watch was set.
func TestTheReleaseDecidesWhomAWatchTells(t *testing.T) {
	for like, want := range map[Like]int{ZooKeeper: 0, Keeper: 0, ZooKeeper39: 0, ZooKeeper36: 1} {
		b := newBench(like)
		var res Response
		c := &Conn{Session: 7}
		b.Read(c, &Request{Op: OpGetData, Path: "/p/a", Watch: true}, &res)
		for i, r := range []*Request{{Op: OpSetACL, ACL: zk.WorldACL(zk.PermWrite)}, {Op: OpSetData}} {
			r.Path, r.Version = "/p/a", -1
			if b.Apply(&Txn{Zxid: b.zxid + int64(i) + 1, Session: 7, Req: r}, &res); res.Err != OK {
				t.Errorf("like %v: %v is %v", like, r.Op, res.Err)
			}
		}
		if len(b.events) != want || len(b.Watches(c)) != 0 {
			t.Errorf("like %v: %v, and watches %v", like, b.events, b.Watches(c))
		}
	}
}

// TestTheReleaseDecidesWhichCodeFlagsWithoutMeaningHave creates with such, alone and in a multi.
func TestTheReleaseDecidesWhichCodeFlagsWithoutMeaningHave(t *testing.T) {
	odd := Request{Op: OpCreate, Path: "/odd", Flags: -1}
	for like, want := range map[Like]Code{ZooKeeper: OK, ZooKeeper39: MarshallingError} {
		b := newBench(like)
		if res := b.do(&Request{Op: OpCreate, Path: "/odd", Flags: -1}); res.Err != BadArguments {
			t.Errorf("like %v: %v", like, res.Err)
		}
		res := b.do(&Request{Op: OpMulti, Ops: []Request{odd}})
		if res.Err != want || (len(res.Results) == 1 && res.Results[0].Err == BadArguments) != (want == OK) {
			t.Errorf("like %v: %+v", like, res)
		}
	}
}

// TestTheReleaseDecidesWhenAMultiIsRefused has a multi whose first operation fails before the create is looked at.
func TestTheReleaseDecidesWhenAMultiIsRefused(t *testing.T) {
	for _, x := range []struct {
		op    Op
		flags int32
		want  Code // of the newer release; the older one finds that there is no /none
	}{
		{OpCreate, zk.FlagEphemeral, OK}, {OpCreate2, -1, MarshallingError}, {OpCreate, zk.FlagTTL, MarshallingError},
		{OpCreateContainer, zk.FlagPersistentSequentialWithTTL, MarshallingError}, {OpCreateTTL, 7, OK},
	} {
		for like, want := range map[Like]Code{ZooKeeper: OK, ZooKeeper39: x.want} {
			res := newBench(like).do(&Request{Op: OpMulti, Ops: []Request{{Op: OpDelete, Path: "/none", Version: -1},
				{Op: x.op, Path: "/p/b", Flags: x.flags, TTL: 1}}})
			if res.Err != want || (len(res.Results) == 2 && res.Results[0].Err == NoNode) != (want == OK) {
				t.Errorf("%v with flags %d, like %v: %+v", x.op, x.flags, like, res)
			}
		}
	}
}

// TestParseLike reads the names of servers, and others.
func TestParseLike(t *testing.T) {
	for i, name := range Likes() {
		if l, err := ParseLike(name); err != nil || l != Like(i) || l.String() != name {
			t.Errorf("%s is %v, %v", name, l, err)
		}
	}
	for _, name := range []string{"", "Keeper", "etcd", strings.Repeat("k", 1000)} {
		if l, err := ParseLike(name); err == nil || !strings.Contains(err.Error(), "zookeeper-3.9 or zookeeper-3.6") ||
			len(err.Error()) > 200 {
			t.Errorf("%.20q is %v, %v", name, l, err)
		}
	}
}

// TestSequentialNamesAreTheSame numbers children after all that can happen to others.
func TestSequentialNamesAreTheSame(t *testing.T) {
	var names [2][]string
	for l := range names {
		b := newBench(Like(l))
		for _, r := range []*Request{
			{Op: OpSetData, Path: "/p/a"}, {Op: OpCreate, Path: "/p/n-", Flags: zk.FlagSequence},
			{Op: OpDelete, Path: "/p/a"}, {Op: OpCreate, Path: "/p/n-", Flags: zk.FlagSequence},
			{Op: OpCreate, Path: "/p/b"}, {Op: OpCreate, Path: "/p/n-", Flags: zk.FlagSequence},
		} {
			if res := b.do(r); r.Op == OpCreate {
				names[l] = append(names[l], res.Path)
			}
		}
	}
	want := []string{"/p/n-0000000001", "/p/n-0000000002", "/p/b", "/p/n-0000000004"}
	if !reflect.DeepEqual(names, [2][]string{want, want}) {
		t.Errorf("%q, want %q twice", names, want)
	}
}
