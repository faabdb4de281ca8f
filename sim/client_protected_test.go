package sim

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
)

// protect makes a protected znode and says what came of it: its name without the GUID.
func protect(path string) program {
	return func(s *script, c *Client) {
		made, err := c.Conn().CreateProtectedEphemeralSequential(path, nil, open)
		if cut := strings.LastIndex(made, "-n-"); cut > 0 {
			made = made[:len("/d/_c_")] + made[cut:]
		}
		s.say("%s %v", made, err)
	}
}

func TestAProtectedZnodeIsFoundAfterALostReply(t *testing.T) {
	s := start(t, 1, protect("/d/n-"))
	// the znode is there, and the reply is lost
	s.do("run c1", "connect c1 s1", "serve c1", "cut c1", "round c1", "connect c1 s1")
	s.alone("c1")
	s.want("/d/_c_-n-0000000000 <nil>")
}

func TestAProtectedZnodeIsMadeAgainWhereNothingIsFound(t *testing.T) {
	s := start(t, 1, protect("/d/n-"))
	s.do("run c1", "connect c1 s1", "cut c1", "round c1", "connect c1 s1")
	s.alone("c1")
	s.want("/d/_c_-n-0000000000 <nil>")
}

// As in go-zookeeper: the znode stays, and its client is not told its name.
func TestAProtectedZnodeStaysWhenTheListingIsLostAsWell(t *testing.T) {
	s := start(t, 1, protect("/d/n-"))
	s.do("run c1", "connect c1 s1", "serve c1", "cut c1", "round c1", "connect c1 s1", "run c1", "serve c1", "cut c1")
	s.alone("c1")
	s.want(" " + zk.ErrConnectionClosed.Error())
	if n := len(s.w.servers[0].store.Tree()); n < 3 {
		t.Errorf("there are %d znodes; the protected one has gone", n)
	}
}

func TestAProtectedZnodeNeedsAPath(t *testing.T) {
	s := start(t, 1, protect("d/n-"), protect("/missing/n-"))
	s.alone("c1")
	s.alone("c2")
	s.want(" "+zk.ErrInvalidPath.Error(), " "+zk.ErrNoNode.Error())
}
