package judge_test

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/internal/judge"
	"zksim/model/history"
)

// plain is the znode of a waiter whose name tells nothing of its client.
const plain = "/l/lock-0000000000"

func plainly(kind history.Kind, c int32, zxid int64) history.Event {
	return history.Event{Kind: kind, Client: c, Path: plain, Zxid: zxid}
}

func call(c int32, op, path string) history.Event {
	return history.Event{Kind: history.Call, Client: c, Op: op, Path: path}
}

// asking is a create that is never answered.
func asking(c int32, n int) history.Event {
	return call(c, "create", waits(n)[:len(waits(n))-len("0000000000")])
}

func state(c int32, s zk.State) history.Event {
	return history.Event{Kind: history.Session, Client: c, Op: s.String()}
}

func writing(c int32, zxid int64) history.Event {
	return history.Event{Kind: history.Changed, Client: c, Path: "/g", Zxid: zxid}
}

var plainList = history.Event{Kind: history.Reply, Client: 2, Op: "children", Path: "/l", Data: "lock-0000000000",
	Zxid: 3}

// TestALockBelowTheRootIsOneOfItsFolder has a cache of the root, which waits for nobody, and a writer with the lock.
func TestALockBelowTheRootIsOneOfItsFolder(t *testing.T) {
	lock := func(c int32, path string, zxid int64) history.Event {
		return history.Event{Kind: history.Created, Client: c, Path: path, Zxid: zxid, Session: int64(c)}
	}
	j := judge.Judge(&history.History{Events: []history.Event{call(1, "childrenW", "/"), lock(1, "/lock-0000000000", 1),
		lock(2, "/lock-0000000001", 2), {Kind: history.Reply, Client: 1, Op: "children", Path: "/",
			Data: "lock-0000000000/lock-0000000001", Zxid: 3}, call(1, "getW", "/lock-0000000001"), writing(1, 4)}},
		[]judge.Guard{{Path: "/g", Folder: "/"}})
	judged(t, &j, "lock /, with names of the recipe of the documentation: 2 znodes of 2 clients, 1 time a client saw its "+
		"own first, ", "fencing: 1 write of /g, which / guards")
}

func TestOneSessionThatDoesSeveralThingsIsNotBlamed(t *testing.T) {
	waiting := []history.Event{made(1, 1, 1), made(2, 2, 2), made(3, 3, 3)}
	for _, x := range []struct {
		name   string
		events []history.Event
		want   string // "": nothing
	}{
		{"a cache watches every waiter", append([]history.Event{call(2, "childrenW", "/l")}, append(waiting,
			call(2, "getW", waits(3)), call(2, "getW", waits(1)), call(2, "getW", waits(2)))...), ""},
		{"the cache of another session", append([]history.Event{call(1, "childrenW", "/l")}, append(waiting,
			call(2, "getW", waits(3)))...), "order: c2 waits for " + waits(3) + " of c3, which comes behind its own " +
			waits(2)},
		{"the folder is deleted and made again", []history.Event{plainly(history.Created, 1, 1),
			plainly(history.Deleted, 1, 2), plainly(history.Created, 2, 5), {Kind: history.Changed, Client: 2, Path: "/g",
				Zxid: 6}, plainly(history.Deleted, 2, 7)}, ""},
		{"an earlier deletion is heard later", []history.Event{plainly(history.Created, 1, 1),
			plainly(history.Created, 2, 5), plainly(history.Deleted, 1, 2), {Kind: history.Changed, Client: 2, Path: "/g",
				Zxid: 6}}, ""},
		{"a listing shows that it was made again", []history.Event{plainly(history.Created, 1, 1),
			plainly(history.Deleted, 1, 2), {Kind: history.Reply, Client: 3, Op: "children", Path: "/l",
				Data: "lock-0000000000", Zxid: 5}, plainly(history.Deleted, 2, 7)}, ""},
		{"the one that was made again is deleted by another", []history.Event{plainly(history.Created, 1, 1),
			plainly(history.Deleted, 1, 2), plainly(history.Created, 2, 5), plainly(history.Deleted, 1, 7)},
			"ownership: c1 deletes " + plain + ", the lock's znode of c2"},
		{"another lists it before its maker is told", []history.Event{asking(1, 1), listed(2, 3, 1), made(1, 1, 3),
			{Kind: history.Reply, Client: 1, Op: "create", Path: asking(1, 1).Path}, made(1, 2, 4)}, ""},
		{"its maker finds it, and waits with another lock", []history.Event{asking(1, 1), listed(1, 3, 1), made(1, 2, 4),
			listed(1, 4, 1, 2)}, ""},
		{"a client cleans up behind its old session", []history.Event{made(1, 1, 1), state(1, zk.StateDisconnected),
			{Kind: history.Deleted, Client: 2, Path: waits(1), Zxid: 2}, state(1, zk.StateExpired)}, ""},
		{"a client takes another for dead", []history.Event{made(1, 1, 1), state(1, zk.StateDisconnected),
			{Kind: history.Deleted, Client: 2, Path: waits(1), Zxid: 2}, state(1, zk.StateHasSession)},
			"ownership: c2 deletes " + waits(1) + ", the lock's znode of c1"},
		{"a client that was away is there again", []history.Event{made(1, 1, 1), state(1, zk.StateDisconnected),
			state(1, zk.StateHasSession), {Kind: history.Deleted, Client: 2, Path: waits(1), Zxid: 2}},
			"ownership: c2 deletes " + waits(1) + ", the lock's znode of c1"},
		{"its session was there before, and so may be its lock", []history.Event{{Kind: history.Session, Client: 1,
			Op: zk.StateHasSession.String(), Data: "resumed"}, listed(2, 3, 1), writing(1, 6)}, ""},
		{"two creates are never answered", []history.Event{call(1, "create", "/l/lock-"), call(2, "create", "/l/lock-"),
			plainList, writing(1, 6)}, ""},
		{"it is not heard whose znode comes first", []history.Event{plainList, made(1, 1, 4), {Kind: history.Reply, Client: 2,
			Op: "children", Path: "/l", Data: "lock-0000000000/" + waits(1)[len("/l/"):], Zxid: 7}, writing(1, 6)}, ""},
		{"it is not heard whose znode comes last", []history.Event{made(2, 1, 2), made(1, 2, 3), listed(2, 7, 1, 2, 3),
			writing(1, 6)}, "fencing: c1 writes /g at zxid 0x6, when c2 holds the lock with " + waits(1)},
		{"the znode behind its own may be its own", []history.Event{made(1, 1, 1), listed(1, 3, 1, 2),
			call(1, "existsW", waits(2))}, ""},
		{"its maker, or another thread, finds it too late", []history.Event{asking(1, 1), made(1, 2, 4),
			listed(1, 4, 1, 2)}, ""},
		{"a program writes in a new session, behind its old znode", []history.Event{made(1, 1, 1), made(2, 2, 2),
			state(1, zk.StateDisconnected), writing(2, 3), listed(2, 4, 1, 2)}, ""},
		{"a program writes in a new session, by its old znode", []history.Event{made(1, 1, 1),
			state(1, zk.StateDisconnected), writing(2, 3), listed(2, 4, 1)}, ""},
		{"the holder comes back", []history.Event{made(1, 1, 1), made(2, 2, 2), state(1, zk.StateDisconnected),
			writing(2, 3), listed(2, 4, 1, 2), state(1, zk.StateHasSession)},
			"fencing: c2 writes /g at zxid 0x3, when c1 holds the lock with " + waits(1)},
		{"the holder goes later", []history.Event{made(1, 1, 1), made(2, 2, 2), writing(2, 3), listed(2, 4, 1, 2),
			state(1, zk.StateDisconnected)}, "fencing: c2 writes /g at zxid 0x3, when c1 holds the lock with " + waits(1)},
		{"a third one holds it", []history.Event{made(3, 0, 1), made(1, 1, 2), made(2, 2, 3),
			state(1, zk.StateDisconnected), writing(2, 4), listed(2, 5, 0, 1, 2)},
			"fencing: c2 writes /g at zxid 0x4, when c3 holds the lock with " + waits(0)},
		{"a program writes after its session has expired", []history.Event{made(1, 1, 1),
			state(1, zk.StateDisconnected), state(1, zk.StateExpired), writing(2, 3)},
			"fencing: c2 writes /g at zxid 0x3, and has no znode of the lock then"},
	} {
		j := judge.Judge(&history.History{Events: x.events}, []judge.Guard{{Path: "/g", Folder: "/l"}})
		if got := strings.Join(j.Violations, "; "); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// TestWhereItIsUnsureItSaysWhy has a program that may be in a new session, and one that may have two threads.
func TestWhereItIsUnsureItSaysWhy(t *testing.T) {
	for want, events := range map[string][]history.Event{ // order-free: each by itself
		"fencing: c2 writes /g at zxid 0x3, when c1 holds the lock with " + waits(1) + ", unless it is the program of c1, " +
			"which has lost its connection, in a new session": {made(1, 1, 1), made(2, 2, 2),
			state(1, zk.StateDisconnected), writing(2, 3), listed(2, 4, 1, 2)},
		"left over: c1 was never told that " + waits(1) + " was made, and has made " + waits(2) + ", which waits for it, " +
			"unless they are locks of two threads": {asking(1, 1), made(1, 2, 4), listed(1, 4, 1, 2), listed(1, 5, 1, 2)},
	} {
		j := judge.Judge(&history.History{Events: events}, []judge.Guard{{Path: "/g", Folder: "/l"}})
		if len(j.Violations) > 0 || !says(j.Inconclusive, want) {
			t.Errorf("%q, %q, want %q", j.Violations, j.Inconclusive, want)
		}
	}
}
