package recording

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/jute"
	"zksim/scenarios/serve"
)

// wired is a client that speaks the protocol by itself. It waits for each answer, connects to the servers in turn when
// its connection has ended, and then sets its watches again, unless it leaves them, as Kazoo does.
type wired struct {
	e       *serve.Ensemble
	leaves  bool
	draw    *rand.Rand
	sock    net.Conn // nil: none
	server  int
	hello   jute.ConnectRequest
	xid     int32
	watches map[watchOn]bool
}

// watchOn is a watch: on data, existence ('e') or children ('c').
type watchOn struct {
	kind rune
	path string
}

func newWired(e *serve.Ensemble, draw *rand.Rand) *wired {
	return &wired{e: e, draw: draw, watches: map[watchOn]bool{},
		hello: jute.ConnectRequest{Timeout: 10_000, Password: make([]byte, jute.PasswordLen)}}
}

func (c *wired) send(packet []byte) error { return send(c.sock, packet) }

func (c *wired) receive() ([]byte, error) {
	c.sock.SetReadDeadline(time.Now().Add(time.Minute))
	return receive(c.sock)
}

// connect tries servers until one takes the client. If its session is over it gets another one.
func (c *wired) connect() {
	for c.sock == nil {
		c.server = (c.server + 1) % len(c.e.Addrs())
		err := c.shake()
		if err == nil {
			err = c.rearm()
		}
		if err != nil && c.sock != nil {
			c.sock.Close()
			c.sock = nil
		}
	}
}

func (c *wired) shake() (err error) {
	if c.sock, err = net.Dial("tcp", c.e.Addrs()[c.server]); err != nil {
		return err
	}
	if err := c.send(c.hello.Append(nil)); err != nil {
		return err
	}
	packet, err := c.receive()
	if err != nil {
		return err
	}
	w, err := jute.ParseConnectResponse(packet)
	c.hello.Session, c.hello.Password = w.Session, w.Password
	if err == nil && w.Session == 0 {
		c.hello.LastZxid = 0
		clear(c.watches)
		return zk.ErrSessionExpired
	}
	return err
}

func (c *wired) rearm() error {
	if c.leaves {
		clear(c.watches)
	}
	if len(c.watches) == 0 {
		return nil
	}
	l := &model.WatchLists{RelativeZxid: c.hello.LastZxid}
	lists := map[rune]*[]string{'d': &l.Data, 'e': &l.Exist, 'c': &l.Child}
	for x := range c.watches { // order-free: they are sorted
		*lists[x.kind] = append(*lists[x.kind], x.path)
	}
	for _, list := range lists { // order-free: each by itself
		slices.Sort(*list)
	}
	_, err := c.ask(&model.Request{Op: model.OpSetWatches, Watches: l}, -8)
	return err
}

// ask makes a request; an error is the end of the connection.
func (c *wired) ask(q *model.Request, xid int32) (jute.Reply, error) {
	err := c.send(jute.AppendRequest(nil, xid, q))
	for err == nil {
		var packet []byte
		if packet, err = c.receive(); err != nil {
			break
		}
		a, _ := jute.ParseReply(packet)
		if a.Xid != jute.XidEvent {
			c.hello.LastZxid = max(c.hello.LastZxid, a.Zxid)
			return a, nil
		}
		ev, _ := a.Event()
		maps.DeleteFunc(c.watches, func(x watchOn, _ bool) bool { return x.path == ev.Path && x.ends(ev.Type) })
	}
	c.sock.Close()
	c.sock = nil
	return jute.Reply{}, err
}

// ends reports whether such an event ends the watch.
func (x watchOn) ends(t zk.EventType) bool {
	switch t {
	case zk.EventNodeCreated:
		return x.kind == 'e'
	case zk.EventNodeDataChanged:
		return x.kind != 'c'
	case zk.EventNodeChildrenChanged:
		return x.kind == 'c'
	}
	return true
}

// act makes some request.
func (c *wired) act() {
	c.connect()
	path := []string{"/a", "/b", "/a/x", "/a/y"}[c.draw.IntN(4)]
	q := model.Request{Path: path, Version: -1, Watch: c.draw.IntN(2) == 0}
	switch c.draw.IntN(9) {
	case 0:
		c.ask(&model.Request{Op: model.OpPing}, jute.XidPing)
		return
	case 1:
		q = model.Request{Op: model.OpCreate, Path: path, ACL: open, Flags: int32(c.draw.IntN(2))}
	case 2:
		q = model.Request{Op: model.OpCreate, Path: "/a/s-", ACL: open, Flags: zk.FlagSequence}
	case 3:
		q.Op = model.OpDelete
	case 4:
		q.Op, q.Data = model.OpSetData, []byte(path)
	case 5:
		q = model.Request{Op: model.OpSync, Path: "/"}
	case 6:
		q.Op = model.OpGetData
	case 7:
		q.Op = model.OpExists
	case 8:
		q.Op = model.OpGetChildren2
	}
	c.xid++
	a, err := c.ask(&q, c.xid)
	kind := 'd'
	switch {
	case err != nil || !q.Watch || q.Op.IsWrite():
		return
	case q.Op == model.OpExists && a.Err == model.NoNode:
		kind = 'e'
	case a.Err != model.OK:
		return
	case q.Op == model.OpGetChildren2:
		kind = 'c'
	}
	c.watches[watchOn{kind, path}] = true
}

// wiredClients has some clients make requests, one at a time.
func wiredClients(e *serve.Ensemble, seed uint64) {
	draw := rand.New(rand.NewPCG(seed, 0))
	var list []*wired
	for range 2 + draw.IntN(2) {
		c := newWired(e, draw)
		c.connect()
		list = append(list, c)
	}
	for range 40 {
		list[draw.IntN(len(list))].act()
	}
}

// differs says how the replay of such clients differs from the recording.
func differs(t *testing.T, o serve.Options, seed uint64) error {
	o.Lag, o.Seed = time.Millisecond, seed
	r, res := playedAgain(t, o, func(t *testing.T, e *serve.Ensemble) { wiredClients(e, seed) })
	if text := difference(answered(res.History), asRecorded(r)); text != "" {
		return fmt.Errorf("%s\nrecorded %q\nreplayed %q", text, r.Steps, res.Schedule.Names)
	}
	return nil
}

// TestWhereverFaultsStrikeClientsAreAnsweredAsTheyWere lets faults strike what they can, also pings, what sets watches
// again, and the connection while a read is on its way.
func TestWhereverFaultsStrikeClientsAreAnsweredAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, plan := range []string{"disconnect=5", "reset=5", "lose-request=5", "lose-reply=5", "deliver-close=5",
		"learn-late=2", "lose-reply=3 disconnect=3 watch-delay=2 learn-late=1 deliver-close=2 lose-request=2 reset=2"} {
		p, err := serve.ParsePlan(plan)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(15) {
			if err := differs(t, serve.Options{Faults: p}, seed); err != nil {
				t.Fatalf("%s, seed %d: %v", plan, seed, err)
			}
			// After the end of its session a client has another number there, which nothing tells of its watches.
			if err := differs(t, serve.Options{Faults: p.Except("learn-late"), Like: model.Keeper}, seed); err != nil {
				t.Fatalf("keeper, %s, seed %d: %v", plan, seed, err)
			}
		}
	}
}

// TestAClientThatAFaultSendsElsewhereConnectsWhereItDid has clients that try the servers in an order of their own.
func TestAClientThatAFaultSendsElsewhereConnectsWhereItDid(t *testing.T) {
	t.Parallel()
	for _, plan := range []string{"failover=3", "late-commit=2", "stale-read=2 zombie=1", "elect=1 depose=1", "contract"} {
		p, err := serve.ParsePlan(plan)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(15) {
			if err := differs(t, serve.Options{Nodes: 3, Faults: p}, seed); err != nil {
				t.Fatalf("%s, seed %d: %v", plan, seed, err)
			}
		}
	}
}
