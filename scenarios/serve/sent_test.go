package serve

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// TestASessionThatIsSentElsewhereIsTakenInTheEnd has a client that knows one server only.
func TestASessionThatIsSentElsewhereIsTakenInTheEnd(t *testing.T) {
	t.Parallel()
	plan, err := ParsePlan("failover=1")
	if err != nil {
		t.Fatal(err)
	}
	e := start(t, Options{Nodes: 3, Faults: plan, Lag: 20 * time.Millisecond})
	c := client(t, time.Minute, e.Addrs()[0])
	session := c.SessionID()
	for struck := 0; struck == 0; {
		c.Create("/n-", nil, zk.FlagSequence, open)
		strikes, _ := e.Strikes()
		struck = len(strikes)
	}
	for err := zk.ErrConnectionClosed; err != nil; {
		_, err = c.Sync("/")
	}
	if c.SessionID() != session {
		t.Error("the client has another session")
	}
}
