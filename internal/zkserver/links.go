package zkserver

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// link is the way from one server to another.
type link struct{ quorum, elect *proxy }

func (l *link) close() {
	l.quorum.close()
	l.elect.close()
}

// link makes the links of all servers.
func (e *Ensemble) link() error {
	for _, m := range e.members {
		m.links = map[int]*link{}
	}
	for _, from := range e.members {
		for _, to := range e.members {
			if from == to {
				continue
			}
			quorum, err := newProxy(to.quorum, nil)
			if err != nil {
				return err
			}
			// The server says in the first message where it can be reached; the answer should also come through a
			// proxy.
			elect, err := newProxy(to.elect, func() string {
				return fmt.Sprintf("%s:%d", loopback, to.links[from.id].elect.port())
			})
			if err != nil {
				quorum.close()
				return err
			}
			from.links[to.id] = &link{quorum, elect}
		}
	}
	return nil
}

// Part cuts server i off from the others until [Ensemble.Join]: what they send each other is lost, but no connection is
// closed. It needs Options.Links.
func (e *Ensemble) Part(i int) { e.mute(i, true) }

// Join ends Part for server i. It closes the connections that were cut off, because what was sent on them is missing.
func (e *Ensemble) Join(i int) { e.mute(i, false) }

func (e *Ensemble) mute(i int, muted bool) {
	for k, m := range e.members {
		for id, l := range m.links { // order-free
			if k == i || id == i+1 {
				l.quorum.mute(muted)
				l.elect.mute(muted)
			}
		}
	}
}

// proxy forwards the connections that it accepts.
type proxy struct {
	l    net.Listener
	to   string
	self func() string // the address that the first message of an election should name; nil: no such messages

	mu    sync.Mutex // guards what follows
	muted bool
	conns map[net.Conn]bool
	done  bool
}

func newProxy(port int, self func() string) (*proxy, error) {
	l, err := net.Listen("tcp", loopback+":0")
	if err != nil {
		return nil, err
	}
	p := &proxy{l: l, to: fmt.Sprintf("%s:%d", loopback, port), self: self, conns: map[net.Conn]bool{}}
	go p.accept()
	return p, nil
}

func (p *proxy) port() int { return p.l.Addr().(*net.TCPAddr).Port }

func (p *proxy) close() {
	p.l.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
	p.hangUp()
}

// hangUp closes all connections; p.mu is held.
func (p *proxy) hangUp() {
	for c := range p.conns { // order-free
		c.Close()
	}
	clear(p.conns)
}

func (p *proxy) mute(muted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.muted && !muted {
		p.hangUp()
	}
	p.muted = muted
}

// silent reports whether incoming data is lost.
func (p *proxy) silent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.muted
}

// keep notes a connection; false: it was closed, because the proxy is done.
func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *proxy) drop(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *proxy) accept() {
	for {
		c, err := p.l.Accept()
		if err != nil {
			return // closed
		}
		if p.keep(c) {
			go p.serve(c)
		}
	}
}

// Limits of connecting to a server.
const (
	proxyDial   = 5 * time.Second       // how long it may take to accept
	redials     = 20                    // how often a refused connection of a follower is tried
	redialPause = 50 * time.Millisecond // between two of these
)

// dial connects to the server. A newly elected server may not listen yet. Its followers would try again if it refused
// them. But the proxy has already accepted their connections, so it tries in their place. Otherwise they would begin
// another election, and the server would wait for them until its time is up.
func (p *proxy) dial() (to net.Conn, err error) {
	for range redials {
		to, err = net.DialTimeout("tcp", p.to, proxyDial)
		if err == nil || p.self != nil {
			break
		}
		time.Sleep(redialPause)
	}
	return to, err
}

// serve forwards a connection in both directions until one of them ends.
func (p *proxy) serve(c net.Conn) {
	defer p.drop(c)
	if p.silent() {
		io.Copy(io.Discard, c) // until it is closed
		return
	}
	to, err := p.dial()
	if err != nil {
		return
	}
	if !p.keep(to) {
		return
	}
	defer p.drop(to)
	go func() {
		p.forward(c, to)
		c.Close()
	}()
	if p.self != nil && p.introduce(to, c) != nil {
		return
	}
	p.forward(to, c)
}

// forward copies until either side ends. It drops what arrives while the proxy is silent.
func (p *proxy) forward(to io.Writer, from io.Reader) {
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if n > 0 && !p.silent() {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// The versions of the first message of a connection for elections; both are followed by the server's id and the
// length and text of its address.
const (
	oneAddress    int64 = -65536
	manyAddresses int64 = -65535
	maxAddress          = 1 << 10
)

// introduce forwards the first message of an election connection, with another address.
func (p *proxy) introduce(to io.Writer, from io.Reader) error {
	head := make([]byte, 20)
	if _, err := io.ReadFull(from, head[:8]); err != nil {
		return err
	}
	version := int64(binary.BigEndian.Uint64(head))
	if version != oneAddress && version != manyAddresses { // an old version without an address
		_, err := to.Write(head[:8])
		return err
	}
	if _, err := io.ReadFull(from, head[8:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[16:])
	if n > maxAddress {
		return fmt.Errorf("zkserver: an address of %d bytes", n)
	}
	address := make([]byte, n)
	if _, err := io.ReadFull(from, address); err != nil {
		return err
	}
	self := p.self()
	if strings.ContainsRune(string(address), '|') { // several, of one server
		self += strings.Repeat("|"+self, strings.Count(string(address), "|"))
	}
	head = append(binary.BigEndian.AppendUint32(head[:16], uint32(len(self))), self...)
	_, err := to.Write(head)
	return err
}
