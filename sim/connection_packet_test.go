package sim

import (
	"testing"

	"github.com/go-zookeeper/zk"
)

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
