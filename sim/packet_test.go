package sim

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model"
)

// The recording h44 has the longest data that a real server took for a create at
// "/b" with the open list: one byte more, and it closed the connection.
func TestPacketsAreAsLongAsOnTheWire(t *testing.T) {
	const longest = 1_048_526
	create := model.Request{Op: model.OpCreate, Path: "/b", Data: make([]byte, longest), ACL: zk.WorldACL(zk.PermAll)}
	ttl := create
	ttl.Op = model.OpCreateTTL
	for name, c := range map[string]struct {
		r    model.Request
		want int
	}{
		"create": {create, serverMaxPacketLen},
		"ttl":    {ttl, serverMaxPacketLen + longLen},
		"set":    {model.Request{Op: model.OpSetData, Path: "/b", Data: make([]byte, 100)}, 8 + 4 + 2 + 4 + 100 + 4},
		"multi": {model.Request{Op: model.OpMulti, Ops: []model.Request{create, {Op: model.OpDelete, Path: "/b"}}},
			serverMaxPacketLen + 9 + 9 + (4 + 2 + 4) + 9},
		"read": {model.Request{Op: model.OpGetData, Path: "/b"}, 0},
	} {
		if got := packetLen(&c.r); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}

func TestAPacketThatIsTooLongFailsWhereItFails(t *testing.T) {
	for _, c := range []struct {
		size int
		want error
	}{{1_048_000, nil}, {1_100_000, zk.ErrConnectionClosed}, {libraryMaxPacketLen, zk.ErrShortBuffer}} {
		w := NewWorld()
		var err error
		w.Reset(Config{Clients: 1}, nil, func(c2 *Client) {
			_, err = c2.Conn().Create("/b", make([]byte, c.size), 0, zk.WorldACL(zk.PermAll))
		})
		if runErr := w.Run(&Replay{}); runErr != nil || err != c.want {
			t.Errorf("%d bytes: %v, want %v (%v)", c.size, err, c.want, runErr)
		}
		w.Close()
	}
}

func TestCharactersBeyondTheBasicPlaneAreSentAsSurrogates(t *testing.T) {
	if got := wireText("/a\u00e9"); got != "/a\u00e9" {
		t.Errorf("got %q", got)
	}
	if got := wireText("/\U0001F600b"); got != "/\xed\xa0\xbd\xed\xb8\x80b" {
		t.Errorf("got %q", got)
	}
}
