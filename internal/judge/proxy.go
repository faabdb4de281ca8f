package judge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// Proxy stands between clients and servers. It passes on all bytes unchanged, and lets a [Recorder] hear them.
type Proxy struct {
	Recorder *Recorder

	listener net.Listener
	servers  []string
	next     int

	mu    sync.Mutex
	conns map[net.Conn]bool
	wg    sync.WaitGroup

	ctx  context.Context // done when the proxy is closed
	stop context.CancelFunc
}

// patience is how long connecting to a server may take.
const patience = 10 * time.Second

// Listen starts a proxy that passes connections to one address on to the servers, host:port each, in turn. It skips
// servers that cannot be reached. Call Close to end all connections.
func Listen(address string, servers []string) (*Proxy, error) {
	if len(servers) == 0 {
		return nil, errors.New("judge: no servers, expected host:port of at least one")
	}
	for _, s := range servers {
		if !hasPort(s) {
			return nil, fmt.Errorf("judge: %q is no server, expected host:port", s)
		}
	}
	if !hasPort(address) {
		return nil, fmt.Errorf("judge: %q is no address to listen at, expected host:port", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("judge: %w", err)
	}
	for _, s := range servers {
		if leadsTo(l.Addr().(*net.TCPAddr), s) {
			l.Close()
			return nil, fmt.Errorf("judge: the server %s is where the proxy itself listens, expected another address", s)
		}
	}
	return proxyOf(l, servers), nil
}

// leadsTo reports whether a connection to the server would reach the listener, so that the proxy would connect to
// itself endlessly.
func leadsTo(listener *net.TCPAddr, server string) bool {
	a, err := net.ResolveTCPAddr("tcp", server)
	return err == nil && a.Port == listener.Port &&
		(a.IP.Equal(listener.IP) || listener.IP.IsUnspecified() && (len(a.IP) == 0 || a.IP.IsLoopback()))
}

// hasPort reports whether an address is host:port. The host may be empty.
func hasPort(address string) bool {
	_, port, err := net.SplitHostPort(address)
	return err == nil && port != ""
}

// proxyOf passes on the connections of a listener.
func proxyOf(l net.Listener, servers []string) *Proxy {
	p := &Proxy{Recorder: NewRecorder(), listener: l, servers: servers, conns: map[net.Conn]bool{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.wg.Go(p.accept)
	return p
}

// Addr returns the address that the proxy listens at.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close ends all connections and waits until they have ended.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.stop()
	p.listener.Close()
	for c := range p.conns { // order-free: all of them
		c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

// accept accepts connections until Close. If one cannot be accepted, for example because file descriptors have run out,
// the others go on, and more may come later.
func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		switch {
		case err == nil:
			p.wg.Go(func() { p.pass(c) })
		case p.ctx.Err() != nil:
			return
		default:
			p.Recorder.Missed(err)
			select {
			case <-time.After(acceptPause):
			case <-p.ctx.Done():
				return
			}
		}
	}
}

// acceptPause is how long accept waits after a failure.
const acceptPause = 10 * time.Millisecond

// keep records a connection that Close must end, and reports whether it may be used.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) drop(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// dial connects to the next server that is reachable.
func (p *Proxy) dial() (net.Conn, error) {
	p.mu.Lock()
	first := p.next
	p.next++
	p.mu.Unlock()
	var failed []string
	for i := range p.servers {
		server := p.servers[(first+i)%len(p.servers)]
		c, err := (&net.Dialer{Timeout: patience}).DialContext(p.ctx, "tcp", server)
		if err == nil {
			return c, nil
		}
		failed = append(failed, err.Error())
	}
	return nil, errors.New(strings.Join(failed, "; "))
}

// pass passes on what both sides of a connection say until one of them ends it.
func (p *Proxy) pass(client net.Conn) {
	defer p.drop(client)
	if !p.keep(client) {
		return
	}
	server, err := p.dial()
	if err != nil {
		p.Recorder.Missed(err)
		return
	}
	defer p.drop(server)
	if !p.keep(server) {
		return
	}
	c := p.Recorder.Connect()
	var wg sync.WaitGroup
	var first sync.Once
	left := false
	end := func(who net.Conn, of error) {
		first.Do(func() { left = who == client && p.ctx.Err() == nil })
		if tcp, ok := server.(*net.TCPConn); ok && who == client && of == io.EOF {
			c.Muted()
			tcp.CloseWrite() // the server ends the rest: a client that sends no more may still wait for an answer
			return
		}
		client.Close()
		server.Close()
	}
	wg.Go(func() { end(copyTo(server, client, c.Sent)) })
	wg.Go(func() { end(copyTo(client, server, c.Received)) })
	wg.Wait()
	if left {
		c.Left()
	} else {
		c.Dropped()
	}
}

// copyTo passes bytes on in one direction, after they were heard, until one side ends that. It returns which side, and
// how.
func copyTo(to, from net.Conn, hear func([]byte)) (who net.Conn, how error) {
	b := make([]byte, 1<<13) // most packets are small, and connections many
	for {
		n, err := from.Read(b)
		if n > 0 {
			hear(b[:n])
			if _, err := to.Write(b[:n]); err != nil {
				return to, err
			}
		}
		if err != nil {
			return from, err
		}
	}
}
