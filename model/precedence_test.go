package model

import (
	"testing"

	"github.com/go-zookeeper/zk"
)

// TestTheFirstOfSeveralErrors has requests that are wrong in two ways, for neighbours in the server's order of checks.
// The znodes: /locked grants nothing, /e is ephemeral and its quota used up, /q has a child and a used up quota.
func TestTheFirstOfSeveralErrors(t *testing.T) {
	s := NewServer(Config{EnforceQuota: true})
	s.OnEvent = func(*Conn, Event) {}
	var res Response
	zxid := int64(0)
	apply := func(r Request) Code {
		zxid++
		s.Apply(&Txn{Zxid: zxid, Session: 7, Req: &r}, &res)
		return res.Err
	}
	nothing, invalid := []zk.ACL{{Scheme: "world", ID: "anyone"}}, []zk.ACL{{Perms: 31, Scheme: "none", ID: "x"}}
	limit := []byte("countHardLimit=2,byteHardLimit=3")
	for _, r := range []Request{
		{Op: OpCreateSession, Version: 1000},
		{Op: OpCreate, Path: "/locked", ACL: nothing},
		{Op: OpCreate, Path: "/e", Flags: zk.FlagEphemeral, ACL: open},
		{Op: OpCreate, Path: "/q", ACL: open}, {Op: OpCreate, Path: "/q/k", Data: []byte("123"), ACL: open},
		{Op: OpCreate, Path: "/zookeeper/quota/q", ACL: open}, {Op: OpCreate, Path: "/zookeeper/quota/e", ACL: open},
		{Op: OpCreate, Path: "/zookeeper/quota/q/zookeeper_limits", Data: limit, ACL: open},
		{Op: OpCreate, Path: "/zookeeper/quota/q/zookeeper_stats", ACL: open},
		{Op: OpCreate, Path: "/zookeeper/quota/e/zookeeper_limits", Data: []byte("countHardLimit=1"), ACL: open},
		{Op: OpCreate, Path: "/zookeeper/quota/e/zookeeper_stats", ACL: open},
	} {
		if code := apply(r); code != OK {
			t.Fatalf("%s %s: %v", r.Op, r.Path, code)
		}
	}
	for _, x := range []struct {
		why  string
		req  Request
		code Code
	}{
		{"flag before ttl", Request{Op: OpCreate, Path: "/x", Flags: 7, ACL: open}, BadArguments},
		{"ttl flag before path", Request{Op: OpCreate, Path: "x", Flags: zk.FlagTTL, ACL: open}, Unimplemented},
		{"path before ACL", Request{Op: OpCreate, Path: "x", ACL: invalid}, BadArguments},
		{"ACL before parent", Request{Op: OpCreate, Path: "/no/x", ACL: invalid}, InvalidACL},
		{"ACL before existence", Request{Op: OpCreate, Path: "/q", ACL: invalid}, InvalidACL},
		{"parent before final path", Request{Op: OpCreate, Path: "/no/.", ACL: open}, NoNode},
		{"permission before final path", Request{Op: OpCreate, Path: "/locked/.", ACL: open}, NoAuth},
		{"final path before ephemeral parent", Request{Op: OpCreate, Path: "/e/.", ACL: open}, BadArguments},
		{"existence before quota", Request{Op: OpCreate, Path: "/q/k", ACL: open}, NodeExists},
		{"ephemeral parent before quota", Request{Op: OpCreate, Path: "/e/x", ACL: open}, NoChildrenForEphemerals},
		{"quota", Request{Op: OpCreate, Path: "/q/x", ACL: open}, QuotaExceeded},
		{"permission before existence", Request{Op: OpDelete, Path: "/locked/x", Version: -1}, NoAuth},
		{"parent before version", Request{Op: OpDelete, Path: "/no/x", Version: 5}, NoNode},
		{"existence before version", Request{Op: OpDelete, Path: "/x", Version: 5}, NoNode},
		{"version before children", Request{Op: OpDelete, Path: "/q", Version: 5}, BadVersion},
		{"-2 is no wildcard", Request{Op: OpDelete, Path: "/q", Version: -2}, BadVersion},
		{"system znode before version", Request{Op: OpDelete, Path: "/zookeeper", Version: 5}, BadArguments},
		{"path before existence", Request{Op: OpSetData, Path: "/x/", Version: -1}, BadArguments},
		{"permission before version", Request{Op: OpSetData, Path: "/locked", Version: 5}, NoAuth},
		{"quota before version", Request{Op: OpSetData, Path: "/q", Data: []byte("1"), Version: 5}, QuotaExceeded},
		{"path before ACL", Request{Op: OpSetACL, Path: "/x/", ACL: invalid}, BadArguments},
		{"ACL before existence", Request{Op: OpSetACL, Path: "/x", ACL: invalid}, InvalidACL},
		{"ACL before permission", Request{Op: OpSetACL, Path: "/locked", ACL: invalid}, InvalidACL},
		{"permission before version", Request{Op: OpSetACL, Path: "/locked", ACL: open, Version: 5}, NoAuth},
		{"permission before version", Request{Op: OpCheck, Path: "/locked", Version: 5}, NoAuth},
	} {
		if got := apply(x.req); got != x.code || res.Zxid != zxid {
			t.Errorf("%s %s, %s: %v, want %v; zxid %d, want %d", x.req.Op, x.req.Path, x.why, got, x.code, res.Zxid, zxid)
		}
	}
}

// TestTheFlagMakesAContainerOnlyInAMulti: at top level the operation does.
func TestTheFlagMakesAContainerOnlyInAMulti(t *testing.T) {
	b := newBench(ZooKeeper)
	create := Request{Op: OpCreate, Path: "/c", Flags: zk.FlagContainer}
	for _, x := range []struct {
		req  Request
		next int64
	}{
		{create, Never},
		{Request{Op: OpCreateContainer, Path: "/c", Flags: 0}, 0},
		{Request{Op: OpMulti, Ops: []Request{create}}, 0},
	} {
		for _, r := range []Request{x.req, {Op: OpCreate, Path: "/c/k"}, {Op: OpDelete, Path: "/c/k"}} {
			if res := b.do(&r); r.Refusal(&res) != OK {
				t.Fatalf("%s: %v", r.Op, r.Refusal(&res))
			}
		}
		if got := b.NextReap(); (got == Never) != (x.next == Never) {
			t.Errorf("%s: reaped from %d", x.req.Op, got)
		}
		b.do(&Request{Op: OpDelete, Path: "/c"})
	}
}
