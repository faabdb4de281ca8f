package wire

import (
	"reflect"
	"slices"
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

func TestAWatchThatStaysTellsOfOneChangeAfterTheOther(t *testing.T) {
	told := func(op, path string, zxid int64) history.Event {
		return history.Event{Kind: history.Notify, Client: 1, Op: op, Path: path, Zxid: zxid}
	}
	set := history.Event{Kind: history.Reply, Client: 1, Op: "addWatch", Path: "/a", Zxid: 3}
	at := func(path string) (e history.Event) { e = set; e.Path, e.Version = path, recursively; return e }
	above := history.Event{Kind: history.Reply, Client: 1, Op: "addWatch", Path: "/", Zxid: 3}
	removed := func(mode int32, zxid int64) history.Event {
		return history.Event{Kind: history.Reply, Client: 1, Op: "removeWatches", Path: "/a", Zxid: zxid,
			Version: mode}
	}
	got := func(zxid int64) history.Event {
		return history.Event{Kind: history.Reply, Client: 1, Op: "getW", Path: "/a", Zxid: zxid}
	}
	changes := []history.Event{{Kind: history.Changed, Path: "/a", Zxid: 2}, {Kind: history.Changed, Path: "/a", Zxid: 4},
		{Kind: history.Created, Path: "/a/b", Zxid: 5}, {Kind: history.Created, Path: "/a/c", Zxid: 5},
		{Kind: history.Changed, Path: "/a", Zxid: 6}, {Kind: history.Deleted, Path: "/a/b", Zxid: 7},
		{Kind: history.Deleted, Path: "/a/c", Zxid: 8}, {Kind: history.Deleted, Path: "/a", Zxid: 9}}
	for name, want := range map[string][]history.Event{
		"of a znode": {set, told("changed", "/a", 4), told("child", "/a", 5), told("child", "/a", 5),
			told("changed", "/a", 6), told("child", "/a", 7), told("child", "/a", 8), told("deleted", "/a", 9)},
		"recursive": {at("/"), told("changed", "/a", 4), told("created", "/a/b", 5), told("created", "/a/c", 5),
			told("changed", "/a", 6), told("deleted", "/a/b", 7), told("deleted", "/a", 9)},
		"set again": {set, {Kind: history.Session, Client: 1, Op: zk.StateHasSession.String()},
			{Kind: history.Call, Client: 1, Op: "setWatches2"},
			{Kind: history.Reply, Client: 1, Op: "setWatches2", Zxid: 4}, told("changed", "/a", 6)},
		"of another":                {at("/b"), told("changed", "/a", 0)},
		"not of this one":           {above, told("changed", "/a", 0)},
		"removed":                   {set, removed(3, 5), got(5), told("changed", "/a", 6)},
		"... and the children stay": {set, removed(ofData, 5), got(5), told("changed", "/a", 6), told("child", "/a", 5)},
		"a watch of data removed":   {got(3), removed(ofData, 5), got(5), told("changed", "/a", 6)},
		"of an ended session": {set, {Kind: history.Session, Client: 1, Op: zk.StateExpired.String()},
			told("changed", "/a", 0)},
	} {
		h := history.History{Events: slices.Clone(want)}
		for i := range h.Events {
			if e := &h.Events[i]; e.Kind == history.Notify {
				e.Zxid = 0
			}
		}
		if err := Explain(&h, changes); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(h.Events, want) {
			t.Errorf("%s: %+v\nwant %+v", name, h.Events, want)
		}
	}
}

func TestAWatchOfWhichAClientIsNotToldIsTheStores(t *testing.T) {
	left := func(op, path string, zxid int64, err error) history.Event {
		return history.Event{Kind: history.Reply, Client: 1, Op: op, Path: path, Zxid: zxid, Err: err}
	}
	told := func(op, path string) history.Event {
		return history.Event{Kind: history.Notify, Client: 1, Op: op, Path: path}
	}
	session := func(connection int32) history.Event {
		return history.Event{Kind: history.Session, Client: 1, Op: zk.StateDisconnected.String(), Version: connection}
	}
	changes := []history.Event{{Kind: history.Created, Path: "/a", Zxid: 3},
		{Kind: history.Created, Path: "/a/b", Zxid: 5},
		{Kind: history.Changed, Path: "/a", Zxid: 6}, {Kind: history.Deleted, Path: "/a/b", Zxid: 7},
		{Kind: history.Deleted, Path: "/a", Zxid: 8}}
	later := func(zxid int64) history.Event { return left("sync", "/a", zxid, nil) }
	for name, x := range map[string]struct {
		events []history.Event
		want   string
	}{
		"told in time": {[]history.Event{left("childrenW", "/a", 4, nil), told("child", "/a"), later(8)}, ""},
		"nothing yet":  {[]history.Event{left("getW", "/a", 4, nil), later(5)}, ""},
		"no watch":     {[]history.Event{left("getW", "/a", 2, zk.ErrNoNode), later(8)}, ""},
		"one for both": {[]history.Event{left("getW", "/a", 7, nil), left("childrenW", "/a", 7, nil),
			told("deleted", "/a"), later(8)}, ""},
		"another client's": {[]history.Event{{Kind: history.Reply, Client: 2, Op: "getW", Path: "/a", Zxid: 4},
			later(8)}, ""},
		"another connection": {[]history.Event{left("getW", "/a", 4, nil), session(0), later(8)}, ""},
		"several":            {[]history.Event{session(1), left("getW", "/a", 4, nil), later(8)}, ""},
		"a child": {[]history.Event{left("childrenW", "/a", 4, nil), later(5)},
			"c1 was told of zxid 0x5, and not of 0x5, for which it had a watch on /a since 0x4"},
		"data": {[]history.Event{left("getW", "/a", 4, nil), later(8)},
			"c1 was told of zxid 0x8, and not of 0x6, for which it had a watch on /a since 0x4"},
		"a znode that comes": {[]history.Event{left("existsW", "/a", 2, zk.ErrNoNode), later(4)},
			"c1 was told of zxid 0x4, and not of 0x3, for which it had a watch on /a since 0x2"},
		"a second one": {[]history.Event{left("getW", "/a", 4, nil), told("changed", "/a"), left("getW", "/a", 6, nil),
			later(9)},
			"c1 was told of zxid 0x9, and not of 0x8, for which it had a watch on /a since 0x6"},
	} {
		if got := Untold(&history.History{Events: x.events}, changes); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

func TestANotificationWithoutAReasonIsTheStores(t *testing.T) {
	left := func(op, path string, zxid int64) history.Event {
		return history.Event{Kind: history.Reply, Client: 1, Op: op, Path: path, Zxid: zxid}
	}
	told := func(op, path string) history.Event {
		return history.Event{Kind: history.Notify, Client: 1, Op: op, Path: path}
	}
	call := func(op string) history.Event { return history.Event{Kind: history.Call, Client: 1, Op: op} }
	none := history.Event{Kind: history.Reply, Client: 1, Op: "existsW", Path: "/r/a", Zxid: 2, Err: zk.ErrNoNode}
	session := history.Event{Kind: history.Session, Client: 1, Op: zk.StateHasSession.String()}
	changes := []history.Event{{Kind: history.Created, Path: "/r/a", Zxid: 3},
		{Kind: history.Created, Path: "/r/a/b", Zxid: 5}, {Kind: history.Changed, Path: "/r/a", Zxid: 6},
		{Kind: history.Deleted, Path: "/r/a/b", Zxid: 7}, {Kind: history.Deleted, Path: "/r/a", Zxid: 8}}
	const wrong = "c1 was notified that /r/a is "
	for name, x := range map[string]struct {
		events []history.Event
		want   string
	}{
		"as it was":          {[]history.Event{session, none, told("created", "/r/a")}, ""},
		"a child":            {[]history.Event{left("childrenW", "/r/a", 6), told("child", "/r/a")}, ""},
		"with its parent":    {[]history.Event{left("childrenW", "/r/a", 7), told("deleted", "/r/a")}, ""},
		"not of the run":     {[]history.Event{told("deleted", "/other")}, ""},
		"set again":          {[]history.Event{call("get"), session, told("changed", "/r/a")}, ""},
		"set by the library": {[]history.Event{call("setWatches2"), told("changed", "/r/a")}, ""},
		"persistent":         {[]history.Event{call("addWatch"), told("changed", "/r/a")}, ""},
		"no watch":           {[]history.Event{told("changed", "/r/a")}, wrong + "changed, and it had no watch there"},
		"twice": {[]history.Event{none, told("created", "/r/a"), told("created", "/r/a")},
			wrong + "created, and it had no watch there"},
		"too late": {[]history.Event{left("getW", "/r/a", 8), told("deleted", "/r/a")},
			wrong + "deleted, and for its watch since zxid 0x8 it is unchanged"},
		"of another type": {[]history.Event{left("getW", "/r/a", 4), told("deleted", "/r/a")},
			wrong + "deleted, and for its watch since zxid 0x4 it is changed"},
		"of data for a child": {[]history.Event{left("childrenW", "/r/a", 4), told("changed", "/r/a")},
			wrong + "changed, and for its watch since zxid 0x4 it is child"},
	} {
		if got := Unfounded(&history.History{Events: x.events}, changes, "/r"); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
