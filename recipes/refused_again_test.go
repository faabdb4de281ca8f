package recipes_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// unread is a connection to which a znode cannot be read any more.
type unread struct {
	recipes.Conn
	path *string
}

func (c unread) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	if path == *c.path {
		return nil, nil, nil, zk.ErrNoAuth
	}
	return c.Conn.GetW(path)
}

// A membership that ends for good, since its znode may not be read any more, leaves none behind.
func TestAMembershipThatHasEndedForGoodHasNoZnode(t *testing.T) {
	nothingLeft(t, play(t, nil, func(a actor) {
		denied, joined := "", true
		g := recipes.NewGroup(unread{a.Conn, &denied}, a.env, "/group",
			recipes.GroupOptions{Changed: func(_ string, j bool) { joined = j }})
		m, err := g.Join(ctx, "m", nil)
		a.is("Join", err, nil)
		denied = "/group/m"
		_, err = a.Conn.Set(denied, nil, -1) // so that it is read again
		a.is("Set", err, nil)
		a.until(func() bool { return !joined })
		a.is("Leave", m.Leave(ctx), zk.ErrNoAuth)
		if now := a.names(); now != "" {
			a.t.Errorf("members: %s", now)
		}
	}))
}
