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

// Package conform compares both with a real server. What is no UTF-8 is U+FFFD for a server written in Java, which so
// knows another user than the client that has computed the id by itself.
func TestNamesOfUsersAreThoseOfJava(t *testing.T) {
	w := NewWorld()
	defer w.Close()
	got := func(k Conn, path string, acl []zk.ACL) string {
		k.Create(path, nil, 0, acl)
		list, _, err := k.GetACL(path)
		if err != nil {
			return err.Error()
		}
		return list[0].ID
	}
	var astral, odd, granted, multi string
	w.Reset(Config{Clients: 1}, nil, func(c *Client) {
		k := c.Conn()
		k.AddAuth("digest", []byte("\U0001F600:p"))
		astral = got(k, "/astral", zk.DigestACL(zk.PermAll, "\U0001F600", "p"))
		k.AddAuth("digest", []byte("\xff:p"))
		odd = got(k, "/odd", zk.DigestACL(zk.PermAll, "\xff", "p"))
		others := []zk.ACL{{Perms: zk.PermAll, Scheme: "digest", ID: "\xff:x"}, open[0]}
		granted = got(k, "/granted", others)
		k.Multi(&zk.CreateRequest{Path: "/multi", Acl: others})
		multi = got(k, "/multi", nil)
	})
	if err := w.Run(&Replay{}); err != nil {
		t.Fatal(err)
	}
	if hash := "mnxuLb+eH1AAHGgvuO6/0m5r6/g="; astral != "\xed\xa0\xbd\xed\xb8\x80:"+hash {
		t.Errorf("got %q", astral)
	}
	if odd != zk.ErrNoAuth.Error() || granted != "\ufffd:x" || multi != "\ufffd:x" {
		t.Errorf("got %q, %q, %q", odd, granted, multi)
	}
}
