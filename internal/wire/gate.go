package wire

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"zksim/model"
	"zksim/model/jute"
)

// Kind says what a packet is.
type Kind uint8

// The kinds of packets.
const (
	Handshake Kind = iota // the first one in each direction
	Operation             // a request of the client's code, or its answer
	Ping
	Event // of a watch
)

// Packet is what a [Gate] is told about a packet.
type Packet struct {
	Kind
	Request  *model.Request // of an Operation, in both directions: the request, as [Tap] knows it
	Zxid     int64          // of an answer: the server's; of a client's handshake: the last that the client has seen
	Err      model.Code     // of an answer
	Session  int64          // of a handshake; 0 in an answer: refused
	Password []byte         // of a handshake
	Timeout  time.Duration  // of a handshake: the session timeout, requested or granted
}

// Fate is what becomes of a packet.
type Fate uint8

// The fates.
const (
	Pass Fate = iota
	Lose      // it is lost, and the connection is closed
	Last      // it passes, and the connection is closed
)

// Gate stands between a client and its server, and decides the fate of each packet. A Gate is for one connection.
type Gate struct {
	Tap *Tap // hears what the client sends, lost or not, and what it receives

	// Sent and Received are called for each packet, from one goroutine each. They may block, which holds back what
	// follows.
	Sent, Received func(*Packet) Fate
}

// Gated is a connection behind a gate. All methods may be called concurrently, but only one Write and one Read at a
// time.
type Gated struct {
	net.Conn
	gate           *Gate
	sent, received jute.Frames
	greeted        [2]bool // the handshake is over, sent and received
	out            []byte  // received and not read yet
	lost           error   // the error after the fate of a received packet

	mu       sync.Mutex // guards what follows
	frozen   chan struct{}
	hole     bool // what is sent while it is frozen is lost, not held back
	deadline time.Time
	closed   chan struct{}
	once     sync.Once
}

// Conn returns a connection that passes through the gate.
func (g *Gate) Conn(c net.Conn) *Gated { return &Gated{Conn: c, gate: g, closed: make(chan struct{})} }

// Freeze holds back all packets in both directions until [Gated.Thaw]. With hole, packets that the client sends are
// lost instead. It reports whether it did so: a frozen connection stays as it is.
func (x *Gated) Freeze(hole bool) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.frozen != nil {
		return false
	}
	x.frozen, x.hole = make(chan struct{}), hole
	return true
}

// Thaw ends Freeze. After a Freeze with hole it closes the connection, on which something may have been lost.
func (x *Gated) Thaw() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.frozen == nil {
		return
	}
	if x.hole {
		x.Close()
	}
	close(x.frozen)
	x.frozen = nil
}

// Close implements [net.Conn]. It takes no lock.
func (x *Gated) Close() error {
	err := x.Conn.Close()
	x.once.Do(func() { close(x.closed) })
	return err
}

// Closed returns a channel that is closed with the connection.
func (x *Gated) Closed() <-chan struct{} { return x.closed }

// SetReadDeadline implements [net.Conn].
func (x *Gated) SetReadDeadline(t time.Time) error {
	x.mu.Lock()
	x.deadline = t
	x.mu.Unlock()
	return x.Conn.SetReadDeadline(t)
}

// pass waits while the connection is frozen. A reader waits until its deadline.
func (x *Gated) pass(reads bool) (lost bool, err error) {
	for {
		x.mu.Lock()
		frozen, hole, deadline := x.frozen, x.hole, x.deadline
		x.mu.Unlock()
		if frozen == nil {
			return false, nil
		}
		if hole && !reads {
			return true, nil
		}
		var late <-chan time.Time
		if reads && !deadline.IsZero() {
			t := time.NewTimer(time.Until(deadline))
			defer t.Stop()
			late = t.C
		}
		select {
		case <-frozen:
		case <-late:
			return false, os.ErrDeadlineExceeded
		case <-x.closed:
			return false, net.ErrClosed
		}
	}
}

// Write implements [net.Conn]. Packets are sent whole. After the gate has closed the connection, a write succeeds and
// is lost, as on a connection that the other side has closed.
func (x *Gated) Write(b []byte) (int, error) {
	err := x.sent.Feed(b, func(packet []byte) error {
		lost, err := x.pass(false)
		if lost || err != nil {
			return err
		}
		fate := x.gate.Sent(x.sees(packet))
		if fate != Lose {
			_, err = x.Conn.Write(framed(nil, packet))
		}
		if fate != Pass {
			x.Close()
		}
		return err
	})
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return 0, err
	}
	return len(b), nil
}

// Read implements [net.Conn].
func (x *Gated) Read(b []byte) (int, error) {
	for len(x.out) == 0 {
		if x.lost != nil {
			return 0, x.lost
		}
		raw := make([]byte, 1<<12)
		n, err := x.Conn.Read(raw)
		if _, halt := x.pass(true); halt != nil {
			return 0, halt
		}
		if broken := x.received.Feed(raw[:n], x.receive); broken != nil {
			return 0, broken
		}
		if err != nil && len(x.out) == 0 {
			return 0, err
		}
	}
	n := copy(b, x.out)
	x.out = x.out[n:]
	return n, nil
}

// receive decides the fate of a packet from the server.
func (x *Gated) receive(packet []byte) error {
	if x.lost != nil {
		return nil
	}
	p, hear := x.looksAt(packet)
	fate := x.gate.Received(p)
	if fate != Lose {
		hear()
		x.out = framed(x.out, packet)
	}
	if fate != Pass {
		x.lost = net.ErrClosed
		x.Close()
	}
	return nil
}

// framed appends a packet with its length in front.
func framed(to, packet []byte) []byte {
	return jute.EndFrame(append(jute.StartFrame(to), packet...), len(to))
}

// sees tells the tap about a packet of the client, and returns what it is.
func (x *Gated) sees(packet []byte) *Packet {
	t := x.gate.Tap
	t.telling.Lock()
	defer t.telling.Unlock()
	if t.Packet != nil {
		t.Packet(true)
	}
	if !x.greeted[0] {
		x.greeted[0] = true
		return parseHello(packet)
	}
	q, err := parseRequest(packet)
	if err == nil {
		err = t.request(packet)
	}
	if err != nil {
		t.Broken(err)
		return &Packet{Kind: Ping}
	}
	if q.xid == jute.XidPing {
		return &Packet{Kind: Ping}
	}
	return &Packet{Kind: Operation, Request: &q.Request}
}

// looksAt returns what a packet of the server is, and a function that tells the tap about it.
func (x *Gated) looksAt(packet []byte) (*Packet, func()) {
	t := x.gate.Tap
	if !x.greeted[1] {
		x.greeted[1] = true
		if t.Packet != nil {
			t.telling.Lock()
			defer t.telling.Unlock()
			t.Packet(false)
		}
		p := parseWelcome(packet)
		return p, func() { t.session.Store(p.Session) }
	}
	hear := func() {
		t.telling.Lock()
		defer t.telling.Unlock()
		if t.Packet != nil {
			t.Packet(false)
		}
		if err := t.answer(packet); err != nil {
			t.Broken(err)
		}
	}
	a, err := jute.ParseReply(packet)
	switch {
	case err != nil || a.Xid == jute.XidPing:
		return &Packet{Kind: Ping}, hear
	case a.Xid == jute.XidEvent:
		return &Packet{Kind: Event}, hear
	}
	q, ok := t.asked(a.Xid)
	if !ok {
		return &Packet{Kind: Ping}, hear // the tap will say that it is broken
	}
	return &Packet{Kind: Operation, Request: &q.Request, Zxid: a.Zxid, Err: a.Err}, hear
}

// parseHello reads the first packet of a client.
func parseHello(packet []byte) *Packet {
	c, _ := jute.ParseConnectRequest(packet) // if it ends too early, the server says so
	return &Packet{Kind: Handshake, Zxid: c.LastZxid, Session: c.Session, Password: c.Password,
		Timeout: time.Duration(c.Timeout) * time.Millisecond}
}

// parseWelcome reads the first packet of a server.
func parseWelcome(packet []byte) *Packet {
	c, _ := jute.ParseConnectResponse(packet) // if it ends too early, the client says so
	return &Packet{Kind: Handshake, Session: c.Session, Password: c.Password,
		Timeout: time.Duration(c.Timeout) * time.Millisecond}
}
