package zkserver_test

import (
	"strings"
	"testing"

	"zksim/internal/zkserver"
	"zksim/internal/zkserver/zkservertest"
)

func TestAServerTellsItsFigures(t *testing.T) {
	addr := zkservertest.ForTest(t, 1).Addrs()[0]
	first, err := zkserver.Figures(t.Context(), addr)
	if err != nil || first["zk_znode_count"] != 5 || first["zk_watch_count"] != 0 {
		t.Fatalf("%v, %v", err, first)
	}
	second, err := zkserver.Figures(t.Context(), addr)
	if err != nil || second["zk_packets_received"] != first["zk_packets_received"]+1 {
		t.Errorf("%v, %v packets, and %v after a question", err, first["zk_packets_received"], second["zk_packets_received"])
	}
}

func TestWhoHasNoFiguresIsAnError(t *testing.T) {
	_, err := zkserver.Figures(t.Context(), "127.0.0.1:1")
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1 does not answer mntr") ||
		!strings.Contains(err.Error(), "whitelist") {
		t.Error(err)
	}
}

func TestServersTellWhatTheyHaveApplied(t *testing.T) {
	addrs := zkservertest.ForTest(t, 3).Addrs()
	c := dial(t, addrs...)
	_, err := c.Create("/zxid", nil, 0, open)
	must(t, err)
	_, stat, err := c.Exists("/zxid")
	must(t, err)
	for _, addr := range addrs {
		eventually(t, addr+" tells the txn that was the last", func() bool {
			zxid, err := zkserver.Zxid(t.Context(), addr)
			must(t, err)
			return zxid == stat.Czxid
		})
	}
	_, err = zkserver.Zxid(t.Context(), "127.0.0.1:1")
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1 does not answer srvr with a zxid") {
		t.Error(err)
	}
}
