package model

import (
	"testing"

	"github.com/go-zookeeper/zk"
)

// The recording h44 has the longest data that a real server took for a create at
// "/b" with the open list: one byte more, and it closed the connection.
func TestPacketsAreAsLongAsOnTheWire(t *testing.T) {
	const longest = 1_048_526
	create := Request{Op: OpCreate, Path: "/b", Data: make([]byte, longest), ACL: zk.WorldACL(zk.PermAll)}
	ttl := create
	ttl.Op = OpCreateTTL
	for name, c := range map[string]struct {
		r    Request
		want int
	}{
		"create": {create, MaxPacketLen},
		"ttl":    {ttl, MaxPacketLen + longLen},
		"set":    {Request{Op: OpSetData, Path: "/b", Data: make([]byte, 100)}, 8 + 4 + 2 + 4 + 100 + 4},
		"multi": {Request{Op: OpMulti, Ops: []Request{create, {Op: OpDelete, Path: "/b"}}},
			MaxPacketLen + 9 + 9 + (4 + 2 + 4) + 9},
		"read": {Request{Op: OpGetData, Path: "/b"}, 8 + 4 + 2 + 1},
	} {
		if got := c.r.PacketLen(); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}
