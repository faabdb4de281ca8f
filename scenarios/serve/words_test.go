package serve

import (
	"strings"
	"testing"
	"time"
)

// The words in which a leader and a follower differ, from a real ensemble: a follower tells no time at which a session
// expires, and the sizes of proposals are the leader's.
func TestAFollowerAnswersWordsAsAFollower(t *testing.T) {
	e := start(t, Options{Nodes: 3})
	client(t, 10*time.Second, e.Addrs()[0])
	addrs := e.Addrs()
	members := "membership: \nserver.1=127.0.0.1:2888:3888:participant;" + addrs[0] + "\nserver.2="
	for _, x := range []struct {
		server      int
		word, begin string
		with, not   string
	}{
		{0, "dump", "SessionTracker dump:\nSession Sets (1)/(1):\n1 expire at ", ":\n\t0x1001\n", "Global Sessions"},
		{1, "dump", "SessionTracker dump:\nGlobal Sessions(1):\n0x1001\t10000ms\nephemeral nodes dump:\n",
			"Connections dump:\n", "Session Sets"},
		{0, "srvr", "Zookeeper version: ", "Node count: 5\nProposal sizes last/min/max: -1/-1/-1\n", "Clients"},
		{1, "srvr", "Zookeeper version: ", "Mode: follower\nNode count: 5\n", "Proposal"},
		{0, "stat", "Zookeeper version: ", "Node count: 5\nProposal sizes last/min/max: -1/-1/-1\n", "follower"},
		{2, "conf", "clientPort=", "serverId=3\ninitLimit=10\nsyncLimit=5\nelectionAlg=3\nelectionPort=3888\n" +
			"quorumPort=2888\npeerType=0\n" + members, "serverId=0"},
	} {
		got := word(t, addrs[x.server], x.word)
		if !strings.HasPrefix(got, x.begin) || !strings.Contains(got, x.with) || strings.Contains(got, x.not) {
			t.Errorf("%s of s%d: %q", x.word, x.server+1, got)
		}
	}
	for k := range addrs {
		if got := e.command(k, "dump")["expiry_time_to_session_ids"].(map[int64][]int64); (len(got) == 1) != (k == 0) {
			t.Errorf("admin server of s%d: %v", k+1, got)
		}
	}
	if got := word(t, start(t, Options{}).Addrs()[0], "conf"); !strings.HasSuffix(got, "serverId=0\n") {
		t.Errorf("a server by itself: %q", got)
	}
}
