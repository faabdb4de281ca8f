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

// TestAPacketThatIsTooLongWaitsForAConnectionAsOthersDo has go-zookeeper's sendData, which is called when there is a
// connection. Seen with 3.8.0: while the servers refused connections such a create ended with ErrNoServer.
func TestAPacketThatIsTooLongWaitsForAConnectionAsOthersDo(t *testing.T) {
	for _, c := range []struct {
		then, want string
	}{{"round c1", "zk: could not connect to a server"}, {"connect c1 s2", "zk: buffer too small"}} {
		s := start(t, 3, func(s *script, c *Client) {
			c.rests()
			_, err := c.Conn().Create("/d/a", make([]byte, libraryMaxPacketLen), 0, open)
			s.say("%v", err)
		})
		s.do("run c1", "connect c1 s1", "cut c1", "run c1")
		if s.can("run c1") {
			t.Error("it does not wait for a connection")
		}
		s.do(c.then, "run c1")
		s.want(c.want)
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
