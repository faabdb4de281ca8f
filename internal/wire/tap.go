package wire

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"zksim/model"
	"zksim/model/history"
	"zksim/model/jute"
	"zksim/sim"
)

// Tap listens to one connection of a client.
type Tap struct {
	Client int32

	// Hear, which must not be nil, gets the events: Call, Reply with the zxid that the server had reached, Notify without
	// a zxid, and before the Reply to a write Created, Changed and Deleted. It gets a request before it is sent, and
	// everything else before the client sees it. It is called from two goroutines, but never concurrently. It may wait
	// for a goroutine that calls Open: that does not wait for Hear.
	Hear func(history.Event)
	// Read, if not nil, is called before the Reply to a request whose answer has the stat, the data or the children of
	// a znode that existed before. So it is not called for a create, nor for a multi.
	Read func(path string, res *model.Response)
	// Wrote, if not nil, is called before the Reply to a create, delete or setData, with the request and its result.
	Wrote func(q *model.Request, zxid int64, err model.Code)
	// Packet, if not nil, is called for every packet, including handshakes and pings, before Hear.
	Packet func(sent bool)
	// Broken, which must not be nil either, is called when Tap cannot follow what is said on the connection.
	Broken func(error)

	telling sync.Mutex // held while a packet is reported, so that events come one after the other

	session atomic.Int64

	mu   sync.Mutex // guards open; nothing is called while it is held
	open []request
}

// Session returns the session that the server has given to the connection; 0: none. It is known only behind a [Gate].
func (t *Tap) Session() int64 { return t.session.Load() }

// Open returns how many requests were sent and are not answered yet. It does not wait for Hear.
func (t *Tap) Open() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open)
}

// asks notes a request.
func (t *Tap) asks(q request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = append(t.open, q)
}

// asked returns the request that an answer is for: the oldest unanswered one, unless the answer is for an
// authentication. A server answers that at once, even before earlier requests. ok is false if there is no such request.
func (t *Tap) asked(xid int32) (q request, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) == 0 {
		return request{}, false
	}
	return t.open[t.turn(xid)], true
}

// answered notes that the request of an answer is answered.
func (t *Tap) answered(xid int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.turn(xid)
	t.open = slices.Delete(t.open, k, k+1)
}

func (t *Tap) turn(xid int32) int {
	return max(0, slices.IndexFunc(t.open, func(q request) bool { return q.xid == xid && q.Op == model.OpAuth }))
}

// Conn returns a connection that does what c does, and listens. A Tap is for one connection.
func (t *Tap) Conn(c net.Conn) net.Conn {
	x := &tapped{Conn: c, tap: t}
	x.hear[0] = t.afterHandshake(true, t.request)
	x.hear[1] = t.afterHandshake(false, t.answer)
	return x
}

type tapped struct {
	net.Conn
	tap            *Tap
	sent, received jute.Frames
	hear           [2]func(packet []byte) error // sent, received
}

// Write implements [net.Conn].
func (x *tapped) Write(b []byte) (int, error) {
	x.follow(&x.sent, b, x.hear[0])
	return x.Conn.Write(b)
}

// Read implements [net.Conn].
func (x *tapped) Read(b []byte) (int, error) {
	n, err := x.Conn.Read(b)
	x.follow(&x.received, b[:n], x.hear[1])
	return n, err
}

// follow reads the next bytes of one direction.
func (x *tapped) follow(f *jute.Frames, b []byte, hear func(packet []byte) error) {
	if err := f.Feed(b, hear); err != nil {
		x.tap.Broken(err)
	}
}

// afterHandshake skips the first packet.
func (t *Tap) afterHandshake(sent bool, hear func(packet []byte) error) func(packet []byte) error {
	first := true
	return func(packet []byte) error {
		t.telling.Lock()
		defer t.telling.Unlock()
		if t.Packet != nil {
			t.Packet(sent)
		}
		if first {
			first = false
			return nil
		}
		if err := hear(packet); err != nil {
			t.Broken(err)
		}
		return nil
	}
}

func (t *Tap) request(packet []byte) error {
	q, err := parseRequest(packet)
	if err != nil || q.xid == jute.XidPing {
		return err
	}
	t.asks(q)
	t.Hear(history.Event{Kind: history.Call, Client: t.Client, Op: sim.OpName(&q.Request), Path: q.Path})
	return nil
}

// looks are the operations that show a znode.
var looks = []model.Op{model.OpExists, model.OpGetData, model.OpGetChildren, model.OpGetChildren2, model.OpGetACL,
	model.OpSetData, model.OpSetACL}

func (t *Tap) answer(packet []byte) error {
	a, err := jute.ParseReply(packet)
	switch {
	case err != nil || a.Xid == jute.XidPing:
		return err
	case a.Xid == jute.XidEvent:
		ev, err := a.Event()
		t.Hear(history.Event{Kind: history.Notify, Client: t.Client, Op: history.EventName(ev.Type), Path: ev.Path})
		return err
	}
	q, ok := t.asked(a.Xid)
	switch {
	case !ok:
		return errors.New("wire: an answer to nothing")
	case q.xid != a.Xid:
		return fmt.Errorf("wire: an answer to request %d, not to %d", a.Xid, q.xid)
	}
	t.answered(a.Xid)
	path, refusal := q.Path, a.Err
	if a.Err == model.OK {
		var changes []history.Event
		changes, refusal, err = q.changes(&a)
		for _, e := range changes {
			e.Client, path = t.Client, e.Path
			t.Hear(e)
		}
		if t.Read != nil && slices.Contains(looks, q.Op) {
			var res model.Response
			res, err = a.Response(q.Op)
			t.Read(q.Path, &res)
		}
	}
	switch q.Op {
	case model.OpMulti:
		path = ""
	case model.OpCreate, model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL, model.OpDelete, model.OpSetData:
		if t.Wrote != nil {
			t.Wrote(&q.Request, a.Zxid, a.Err)
		}
	}
	t.Hear(history.Event{Kind: history.Reply, Client: t.Client, Op: sim.OpName(&q.Request), Path: path, Zxid: a.Zxid,
		Err: refusal.Err(), Version: q.Mode})
	return err
}
