package zktest

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"zksim/model"
	"zksim/model/jute"
)

// pipe is the client's end of a connection in memory. A peer has the other end.
type pipe struct {
	peer   *peer
	server int         // index
	frames jute.Frames // of what the client writes
	poke   chan<- struct{}

	mu       sync.Mutex
	arrived  sync.Cond     // something to read, an end, or a deadline
	in       []byte        // to be read by the client
	out      []byte        // written by it
	end      error         // by the server, EOF or the number of the system's error; nil: it goes on
	closed   bool          // by the client
	deadline time.Time     // of reads; zero: none
	timeout  time.Duration // with which the deadline was set
	alarm    *time.Timer

	reads, writes *byte // where the last large buffers begin
}

func newPipe(peer *peer, server int, poke chan<- struct{}) *pipe {
	p := &pipe{peer: peer, server: server, frames: jute.Frames{Max: model.MaxPacketLen}, poke: poke}
	p.arrived.L = &p.mu
	return p
}

// Read implements net.Conn. What arrived before the end can still be read, unless the connection was reset.
func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen(b, &p.reads)
	for {
		switch {
		case p.closed:
			return 0, p.fails("read", net.ErrClosed)
		case len(p.in) > 0:
			n := copy(b, p.in)
			p.in = append(p.in[:0], p.in[n:]...)
			return n, nil
		case p.end == io.EOF:
			return 0, io.EOF
		case p.end != nil:
			return 0, p.fails("read", os.NewSyscallError("read", p.end))
		case !p.deadline.IsZero() && !time.Now().Before(p.deadline):
			return 0, p.fails("read", os.ErrDeadlineExceeded)
		}
		p.arrived.Wait()
	}
}

// Write implements net.Conn. It never waits. As on a socket, what is written after the other side has closed is lost
// without an error.
func (p *pipe) Write(b []byte) (int, error) {
	if string(b) == ping && p.peer.pong(p) {
		return len(b), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	seen(b, &p.writes)
	switch {
	case p.closed:
		return 0, p.fails("write", net.ErrClosed)
	case p.end == io.EOF:
		return len(b), nil
	case p.end != nil:
		return 0, p.fails("write", os.NewSyscallError("write", p.end))
	}
	p.out = append(p.out, b...)
	p.stir()
	return len(b), nil
}

// Close implements net.Conn.
func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return p.fails("close", net.ErrClosed)
	}
	p.closed = true
	if p.alarm != nil {
		p.alarm.Stop()
	}
	p.arrived.Broadcast()
	p.stir()
	return nil
}

// fails returns an error of an operation, as package net does. The client library passes it on to the code.
func (p *pipe) fails(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: p.LocalAddr(), Addr: p.RemoteAddr(), Err: err}
}

// stir says that the client has done something.
func (p *pipe) stir() {
	select {
	case p.poke <- struct{}{}:
	default:
	}
}

// send makes bytes arrive at the client.
func (p *pipe) send(b []byte) {
	p.mu.Lock()
	p.in = append(p.in, b...)
	p.arrived.Broadcast()
	p.mu.Unlock()
}

// hangUp ends the connection from the server's side.
func (p *pipe) hangUp() {
	p.mu.Lock()
	if p.end == nil {
		p.end = io.EOF
	}
	p.arrived.Broadcast()
	p.mu.Unlock()
}

// reset ends the connection and drops what has arrived and was not read.
func (p *pipe) reset() {
	p.mu.Lock()
	if p.end == nil {
		p.end = syscall.ECONNRESET
		p.in = p.in[:0]
	}
	p.arrived.Broadcast()
	p.mu.Unlock()
}

// take returns what the client has written since the last call, and whether it has closed the connection. A stalled
// connection returns nothing: what is written waits, and is lost if the client closes the connection.
func (p *pipe) take(stalled bool) (out []byte, closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stalled && !p.closed {
		return nil, false
	}
	if out, p.out = p.out, nil; p.end != nil || stalled {
		out = nil
	}
	return out, p.closed
}

// shut reports whether the client has closed the connection.
func (p *pipe) shut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// idle reports whether the connection is open and everything that the client has written was taken.
func (p *pipe) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.closed && p.end == nil && len(p.out) == 0 && p.frames.Pending() == 0
}

// busy reports whether either end has something to read.
//
//zksim:ignore only on real connections
func (p *pipe) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.out) > 0 || len(p.in) > 0 && !p.closed
}

// SetReadDeadline implements net.Conn.
func (p *pipe) SetReadDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = t
	switch {
	case p.closed:
		return p.fails("set", net.ErrClosed)
	case !t.IsZero(): // else the alarm wakes readers that find nothing, unless it is set again first
		p.timeout = time.Until(t)
		p.wake(p.timeout)
	}
	return nil
}

// wake makes readers look again after that time.
func (p *pipe) wake(after time.Duration) {
	if p.alarm == nil {
		p.alarm = time.AfterFunc(after, p.arrived.Broadcast)
		return
	}
	p.alarm.Reset(after)
}

// heard moves the deadline of the reader as if it had just read something. A pong would change nothing else, and waking
// the reader for it costs four times as much. heard reports whether there is a deadline.
func (p *pipe) heard() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deadline.IsZero() {
		return false
	}
	p.deadline = time.Now().Add(p.timeout)
	p.wake(p.timeout)
	return true
}

// SetWriteDeadline implements net.Conn: writes do not wait.
func (p *pipe) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline implements net.Conn.
func (p *pipe) SetDeadline(t time.Time) error { return p.SetReadDeadline(t) }

// LocalAddr implements net.Conn.
func (p *pipe) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1024} }

// RemoteAddr implements net.Conn.
func (p *pipe) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: firstPort + p.server}
}
