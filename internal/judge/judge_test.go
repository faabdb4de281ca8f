package judge_test

import (
	"bytes"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/internal/judge"
	"zksim/internal/zkserver/zkservertest"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/serve"
)

var everybody = zk.WorldACL(zk.PermAll)

// proxy stands before a server until the test ends.
func proxy(t *testing.T, server string) *judge.Proxy {
	t.Helper()
	p, err := judge.Listen("127.0.0.1:0", []string{server})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// simulated starts the simulated server with a plan.
func simulated(t *testing.T, plan string) string {
	t.Helper()
	f, err := faults.Parse(plan)
	if err != nil {
		t.Fatal(err)
	}
	e, err := serve.Start(serve.Options{Faults: f})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e.Connect()
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func connect(t *testing.T, addr string) *zk.Conn {
	t.Helper()
	c, events, err := zk.Connect([]string{addr}, 20*time.Second, zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// takeTurns has three clients take the lock of go-zookeeper in turn, and write a znode that it guards.
func takeTurns(t *testing.T, addr string) {
	t.Helper()
	first := connect(t, addr)
	_, err := first.Create("/guarded", []byte("0"), 0, everybody)
	must(t, err)
	_, err = first.Create("/locks", nil, 0, everybody)
	must(t, err)
	var wg sync.WaitGroup
	for n := range 3 {
		c := connect(t, addr)
		wg.Go(func() {
			defer c.Close()
			for k := range 4 {
				l := zk.NewLock(c, "/locks", everybody)
				if err := l.Lock(); err != nil {
					t.Error(err)
					return
				}
				if _, err := c.Set("/guarded", fmt.Appendf(nil, "%d of %d", k, n), -1); err != nil {
					t.Error(err)
				}
				if err := l.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	_, err = first.Sync("/guarded")
	must(t, err)
	_, _, err = first.Get("/guarded")
	must(t, err)
	first.Close()
}

var guards = []judge.Guard{{Path: "/guarded", Folder: "/locks"}}

// judged asserts that a judgement has no violation and these facts.
func judged(t *testing.T, j *judge.Judgement, facts ...string) {
	t.Helper()
	if len(j.Violations)+len(j.Inconclusive) > 0 {
		t.Errorf("%+v", j)
	}
	for _, want := range facts {
		if !slices.ContainsFunc(j.Facts, func(f string) bool { return strings.Contains(f, want) }) {
			t.Errorf("no %q in %q", want, j.Facts)
		}
	}
}

func correctLock(t *testing.T, server string) {
	t.Helper()
	p := proxy(t, server)
	takeTurns(t, p.Addr())
	j, h, err := p.Recorder.Judge(guards)
	must(t, err)
	judged(t, &j, "lock /locks, with names of go-zookeeper: 12 znodes of 3 clients, 12 times a client saw its own first, ",
		"fencing: 12 writes of /guarded, which /locks guards", "znodes: 2 judged, all linearizable in zxid order; 12 not "+
			"judged (12 ephemeral)", "herd: ")
	var text bytes.Buffer
	must(t, reports.WriteHistory(&text, h))
	read, err := reports.ReadHistory(&text)
	must(t, err)
	if again := judge.Judge(read, guards); !slices.Equal(again.Facts, j.Facts) || len(again.Violations) > 0 {
		t.Errorf("what was recorded is judged otherwise: %+v, %+v", again, j)
	}
}

func TestACorrectLockBeforeTheSimulatedServer(t *testing.T) { correctLock(t, simulated(t, "none")) }

func TestACorrectLockBeforeARealServer(t *testing.T) {
	correctLock(t, zkservertest.ForTest(t, 1).Addrs()[0])
}

// A create is sent again when its answer was lost, and nobody looks for the first one.
func TestTheFirstOfTwoCreatesIsLeftOver(t *testing.T) {
	p := proxy(t, simulated(t, "lose-reply=1@client=c1,op=create,nth=2"))
	c := connect(t, p.Addr())
	_, err := c.Create("/locks", nil, 0, everybody)
	must(t, err)
	prefix := "/locks/_c_0123456789abcdef0123456789abcdef-lock-"
	_, err = c.Create(prefix, nil, zk.FlagEphemeral|zk.FlagSequence, everybody)
	if err != zk.ErrConnectionClosed {
		t.Fatal(err)
	}
	for c.State() != zk.StateHasSession {
		time.Sleep(time.Millisecond)
	}
	_, err = c.Create(prefix, nil, zk.FlagEphemeral|zk.FlagSequence, everybody)
	must(t, err)
	_, _, err = c.Children("/locks")
	must(t, err)
	j, _, err := p.Recorder.Judge(nil)
	must(t, err)
	want := "left over: c1 was never told that " + prefix + "0000000000 was made, and has made " + prefix +
		"0000000001, which waits for it"
	if !slices.Contains(j.Violations, want) {
		t.Errorf("%q, want %q", j.Violations, want)
	}
	c.Close()
}

// mortal is a client whose process can end: its connection, and no other one is made.
func mortal(t *testing.T, addr string) (c *zk.Conn, kill func()) {
	t.Helper()
	socks, dead := make(chan net.Conn, 1), make(chan struct{})
	c, _, err := zk.Connect([]string{addr}, 20*time.Second, zk.WithLogger(silent{}), zk.WithDialer(
		func(network, address string, timeout time.Duration) (net.Conn, error) {
			select {
			case <-dead:
				return nil, net.ErrClosed
			default:
			}
			sock, err := net.DialTimeout(network, address, timeout)
			socks <- sock
			return sock, err
		}))
	must(t, err)
	return c, func() { close(dead); (<-socks).Close() }
}

func TestAClientThatGoesWithoutClosingLeavesItsEphemerals(t *testing.T) {
	p := proxy(t, simulated(t, "none"))
	c, kill := mortal(t, p.Addr())
	_, err := c.Create("/mine", nil, zk.FlagEphemeral, everybody)
	must(t, err)
	kill()
	const want = "left over: /mine of c1, which has gone and did not close its session"
	var j judge.Judgement
	for end := time.Now().Add(time.Minute); !slices.Contains(j.Violations, want) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
		j, _, err = p.Recorder.Judge(nil)
		must(t, err)
	}
	if !slices.Equal(j.Violations, []string{want}) {
		t.Errorf("%+v", j)
	}
	c.Close()
}

// A server that ends a connection does not say that the client has gone.
func TestAClientWhoseConnectionTheServerEndsMayComeBack(t *testing.T) {
	e, err := serve.Start(serve.Options{})
	must(t, err)
	t.Cleanup(func() { e.Close() })
	p := proxy(t, e.Connect())
	c := connect(t, p.Addr())
	_, err = c.Create("/mine", nil, zk.FlagEphemeral, everybody)
	must(t, err)
	must(t, e.Kill(1))
	const want = "left over: /mine of c1, which has lost its connection and may come back"
	var j judge.Judgement
	for end := time.Now().Add(time.Minute); !slices.Contains(j.Inconclusive, want) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
		j, _, err = p.Recorder.Judge(nil)
		must(t, err)
	}
	if len(j.Violations) > 0 || !slices.Contains(j.Inconclusive, want) {
		t.Errorf("%+v", j)
	}
	p.Close()
	c.Close()
}

// Whatever is said passes, and what cannot be followed is said.
func TestWhatIsNotZooKeeperPassesAndIsNotJudged(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer echo.Close()
	go func() {
		c, err := echo.Accept()
		if err != nil {
			return
		}
		b := make([]byte, 100)
		n, _ := c.Read(b)
		c.Write(b[:n])
		c.Close()
	}()
	p := proxy(t, echo.Addr().String())
	c, err := net.Dial("tcp", p.Addr())
	must(t, err)
	said := "\xff\xff\xff\xffGET / HTTP/1.0\r\n\r\n"
	_, err = c.Write([]byte(said))
	must(t, err)
	heard := make([]byte, len(said))
	if n, _ := c.Read(heard); string(heard[:n]) != said {
		t.Errorf("%q", heard[:n])
	}
	c.Close()
	p.Close()
	j, h, err := p.Recorder.Judge(nil)
	must(t, err)
	if len(j.Inconclusive) < 2 || !says(j.Inconclusive, "said what cannot be followed") {
		t.Errorf("%+v", j)
	}
	var file bytes.Buffer
	must(t, reports.WriteHistory(&file, h))
	h, err = reports.ReadHistory(&file)
	must(t, err)
	if again := judge.Judge(h, nil); !reflect.DeepEqual(again, j) {
		t.Errorf("of the file: %+v, expected what the proxy says: %+v", again, j)
	}
}

// says reports whether a text is in one of the sentences.
func says(sentences []string, text string) bool {
	return slices.ContainsFunc(sentences, func(s string) bool { return strings.Contains(s, text) })
}

func TestAServerThatCannotBeReachedIsSaid(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	l.Close()
	p := proxy(t, l.Addr().String())
	c, err := net.Dial("tcp", p.Addr())
	must(t, err)
	if n, _ := c.Read(make([]byte, 1)); n != 0 {
		t.Error("somebody answers")
	}
	if j, _, err := p.Recorder.Judge(nil); err != nil || !says(j.Inconclusive, "no server could be reached") {
		t.Errorf("%+v, %v, expected that there is no server", j, err)
	}
	for _, servers := range [][]string{nil, {"nothing"}, {"host:"}} {
		if _, err := judge.Listen("127.0.0.1:0", servers); err == nil ||
			!strings.Contains(err.Error(), "expected host:port") {
			t.Errorf("%v: %v", servers, err)
		}
	}
}

// guid begins the names of the tests' locks.
const guid = "_c_0123456789abcdef0123456789abcde"

func waits(n int) string { return fmt.Sprintf("/l/%s%d-lock-%010d", guid, n, n) }

// made and listed are events of histories that nobody has recorded.
func made(c int32, n int, zxid int64) history.Event {
	return history.Event{Kind: history.Created, Client: c, Path: waits(n), Zxid: zxid, Session: int64(c)}
}

func listed(c int32, zxid int64, numbers ...int) history.Event {
	var names []string
	for _, n := range numbers {
		names = append(names, strings.TrimPrefix(waits(n), "/l/"))
	}
	return history.Event{Kind: history.Reply, Client: c, Op: "children", Path: "/l", Data: strings.Join(names, "/"),
		Zxid: zxid}
}

func TestWhatLocksMustNotDo(t *testing.T) {
	written := func(c int32, zxid int64) history.Event {
		return history.Event{Kind: history.Changed, Client: c, Path: "/g", Zxid: zxid}
	}
	gone := func(c int32, n int, zxid int64) history.Event {
		return history.Event{Kind: history.Deleted, Client: c, Path: waits(n), Zxid: zxid}
	}
	for _, x := range []struct {
		name   string
		events []history.Event
		want   string // "": nothing
	}{
		{"the holder writes", []history.Event{made(1, 1, 1), made(2, 2, 2), listed(1, 3, 1, 2), written(1, 4), gone(1, 1, 5),
			written(2, 6)}, ""},
		{"who waits writes", []history.Event{made(1, 1, 1), made(2, 2, 2), written(2, 3), gone(1, 1, 5)},
			"fencing: c2 writes /g at zxid 0x3, when c1 holds the lock with " + waits(1)},
		{"who has gone writes", []history.Event{made(1, 1, 1), gone(1, 1, 5), written(1, 6)},
			"fencing: c1 writes /g at zxid 0x6, and has no znode of the lock then"},
		{"who is missing writes", []history.Event{made(1, 1, 1), made(2, 2, 2), listed(2, 4, 2), written(1, 6)},
			"fencing: c1 writes /g at zxid 0x6, and has no znode of the lock then"},
		{"who may have expired does not forbid", []history.Event{made(1, 1, 1), made(2, 2, 2), written(2, 9),
			listed(2, 10, 2)}, ""},
		{"somebody else deletes", []history.Event{made(1, 1, 1), written(1, 2), gone(2, 1, 3)}, "ownership: c2 deletes " +
			waits(1) + ", the lock's znode of c1"},
		{"the wrong one is waited for", []history.Event{made(1, 1, 1), made(2, 2, 2), {Kind: history.Call, Client: 1,
			Op: "existsW", Path: waits(2)}, written(1, 3)}, "order: c1 waits for " + waits(2) +
			" of c2, which comes behind its own " + waits(1)},
		{"without any znode of the lock", []history.Event{written(1, 3)},
			"fencing: c1 writes /g at zxid 0x3, and nobody has a znode of the lock"},
		{"with a name of no known lock", []history.Event{{Kind: history.Created, Client: 1, Path: "/l/n-0000000000", Zxid: 1},
			written(1, 3)}, ""},
		{"what prepares and cleans up", []history.Event{{Kind: history.Created, Client: 2, Path: "/g", Zxid: 1},
			made(1, 1, 2), written(1, 3), {Kind: history.Deleted, Client: 2, Path: "/g", Zxid: 4}}, ""},
		{"the right one is waited for", []history.Event{made(1, 1, 1), made(2, 2, 2), {Kind: history.Call, Client: 2,
			Op: "existsW", Path: waits(1)}, written(1, 3)}, ""},
	} {
		h := &history.History{Events: append([]history.Event{{Kind: history.Call, Client: 1, Op: "exists"}}, x.events...)}
		j := judge.Judge(h, []judge.Guard{{Path: "/g", Folder: "/l"}})
		if got := strings.Join(j.Violations, "; "); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

func TestOnlyZnodesOfWhichEverythingIsKnownAreJudged(t *testing.T) {
	op := func(kind history.Kind, object int32, word, path, data string, version int32, zxid int64, err error,
	) history.Event {
		return history.Event{Kind: kind, Client: 1, Object: object, Op: word, Path: path, Data: data, Version: version,
			Zxid: zxid, Err: err}
	}
	created := []history.Event{op(history.Invoke, 1, "create", "/a", "x", -1, 0, nil),
		{Kind: history.Created, Client: 1, Path: "/a", Data: "x", Zxid: 1},
		op(history.Return, 1, "create", "/a", "", 0, 1, nil)}
	get := func(data string, zxid int64) []history.Event {
		return []history.Event{op(history.Invoke, 2, "get", "/a", "", -1, 0, nil),
			op(history.Return, 2, "get", "/a", data, 0, zxid, nil)}
	}
	sets := func(data string, version int32, zxid int64) []history.Event {
		return []history.Event{op(history.Invoke, 3, "set", "/a", data, -1, 0, nil),
			{Kind: history.Changed, Client: 1, Path: "/a", Data: data, Zxid: zxid},
			op(history.Return, 3, "set", "/a", "", version, zxid, nil)}
	}
	own := sets("z", 1, 2)
	set := slices.Clone(own) // that of somebody else
	for i := range set {
		set[i].Client = 2
	}
	again := slices.Clone(get("x", 1))
	for i := range again {
		again[i].Object = 4
	}
	sync := []history.Event{{Kind: history.Call, Client: 1, Op: "sync", Path: "/a"}}
	for _, x := range []struct {
		name   string
		events []history.Event
		bad    bool
	}{
		{"as it was written", slices.Concat(created, get("x", 1)), false},
		{"other data of the same zxid", slices.Concat(created, get("y", 1)), true},
		{"somebody else has written", slices.Concat(created, get("y", 9)), false},
		{"it was there before", get("y", 1), false},
		{"it is not there", slices.Concat(created, []history.Event{op(history.Invoke, 2, "get", "/a", "", -1, 0, nil),
			op(history.Return, 2, "get", "/a", "", 0, 0, zk.ErrNoNode)}), true},
		{"older than a set that was answered before the sync", slices.Concat(created, set, sync, get("x", 1)), true},
		{"older than a set that was answered after the sync", slices.Concat(created, sync, set, get("x", 1)), false},
		{"older than its own set after the sync", slices.Concat(created, sync, own, get("x", 1)), true},
		{"older than what it has read after the sync", slices.Concat(created, sync, set, []history.Event{
			op(history.Invoke, 2, "get", "/a", "", -1, 0, nil),
			op(history.Return, 2, "get", "/a", "z", 1, 2, nil)}, again), true},
		{"one version is too high", slices.Concat(created, sets("y", 2, 3), sets("z", 2, 4)), true},
		{"all versions are too high", slices.Concat(created, sets("y", 2, 3), sets("z", 3, 4)), false},
		{"the first answer heard is that of a version", []history.Event{op(history.Invoke, 2, "set", "/a", "y", 7, 0, nil),
			op(history.Return, 2, "set", "/a", "", 0, 0, zk.ErrBadVersion)}, false},
	} {
		j := judge.Judge(&history.History{Clients: 1, Events: x.events}, nil)
		if (len(j.Violations) > 0) != x.bad {
			t.Errorf("%s: %+v", x.name, j)
		}
	}
}

// Clients that make a znode unless it is there all write the same data to it, but only one of them does so.
func TestAWriteThatWasRefusedIsNoSecondOneWithTheSameData(t *testing.T) {
	write := func(object int32, op string, zxid int64, err error) []history.Event {
		x := history.Event{Client: object, Object: object, Op: op, Path: "/a", Data: "x", Version: -1}
		begin, txn, end := x, x, x
		begin.Kind, txn.Kind, end.Kind = history.Invoke, history.Created, history.Return
		txn.Zxid, end.Zxid, end.Data, end.Version, end.Err = zxid, zxid, "", 0, err
		if op == "set" {
			txn.Kind = history.Changed
		}
		if err != nil {
			return []history.Event{begin, end}
		}
		return []history.Event{begin, txn, end}
	}
	const twice = "znodes: none judged; 1 not judged (1 written twice with the same data)"
	for _, x := range []struct {
		second []history.Event
		want   string
	}{
		{write(2, "create", 0, zk.ErrNodeExists), "znodes: 1 judged, all linearizable in zxid order"},
		{write(2, "set", 2, nil), twice},
		{write(2, "set", 0, zk.ErrConnectionClosed), twice},
	} {
		h := &history.History{Clients: 2, Txns: true, Events: slices.Concat(write(1, "create", 1, nil), x.second)}
		if j := judge.Judge(h, nil); len(j.Violations) > 0 || !slices.Contains(j.Facts, x.want) {
			t.Errorf("%+v, expected %s", j, x.want)
		}
	}
}

func TestNamesOfLibraries(t *testing.T) {
	for name, want := range map[string]string{
		"_c_0123456789abcdef0123456789abcdef-lock-0000000007":      "go-zookeeper",
		"_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000007":  "Curator",
		"_c_01234567-89ab-cdef-0123-456789abcdef-latch--000000007": "",
		"0123456789abcdef0123456789abcdef__lock__0000000007":       "Kazoo",
		"lock-0000000007":   "the recipe of the documentation",
		"lock-7":            "",
		"config-0000000007": "",
	} {
		got := ""
		for _, n := range judge.Namings {
			if got == "" && n.Pattern.MatchString(name) {
				got = n.Library
			}
		}
		if got != want {
			t.Errorf("%s has names of %q, want %q", name, got, want)
		}
	}
	for _, bad := range []string{"", "/a", "a=/b", "/a=b"} {
		if _, err := judge.ParseGuard(bad); err == nil || !strings.Contains(err.Error(), "as /config=/locks/config") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A leader that was deposed answers a sync by itself, and what it reads then may be old.
func TestWhatADeposedLeaderReadsIsNotJudged(t *testing.T) {
	e, err := serve.Start(serve.Options{Nodes: 3, Lag: time.Minute})
	must(t, err)
	t.Cleanup(func() { e.Close() })
	p, err := judge.Listen("127.0.0.1:0", e.Addrs()[:2])
	must(t, err)
	t.Cleanup(p.Close)
	first := connect(t, p.Addr())
	_, err = first.Create("/flag", []byte("old"), 0, everybody)
	must(t, err)
	must(t, e.Stop(1))
	second := connect(t, p.Addr())
	_, err = second.Set("/flag", []byte("new"), -1)
	must(t, err)
	must(t, e.Continue(1))
	_, err = first.Sync("/flag")
	must(t, err)
	if data, _, err := first.Get("/flag"); err != nil || string(data) != "old" {
		t.Fatalf("%q, %v, expected what a deposed leader has", data, err)
	}
	j, _, err := p.Recorder.Judge(nil)
	must(t, err)
	served := e.Judge()
	if violations := append(j.Violations, served.Violations...); len(violations) > 0 {
		t.Errorf("%q", violations)
	}
	p.Close()
	first.Close()
	second.Close()
}

// The answer to a failed multi begins as that to one that was done.
func TestAFailedMultiIsRecordedWithItsError(t *testing.T) {
	p := proxy(t, simulated(t, "none"))
	c := connect(t, p.Addr())
	defer c.Close()
	_, err := c.Multi(&zk.CreateRequest{Path: "/a", Acl: everybody}, &zk.DeleteRequest{Path: "/none", Version: -1})
	if err != zk.ErrNoNode {
		t.Fatal(err)
	}
	h, err := p.Recorder.History()
	must(t, err)
	for _, e := range h.Events {
		if e.Kind == history.Created || e.Kind == history.Reply && e.Op == "multi" && e.Err != zk.ErrNoNode {
			t.Error(e)
		}
	}
}
