package wire

import (
	"errors"
	"fmt"
	"net"
	"sync"

	"zksim/model"
	"zksim/model/history"
	"zksim/sim"
)

// Tap listens to one connection of a client.
type Tap struct {
	Client int32

	// Hear gets the events: Call, Reply with the zxid that the server had reached,
	// Notify without one, and before the Reply to a write Created, Changed and
	// Deleted. A request is heard before it is sent, everything else before the
	// client sees it. It is called from two goroutines, but not at once.
	Hear func(history.Event)
	// Packet, if not nil, is called for every packet, those of the handshake and
	// the pings too, before Hear.
	Packet func(sent bool)
	// Broken is called when the connection says what Tap cannot follow.
	Broken func(error)

	mu   sync.Mutex
	open []request
}

// Open returns how many requests were sent and not answered yet.
func (t *Tap) Open() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open)
}

// Conn returns a connection that does what c does, and listens. A Tap is for one
// connection.
func (t *Tap) Conn(c net.Conn) net.Conn {
	x := &tapped{Conn: c}
	x.sent.hear = t.afterHandshake(true, t.request)
	x.received.hear = t.afterHandshake(false, t.answer)
	return x
}

type tapped struct {
	net.Conn
	sent, received frames
}

// Write implements [net.Conn].
func (x *tapped) Write(b []byte) (int, error) {
	x.sent.feed(b)
	return x.Conn.Write(b)
}

// Read implements [net.Conn].
func (x *tapped) Read(b []byte) (int, error) {
	n, err := x.Conn.Read(b)
	x.received.feed(b[:n])
	return n, err
}

// afterHandshake leaves out the first packet.
func (t *Tap) afterHandshake(sent bool, hear func(packet []byte) error) func(packet []byte) {
	first := true
	return func(packet []byte) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.Packet != nil {
			t.Packet(sent)
		}
		if first {
			first = false
			return
		}
		if err := hear(packet); err != nil {
			t.Broken(err)
		}
	}
}

func (t *Tap) request(packet []byte) error {
	q, err := parseRequest(packet)
	if err != nil || q.xid == xidPing {
		return err
	}
	t.open = append(t.open, q)
	t.Hear(history.Event{Kind: history.Call, Client: t.Client, Op: sim.OpName(&q.Request), Path: q.Path})
	return nil
}

func (t *Tap) answer(packet []byte) error {
	a, err := parseAnswer(packet)
	switch {
	case err != nil || a.xid == xidPing:
		return err
	case a.xid == xidEvent:
		typ, path := a.event()
		t.Hear(history.Event{Kind: history.Notify, Client: t.Client, Op: history.EventName(typ), Path: path})
		return a.body.err()
	case len(t.open) == 0:
		return errors.New("wire: an answer to nothing")
	}
	q := t.open[0]
	if q.xid != a.xid {
		return fmt.Errorf("wire: an answer to request %d, not to %d", a.xid, q.xid)
	}
	t.open = append(t.open[:0], t.open[1:]...)
	path := q.Path
	if a.err == model.OK {
		for _, e := range q.changes(&a) {
			e.Client, path = t.Client, e.Path
			t.Hear(e)
		}
	}
	if q.Op == model.OpMulti {
		path = ""
	}
	t.Hear(history.Event{Kind: history.Reply, Client: t.Client, Op: sim.OpName(&q.Request), Path: path, Zxid: a.zxid,
		Err: a.err.Err()})
	return a.body.err()
}
