package conform

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// wire is the network of one real client. A connection, once made, is the last
// one until the wire is told to allow another: a client that has lost its
// connection stays without, however it was lost.
type wire struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change of what follows
	target  string        // address of the server
	held    bool          // new connections wait
	waiting bool          // one does
	sock    *tap
	session int64
	secret  []byte // of the session
}

func newWire(target string) *wire { return &wire{target: target, changed: make(chan struct{})} }

// update changes the wire and tells everyone who waits for that.
func (w *wire) update(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	close(w.changed)
	w.changed = make(chan struct{})
}

// await waits until the condition, which must only look at the wire, holds.
func (w *wire) await(ctx context.Context, condition func() bool) error {
	for {
		w.mu.Lock()
		ok, changed := condition(), w.changed
		w.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// dial is for live.Options. The address that the client has chosen does not
// matter.
func (w *wire) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	w.update(func() { w.waiting = true })
	if err := w.await(ctx, func() bool { return !w.held }); err != nil {
		return nil, err
	}
	var target string
	w.update(func() { w.waiting, target = false, w.target })
	sock, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, network, target)
	if err != nil {
		return nil, err
	}
	t := &tap{Conn: sock, wire: w}
	w.update(func() { w.sock = t })
	return t, nil
}

func (w *wire) hold() { w.update(func() { w.held = true }) }

func (w *wire) allow(target string) {
	w.update(func() { w.held, w.waiting, w.target = false, false, target })
}

// cut ends the connection and waits until the client has noticed.
func (w *wire) cut(ctx context.Context) error {
	w.mu.Lock()
	sock := w.sock
	w.mu.Unlock()
	sock.Close()
	return w.lost(ctx)
}

// lost waits until the client has noticed that its connection is gone.
func (w *wire) lost(ctx context.Context) error {
	return w.await(ctx, func() bool { return w.waiting })
}

// resumed waits until the server has answered what the library sends by itself
// after a reconnect: the identities, that many, and SetWatches if there are
// watches. Events that make up for the time without a connection come before the
// answer to SetWatches. And a go-zookeeper (v1.0.4) that loses its connection
// while it sends an identity hangs forever: sendData and flushRequests both
// answer the request, whose channel has room for one.
func (w *wire) resumed(ctx context.Context, identities int, watches bool) error {
	return w.await(ctx, func() bool {
		return w.sock != nil && w.sock.auths >= identities && (w.sock.rearmed > 0 || !watches)
	})
}

// identity returns the session's id and password.
func (w *wire) identity() (int64, []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.session, w.secret
}

// ping waits until the client has received everything that the server has sent
// it so far: answers and events stay in order, and the answer to a ping is the
// only one that leaves no trace in the client.
func (w *wire) ping(ctx context.Context) error {
	w.mu.Lock()
	t := w.sock
	t.pings++
	n := t.pings
	w.mu.Unlock()
	if _, err := t.Conn.Write(pingFrame); err != nil {
		return err
	}
	return w.await(ctx, func() bool { return t.pongs >= n })
}

// pingFrame is the one request that go-zookeeper and this package both send.
var pingFrame = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(
	binary.BigEndian.AppendUint32(nil, 8), 1<<32+pingXid), opPing)

// Of the wire protocol: the opcodes and xids that matter here, and the place of
// the password in a ConnectResponse.
const (
	opPing         = 11
	pingXid        = -2
	opAuth         = 100
	opSetWatches   = 101
	opCloseSession = -11

	sessionOffset  = 8
	passwordOffset = 20
	passwordLen    = 16
	connectLen     = passwordOffset + passwordLen
)

// tap is a connection that notices the session's password and the answers to
// pings and to what the library sends by itself as they pass.
type tap struct {
	net.Conn
	wire *wire
	// Under the wire's lock: pings sent and answered, answers to the requests
	// that the library sends by itself after a reconnect.
	pings, pongs, auths, rearmed int

	mu       sync.Mutex
	pending  map[int32]uint32 // opcodes by xid, of the latter
	greeted  bool             // the client has sent its ConnectRequest
	welcomed bool             // the server has answered it
	head     []byte           // of the frame being read: its length
	body     []byte           // ... and its beginning
	left     int              // ... and what is missing
}

// Write passes on one frame, which is how go-zookeeper writes.
func (t *tap) Write(b []byte) (int, error) {
	t.mu.Lock()
	if t.greeted && len(b) >= 12 {
		switch op := binary.BigEndian.Uint32(b[8:]); op {
		case opSetWatches, opAuth:
			if t.pending == nil {
				t.pending = map[int32]uint32{}
			}
			t.pending[int32(binary.BigEndian.Uint32(b[4:]))] = op
		case opPing:
			t.wire.mu.Lock()
			t.pings++
			t.wire.mu.Unlock()
		}
	}
	t.greeted = true
	t.mu.Unlock()
	return t.Conn.Write(b)
}

// Read passes on what the server sends.
func (t *tap) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	t.mu.Lock()
	defer t.mu.Unlock()
	for p := b[:n]; len(p) > 0; {
		if len(t.head) < 4 {
			t.head, p = append(t.head, p[0]), p[1:]
			if len(t.head) == 4 {
				t.left, t.body = int(binary.BigEndian.Uint32(t.head)), t.body[:0]
			}
			continue
		}
		k := min(t.left, len(p))
		t.body = append(t.body, p[:min(k, connectLen-min(connectLen, len(t.body)))]...)
		t.left, p = t.left-k, p[k:]
		if t.left == 0 {
			t.frame()
			t.head = t.head[:0]
		}
	}
	return n, err
}

// frame looks at a complete frame.
func (t *tap) frame() {
	if !t.welcomed {
		t.welcomed = true
		if len(t.body) >= connectLen {
			id := int64(binary.BigEndian.Uint64(t.body[sessionOffset:]))
			secret := append([]byte(nil), t.body[passwordOffset:connectLen]...)
			t.wire.update(func() { t.wire.session, t.wire.secret = id, secret })
		}
		return
	}
	if len(t.body) < 4 {
		return
	}
	switch xid := int32(binary.BigEndian.Uint32(t.body)); {
	case xid == pingXid:
		t.wire.update(func() { t.pongs++ })
	case t.pending[xid] == opAuth:
		t.wire.update(func() { t.auths++ })
	case t.pending[xid] == opSetWatches:
		t.wire.update(func() { t.rearmed++ })
	}
}

// endSession ends a session as its expiry would: it takes the session over and
// closes it. A session that is gone already is no error.
func endSession(ctx context.Context, server string, id int64, secret []byte) error {
	sock, err := (&net.Dialer{}).DialContext(ctx, "tcp", server)
	if err != nil {
		return err
	}
	defer sock.Close()
	if deadline, ok := ctx.Deadline(); ok {
		sock.SetDeadline(deadline)
	}
	const timeoutMs = 10_000
	hello := binary.BigEndian.AppendUint32(nil, 0)  // protocol version
	hello = binary.BigEndian.AppendUint64(hello, 0) // last zxid seen
	hello = binary.BigEndian.AppendUint32(hello, timeoutMs)
	hello = binary.BigEndian.AppendUint64(hello, uint64(id))
	hello = binary.BigEndian.AppendUint32(hello, uint32(len(secret)))
	answer, err := exchange(sock, append(hello, secret...))
	if err != nil {
		return fmt.Errorf("taking over a session: %w", err)
	}
	if len(answer) < sessionOffset+8 {
		return fmt.Errorf("taking over a session: an answer of %d bytes", len(answer))
	}
	if binary.BigEndian.Uint64(answer[sessionOffset:]) == 0 {
		return nil
	}
	closing := int32(opCloseSession)
	request := binary.BigEndian.AppendUint32(nil, 1) // xid
	if _, err = exchange(sock, binary.BigEndian.AppendUint32(request, uint32(closing))); err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	return nil
}

// exchange sends a frame and returns the next one.
func exchange(sock net.Conn, body []byte) ([]byte, error) {
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	if _, err := sock.Write(frame); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(sock, head[:]); err != nil {
		return nil, err
	}
	const maxAnswer = 1 << 20
	n := binary.BigEndian.Uint32(head[:])
	if n > maxAnswer {
		return nil, fmt.Errorf("an answer of %d bytes", n)
	}
	answer := make([]byte, n)
	_, err := io.ReadFull(sock, answer)
	return answer, err
}
