package wire

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// While c1 has no connection /a comes and goes. A server that sets its watch again then tells it nothing, and later of
// what is done after that.
func TestANotificationIsAboutWhatCameAfterTheWatchWasSetAgain(t *testing.T) {
	for _, x := range []struct {
		connection int32 // of the client, by which something has happened
		want       int64
	}{{0, 8}, {1, 5}} {
		h := history.History{Events: []history.Event{
			{Kind: history.Session, Client: 1, Op: zk.StateHasSession.String(), Version: x.connection},
			{Kind: history.Reply, Client: 1, Op: "existsW", Path: "/a", Zxid: 4, Err: zk.ErrNoNode},
			{Kind: history.Session, Client: 1, Op: zk.StateDisconnected.String()},
			{Kind: history.Session, Client: 1, Op: zk.StateHasSession.String()},
			{Kind: history.Call, Client: 1, Op: "setWatches"},
			{Kind: history.Reply, Client: 1, Op: "setWatches", Zxid: 7},
			{Kind: history.Notify, Client: 1, Op: "created", Path: "/a"},
		}}
		changes := []history.Event{{Kind: history.Created, Path: "/a", Zxid: 5}, {Kind: history.Deleted, Path: "/a", Zxid: 6},
			{Kind: history.Created, Path: "/a", Zxid: 8}}
		if err := Explain(&h, changes); err != nil {
			t.Fatal(err)
		}
		if got := h.Events[len(h.Events)-1].Zxid; got != x.want {
			t.Errorf("connection %d: zxid %d, want %d", x.connection, got, x.want)
		}
	}
}
