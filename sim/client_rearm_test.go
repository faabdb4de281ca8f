package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
)

// A server refuses a packet of more than 1 MB, and a client that sent its watches in such a one after each reconnect
// would never get further.
func TestWatchesOnLongPathsAreSetAgainInSeveralRequests(t *testing.T) {
	long := func(i int) string { return fmt.Sprintf("/d/%d%s", i, strings.Repeat("n", 100_000)) }
	s := start(t, 1, func(s *script, c *Client) {
		var last <-chan zk.Event
		for i := range 12 {
			_, _, last, _ = c.Conn().ExistsW(long(i))
		}
		s.say("%.13s", c.next(last))
	}, func(s *script, c *Client) { c.Conn().Create(long(11), nil, 0, open) })
	s.do("run c1", "connect c1 s1")
	for range 12 {
		s.do("serve c1, deliver c1")
	}
	s.do("cut c1")
	s.alone("c2")
	s.do("round c1", "connect c1 s1")
	for range 12 {
		s.do("serve c1")
	}
	for range 13 { // with the event
		s.do("deliver c1")
	}
	s.do("run c1")
	s.want("created /d/11")
}

func TestAClientThatLeavesItsWatchesHearsThatTheyHaveEndedAndNothingElse(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		c.Conn().LeaveWatches()
		_, _, ch, _ := c.Conn().ExistsW("/a")
		s.say("%.12s", c.next(ch))
		c.Conn().Exists("/")
	}, func(s *script, c *Client) { c.Conn().Create("/a", nil, 0, open) })
	s.do("run c1", "connect c1 s1", "serve c1", "deliver c1", "cut c1")
	s.alone("c2")
	s.do("round c1", "connect c1 s1", "run c1", "serve c1", "deliver c1")
	s.want("unwatched /a")
}
