package conform

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"zksim/model"
	"zksim/model/jute"
)

// wire is the network of one real client. It makes one connection, and another one only when it is told to allow that.
// So a client that has lost its connection, in whatever way, stays without one.
type wire struct {
	bell           // for the fields below
	target  string // address of the server
	held    bool   // new connections wait
	waiting bool   // a new connection waits
	sock    *tap
	session int64
	secret  []byte // of the session
}

func newWire(target string) *wire { return &wire{target: target, bell: newBell()} }

// bell announces changes of what its lock guards to everyone who waits.
type bell struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
}

func newBell() bell { return bell{changed: make(chan struct{})} }

// update makes a change and announces it.
func (b *bell) update(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
	close(b.changed)
	b.changed = make(chan struct{})
}

// await waits until the condition holds. The condition must only look at what the lock guards.
func (b *bell) await(ctx context.Context, condition func() bool) error {
	for {
		b.mu.Lock()
		ok, changed := condition(), b.changed
		b.mu.Unlock()
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

// dial is for live.Options. It ignores the address that the client has chosen.
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

// resumed waits until the server has answered what the library sends by itself after a reconnect: that many identities,
// and SetWatches if there are watches. Events that make up for the time without a connection come before the answer to
// SetWatches. Waiting also avoids a bug of go-zookeeper (v1.0.4): if it loses its connection while it sends an
// identity, it hangs forever, because sendData and flushRequests both answer the request, whose channel has room for
// one.
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

// ping waits until the client has received everything that the server has sent it so far. Answers and events stay in
// order, and only the answer to a ping leaves no trace in the client.
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

// pingFrame is the only request that both go-zookeeper and this package send.
var pingFrame = frameOf(jute.XidPing, model.OpPing)

// frameOf returns the frame of a request without fields.
func frameOf(xid int32, op model.Op) []byte {
	return jute.EndFrame(jute.AppendRequest(jute.StartFrame(nil), xid, &model.Request{Op: op}), 0)
}

// tap is a connection that notices the session's password, and the answers to pings and to what the library sends by
// itself.
type tap struct {
	net.Conn
	wire *wire
	// Under the wire's lock: pings sent and answered, and answers to the requests that the library sends by itself after a
	// reconnect.
	pings, pongs, auths, rearmed int

	mu             sync.Mutex
	pending        map[int32]model.Op // those requests, by xid
	greeted        bool               // the client has sent its ConnectRequest
	welcomed       bool               // the server has answered it
	sent, received jute.Frames
}

// Write implements [net.Conn].
func (t *tap) Write(b []byte) (int, error) {
	t.mu.Lock()
	t.sent.Feed(b, t.request) // the server handles what makes no sense
	t.mu.Unlock()
	return t.Conn.Write(b)
}

// request looks at a packet of the client.
func (t *tap) request(packet []byte) error {
	if !t.greeted {
		t.greeted = true
		return nil
	}
	switch xid, q, _ := jute.ParseRequest(packet); q.Op {
	case model.OpSetWatches, model.OpAuth:
		if t.pending == nil {
			t.pending = map[int32]model.Op{}
		}
		t.pending[xid] = q.Op
	case model.OpPing:
		t.wire.mu.Lock()
		t.pings++
		t.wire.mu.Unlock()
	}
	return nil
}

// Read implements [net.Conn].
func (t *tap) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.received.Feed(b[:n], t.answer) // the client handles what makes no sense
	return n, err
}

// answer looks at a packet of the server.
func (t *tap) answer(packet []byte) error {
	if !t.welcomed {
		t.welcomed = true
		if w, err := jute.ParseConnectResponse(packet); err == nil {
			t.wire.update(func() { t.wire.session, t.wire.secret = w.Session, w.Password })
		}
		return nil
	}
	a, err := jute.ParseReply(packet)
	if err != nil {
		return nil
	}
	switch {
	case a.Xid == jute.XidPing:
		t.wire.update(func() { t.pongs++ })
	case t.pending[a.Xid] == model.OpAuth:
		t.wire.update(func() { t.auths++ })
	case t.pending[a.Xid] == model.OpSetWatches:
		t.wire.update(func() { t.rearmed++ })
	}
	return nil
}

// endSession ends a session as its expiry would: it takes the session over and closes it. If the session has already
// ended, that is no error.
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
	hello := jute.ConnectRequest{Timeout: timeoutMs, Session: id, Password: secret, Old: true}
	packet, err := exchange(sock, jute.EndFrame(hello.Append(jute.StartFrame(nil)), 0))
	if err != nil {
		return fmt.Errorf("taking over a session: %w", err)
	}
	welcome, err := jute.ParseConnectResponse(packet)
	if err != nil {
		return fmt.Errorf("taking over a session: %w", err)
	}
	if welcome.Session == 0 {
		return nil
	}
	if _, err = exchange(sock, frameOf(1, model.OpCloseSession)); err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	return nil
}

// exchange sends a frame and returns the next packet.
func exchange(sock net.Conn, frame []byte) (packet []byte, err error) {
	if _, err := sock.Write(frame); err != nil {
		return nil, err
	}
	f := jute.Frames{Max: model.MaxPacketLen}
	for b := make([]byte, 512); packet == nil; {
		n, err := sock.Read(b)
		if err != nil {
			return nil, err
		}
		if err := f.Feed(b[:n], func(p []byte) error { packet = bytes.Clone(p); return nil }); err != nil {
			return nil, err
		}
	}
	return packet, nil
}
