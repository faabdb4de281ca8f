package lock

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/zktest"
)

// contenders returns how many znodes a client has after it has entered once and the reply to its create was lost. The
// test fails by itself if that fault never strikes.
func contenders(t *testing.T, enter func(c *zk.Conn, path string) (string, error)) int {
	e := zktest.Start(t, zktest.Options{Faults: "lose-reply=1@client=c1,op=create,path=/lock/"})
	c, _, err := zk.Connect(e.Addrs(), 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Create("/lock", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	if _, err := enter(c, "/lock"); err != nil {
		t.Fatal(err)
	}
	list, _, err := c.Children("/lock")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestTheBrokenLockLeavesAnOrphan(t *testing.T) {
	t.Parallel()
	if n := contenders(t, Enter); n != 2 {
		t.Errorf("%d znodes, expected the orphan and another", n)
	}
}

func TestTheMendedLockDoesNot(t *testing.T) {
	t.Parallel()
	if n := contenders(t, EnterProtected); n != 1 {
		t.Errorf("%d znodes, expected 1", n)
	}
}
