package zktest

import (
	"io"
	"net"
	"os"
	"sync"
	"time"

	"zksim/model"
	"zksim/model/jute"
)

// pipe is a connection in memory, from the client's end. Its other end is that of a peer.
type pipe struct {
	server int         // index
	frames jute.Frames // of what the client writes
	poke   chan<- struct{}

	mu       sync.Mutex
	arrived  sync.Cond // something to read, an end, or a deadline
	in       []byte    // to be read by the client
	out      []byte    // written by it
	end      error     // by the server; nil: it goes on
	closed   bool      // by the client
	deadline time.Time // of reads; zero: none
	alarm    *time.Timer
}

func newPipe(server int, poke chan<- struct{}) *pipe {
	p := &pipe{server: server, frames: jute.Frames{Max: model.MaxPacketLen}, poke: poke}
	p.arrived.L = &p.mu
	return p
}

// Read implements net.Conn. What arrived before the end can still be read, unless the connection was reset.
func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case p.closed:
			return 0, net.ErrClosed
		case len(p.in) > 0:
			n := copy(b, p.in)
			p.in = append(p.in[:0], p.in[n:]...)
			return n, nil
		case p.end != nil:
			return 0, p.end
		case !p.deadline.IsZero() && !time.Now().Before(p.deadline):
			return 0, os.ErrDeadlineExceeded
		}
		p.arrived.Wait()
	}
}

// Write implements net.Conn. It never waits.
func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return 0, net.ErrClosed
	case p.end != nil:
		return 0, io.ErrClosedPipe
	}
	p.out = append(p.out, b...)
	p.stir()
	return len(b), nil
}

// Close implements net.Conn.
func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		if p.alarm != nil {
			p.alarm.Stop()
		}
		p.arrived.Broadcast()
		p.stir()
	}
	return nil
}

// stir says that the client has done something.
func (p *pipe) stir() {
	select {
	case p.poke <- struct{}{}:
	default:
	}
}

// send has bytes arrive at the client.
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

// take returns what the client has written since the last time, and whether it has closed the connection.
func (p *pipe) take() (out []byte, closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if out, p.out = p.out, nil; p.end != nil {
		out = nil
	}
	return out, p.closed
}

// SetReadDeadline implements net.Conn.
func (p *pipe) SetReadDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = t
	switch {
	case p.closed:
		return net.ErrClosed
	case t.IsZero():
		if p.alarm != nil {
			p.alarm.Stop()
		}
	case p.alarm == nil:
		p.alarm = time.AfterFunc(time.Until(t), p.arrived.Broadcast)
	default:
		p.alarm.Reset(time.Until(t))
	}
	return nil
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
