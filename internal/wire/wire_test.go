package wire

import (
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
)

// raw is a packet that is written field by field, by other code than that which reads it.
type raw []byte

func (j raw) int32(x int32) raw { return binary.BigEndian.AppendUint32(j, uint32(x)) }
func (j raw) int64(x int64) raw { return binary.BigEndian.AppendUint64(j, uint64(x)) }
func (j raw) string(s string) raw {
	return append(j.int32(int32(len(s))), s...)
}
func (j raw) bool(x bool) raw {
	if x {
		return append(j, 1)
	}
	return append(j, 0)
}
func (j raw) acl() raw { return j.int32(1).int32(31).string("world").string("anyone") }

// packet puts the length in front.
func (j raw) packet() []byte { return append(raw{}.int32(int32(len(j))), j...) }

// conversation is a connection whose server says what was written down.
type conversation struct {
	net.Conn
	answers []byte
}

func (c *conversation) Write(b []byte) (int, error) { return len(b), nil }
func (c *conversation) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), 3)], c.answers) // in small pieces
	c.answers = c.answers[n:]
	return n, nil
}

// hear lets a client send and its server answer, after a handshake.
func hear(sent [][]byte, answers ...[]byte) (events []history.Event, packets int, err error) {
	tap := &Tap{Client: 7, Hear: func(e history.Event) { events = append(events, e) }, Packet: func(bool) { packets++ },
		Broken: func(e error) { err = errors.Join(err, e) }}
	hello := raw{}.string("hello").packet()
	c := &conversation{answers: slices.Concat(append([][]byte{hello}, answers...)...)}
	conn := tap.Conn(c)
	conn.Write(hello)
	for _, b := range sent {
		conn.Write(b[:5])
		conn.Write(b[5:])
	}
	for b := make([]byte, 100); len(c.answers) > 0; {
		conn.Read(b)
	}
	if tap.Open() != 0 {
		err = errors.Join(err, errors.New("something is open"))
	}
	return events, packets, err
}

func TestWhatIsSaidBecomesEvents(t *testing.T) {
	sent := [][]byte{
		raw{}.int32(1).int32(int32(model.OpGetChildren2)).string("/a").bool(true).packet(),
		raw{}.int32(-2).int32(int32(model.OpPing)).packet(),
		raw{}.int32(2).int32(int32(model.OpCreate)).string("/a/x-").string("data").acl().int32(3).packet(),
		raw{}.int32(3).int32(int32(model.OpExists)).string("/b").bool(false).packet(),
	}
	events, packets, err := hear(sent,
		raw{}.int32(1).int64(40).int32(0).packet(),
		raw{}.int32(-2).int64(40).int32(0).packet(),
		raw{}.int32(-1).int64(-1).int32(0).int32(int32(zk.EventNodeChildrenChanged)).int32(3).string("/a").packet(),
		raw{}.int32(2).int64(41).int32(0).string("/a/x-0000000000").packet(),
		raw{}.int32(3).int64(41).int32(int32(model.NoNode)).packet())
	want := []history.Event{
		{Kind: history.Call, Client: 7, Op: "childrenW", Path: "/a"},
		{Kind: history.Call, Client: 7, Op: "create", Path: "/a/x-"},
		{Kind: history.Call, Client: 7, Op: "exists", Path: "/b"},
		{Kind: history.Reply, Client: 7, Op: "childrenW", Path: "/a", Zxid: 40},
		{Kind: history.Notify, Client: 7, Op: "child", Path: "/a"},
		{Kind: history.Created, Client: 7, Path: "/a/x-0000000000", Zxid: 41},
		{Kind: history.Reply, Client: 7, Op: "create", Path: "/a/x-0000000000", Zxid: 41},
		{Kind: history.Reply, Client: 7, Op: "exists", Path: "/b", Zxid: 41, Err: zk.ErrNoNode},
	}
	if err != nil || !slices.Equal(events, want) || packets != 2+len(sent)+5 {
		t.Errorf("%v, %d packets, %v", err, packets, events)
	}
}

func TestAMultiChangesAllOrNothing(t *testing.T) {
	head := func(op model.Op, done bool) raw { return raw{}.int32(int32(op)).bool(done).int32(-1) }
	multi := slices.Concat(raw{}.int32(1).int32(int32(model.OpMulti)),
		head(model.OpCheck, false).string("/c").int32(-1),
		head(model.OpCreate, false).string("/n").string("").acl().int32(0),
		head(model.OpDelete, false).string("/d").int32(-1),
		head(model.OpSetData, false).string("/s").string("new").int32(-1),
		head(-1, true))
	answer := slices.Concat(raw{}.int32(1).int64(9).int32(0), head(model.OpCheck, false),
		head(model.OpCreate, false).string("/n"), head(model.OpDelete, false), head(model.OpSetData, false),
		make([]byte, 68), head(-1, true))
	events, _, err := hear([][]byte{multi.packet()}, answer.packet())
	want := []history.Event{{Kind: history.Call, Client: 7, Op: "multi"},
		{Kind: history.Created, Client: 7, Path: "/n", Zxid: 9}, {Kind: history.Deleted, Client: 7, Path: "/d", Zxid: 9},
		{Kind: history.Changed, Client: 7, Path: "/s", Zxid: 9}, {Kind: history.Reply, Client: 7, Op: "multi", Zxid: 9}}
	if err != nil || !slices.Equal(events, want) {
		t.Errorf("%v, %v", err, events)
	}
	refused := slices.Concat(raw{}.int32(1).int64(9).int32(0), head(model.OpError, false).int32(-101),
		head(model.OpError, false).int32(-2), head(-1, true))
	if events, _, err = hear([][]byte{multi.packet()}, refused.packet()); err != nil || len(events) != 2 ||
		events[1].Err != zk.ErrNoNode {
		t.Errorf("%v, a multi that failed: %v", err, events)
	}
}

// A caller of Open may hold a lock that Hear waits for.
func TestATapTellsWhatIsOpenWhileItIsHeard(t *testing.T) {
	var tap *Tap
	var open []int
	asked := func(history.Event) {
		n := make(chan int)
		go func() { n <- tap.Open() }()
		select {
		case k := <-n:
			open = append(open, k)
		case <-time.After(time.Minute):
			t.Error("Open waits for the end of Hear")
		}
	}
	tap = &Tap{Hear: asked, Broken: func(err error) { t.Error(err) }}
	hello := raw{}.string("hello").packet()
	c := &conversation{answers: slices.Concat(hello, raw{}.int32(1).int64(9).int32(0).packet())}
	conn := tap.Conn(c)
	conn.Write(hello)
	for xid := range int32(2) {
		conn.Write(raw{}.int32(xid + 1).int32(int32(model.OpGetData)).string("/a").bool(false).packet())
	}
	for b := make([]byte, 100); len(c.answers) > 0; {
		conn.Read(b)
	}
	if !slices.Equal(open, []int{1, 2, 1}) {
		t.Errorf("%v", open)
	}
}

// The answer to a write may have a stat, too.
func TestATapTellsOfAWriteAndOfTheStatThatItHasMade(t *testing.T) {
	var told []int32
	tap := &Tap{Hear: func(history.Event) {}, Broken: func(err error) { t.Error(err) },
		Read: func(path string, res *model.Response) { told = append(told, res.Stat.Version) },
		Wrote: func(q *model.Request, zxid int64, err model.Code) {
			told = append(told, q.Version, int32(zxid), int32(err))
		}}
	stat := raw{}.int64(3).int64(5).int64(0).int64(0).int32(1).int32(0).int32(0).int64(0).int32(1).int32(0).int64(3)
	hello := raw{}.string("hello").packet()
	c := &conversation{answers: append(slices.Clone(hello), append(raw{}.int32(1).int64(5).int32(0), stat...).packet()...)}
	conn := tap.Conn(c)
	conn.Write(hello)
	conn.Write(raw{}.int32(1).int32(int32(model.OpSetData)).string("/a").string("x").int32(-1).packet())
	for b := make([]byte, 8); len(c.answers) > 0; {
		conn.Read(b)
	}
	if !slices.Equal(told, []int32{1, -1, 5, 0}) {
		t.Errorf("a version, then what was asked for, when and how it ended: %v", told)
	}
}

// A server authenticates at once, while requests before that wait for their turn.
func TestTheAnswerToAnAuthenticationMayOvertakeOthers(t *testing.T) {
	get := raw{}.int32(1).int32(int32(model.OpExists)).string("/a").bool(false).packet()
	auth := raw{}.int32(2).int32(int32(model.OpAuth)).int32(0).string("digest").string("u:p").packet()
	said := raw{}.int32(2).int64(0).int32(0).packet()
	said = append(said, raw{}.int32(1).int64(1).int32(int32(model.NoNode)).packet()...)
	heard, _, err := hear([][]byte{get, auth}, said)
	if err != nil || len(heard) != 4 || heard[2].Op != "auth" || heard[3].Op != "exists" {
		t.Errorf("%v, %v", heard, err)
	}
}

func TestATapSaysWhatItCannotFollow(t *testing.T) {
	get := raw{}.int32(1).int32(int32(model.OpGetData)).string("/a").bool(false).packet()
	answer := func(xid int32) []byte { return raw{}.int32(xid).int64(1).int32(0).packet() }
	for _, c := range []struct {
		want string
		sent [][]byte
		said []byte
	}{
		{"wire: an answer to nothing", nil, answer(1)},
		{"wire: an answer to request 2, not to 1", [][]byte{get}, answer(2)},
		{"jute: no whole header", [][]byte{get}, raw{}.int32(1).int64(1).packet()},
		{"jute: the packet ends within a field", [][]byte{raw{}.int32(1).int32(4).int32(99).packet()}, nil},
	} {
		if _, _, err := hear(c.sent, c.said); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, not %s", err, c.want)
		}
	}
}

// The notification of the first change is heard before the author hears of it, and the
// second change, which comes before the watch is set again, notifies nobody.
func TestEveryNotificationGetsTheFirstChangeAfterItsWatch(t *testing.T) {
	var h history.History
	h.Reset(3)
	for i, e := range []history.Event{
		{Kind: history.Reply, Client: 1, Op: "getW", Path: "/a", Zxid: 5},
		{Kind: history.Reply, Client: 3, Op: "existsW", Path: "/a/b", Zxid: 5, Err: zk.ErrNoNode},
		{Kind: history.Reply, Client: 3, Op: "childrenW", Path: "/a", Zxid: 5},
		{Kind: history.Notify, Client: 1, Op: "changed", Path: "/a"},
		{Kind: history.Changed, Client: 2, Path: "/a", Zxid: 6},
		{Kind: history.Reply, Client: 2, Op: "set", Path: "/a", Zxid: 6},
		{Kind: history.Changed, Client: 2, Path: "/a", Zxid: 7},
		{Kind: history.Reply, Client: 2, Op: "set", Path: "/a", Zxid: 7},
		{Kind: history.Reply, Client: 1, Op: "getW", Path: "/a", Zxid: 7},
		{Kind: history.Notify, Client: 3, Op: "created", Path: "/a/b"},
		{Kind: history.Notify, Client: 3, Op: "child", Path: "/a"},
		{Kind: history.Notify, Client: 1, Op: "changed", Path: "/a"},
		{Kind: history.Changed, Client: 2, Path: "/a", Zxid: 9},
		{Kind: history.Reply, Client: 2, Op: "set", Path: "/a", Zxid: 9},
		{Kind: history.Created, Client: 1, Path: "/a/b", Zxid: 8},
		{Kind: history.Reply, Client: 1, Op: "create", Path: "/a/b", Zxid: 8},
	} {
		e.Step = int32(i + 1)
		h.Add(e)
	}
	if err := Causes(&h); err != nil || !h.Txns {
		t.Fatal(err)
	}
	var got []string
	for _, e := range h.Events {
		if e.Kind != history.Reply {
			got = append(got, e.String())
		}
	}
	want := []string{"c2 changed /a zxid 0x6", "c1 notify changed /a zxid 0x6", "c2 changed /a zxid 0x7",
		"c1 created /a/b zxid 0x8",
		"c3 notify created /a/b zxid 0x8", "c3 notify child /a zxid 0x8", "c2 changed /a zxid 0x9",
		"c1 notify changed /a zxid 0x9"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	h.Add(history.Event{Kind: history.Notify, Client: 2, Op: "deleted", Path: "/x"})
	if err := Causes(&h); err == nil || err.Error() != "wire: c2 was notified that /x is deleted, and nobody has "+
		"changed it" {
		t.Error(err)
	}
}
