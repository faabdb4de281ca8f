package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// TestContainersAndTTLNodesAreReapedInVirtualTime lets a client make both kinds
// and looks for what is left when nothing can happen any more.
func TestContainersAndTTLNodesAreReapedInVirtualTime(t *testing.T) {
	w := NewWorld()
	defer w.Close()
	ended := int64(0)
	w.Reset(Config{Clients: 1, Servers: 3}, nil, func(c *Client) {
		k := c.Conn()
		for _, err := range []error{
			second(k.CreateContainer("/used", nil, zk.FlagContainer, open)),
			second(k.CreateContainer("/unused", nil, zk.FlagContainer, open)),
			second(k.Create("/used/x", nil, 0, open)),
			k.Delete("/used/x", -1),
			second(k.CreateTTL("/ttl", nil, zk.FlagTTL, open, time.Minute)),
			second(k.CreateTTL("/parent", nil, zk.FlagTTL, open, time.Minute)),
			second(k.Create("/parent/child", nil, 0, open)),
		} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	if err := w.Run(&Replay{}); err != nil {
		t.Fatal(err)
	}
	ended = w.now
	var left []string
	for _, n := range w.History.Tree {
		left = append(left, n.Path)
	}
	if want := []string{"/", "/parent", "/parent/child", "/unused"}; !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
	if want := time.Minute.Milliseconds(); ended <= want || ended > want+1 {
		t.Errorf("ended at %d ms, want just after %d", ended, want)
	}
}

func second(_ string, err error) error { return err }
