package serve

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// listen opens the ports of all servers. Free ones need not be next to each other.
func (o *Options) listen() (list []net.Listener, err error) {
	addrs := strings.Split(o.Listen, ",")
	if len(addrs) == 1 {
		if addrs, err = o.following(addrs[0]); err != nil {
			return nil, err
		}
	}
	if len(addrs) != o.Nodes {
		want := "one address"
		if o.Nodes > 1 {
			want = fmt.Sprintf("%d addresses or that of the first server", o.Nodes)
		}
		return nil, fmt.Errorf("serve: %q, expected %s", o.Listen, want)
	}
	for k, addr := range addrs {
		l, err := listen(addr)
		if err != nil {
			for _, l := range list {
				l.Close()
			}
			return nil, fmt.Errorf("serve: server s%d: %w", k+1, err)
		}
		list = append(list, l)
	}
	return list, nil
}

// listen opens a port. For a free port it finds one and then opens it by its number, because the system keeps a port
// for a shut socket only if that port was asked for.
func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port != "0" {
		return l, err
	}
	const tries = 10
	for range tries {
		_, port, _ = net.SplitHostPort(l.Addr().String())
		l.Close()
		if l, err = net.Listen("tcp", net.JoinHostPort(host, port)); err == nil {
			return l, nil
		}
		if l, err = net.Listen("tcp", addr); err != nil { // another process was faster
			return nil, err
		}
	}
	return l, nil
}

// reachable returns the address that clients on this machine use for a port: a loopback address if the port is open on
// all addresses.
func reachable(l net.Listener) string {
	addr, ok := l.Addr().(*net.TCPAddr)
	if ok && addr.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(addr.Port))
	}
	return l.Addr().String()
}

// accept accepts the connections to server k.
func (e *Ensemble) accept(k int, l net.Listener) {
	defer e.running.Done()
	for pause := time.Duration(0); ; {
		sock, err := l.Accept()
		if err == nil {
			pause = 0
			e.connected(k, sock)
			continue
		}
		if l = e.port(k); l == nil {
			return
		}
		pause = min(max(2*pause, time.Millisecond), 100*time.Millisecond) // too many open files, for example
		select {
		case <-time.After(pause):
		case <-e.done:
			return
		}
	}
}

// port returns the listener of server k as soon as it listens; nil when the ensemble is closed.
func (e *Ensemble) port(k int) net.Listener {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.nodes[k].killed && !e.closed {
		e.nodes[k].goes.Wait()
	}
	if e.closed {
		return nil
	}
	return e.ports[k]
}

// reopen makes the port of a server that was killed accept connections again.
func (e *Ensemble) reopen(k int) error {
	if !e.nodes[k].killed {
		return nil
	}
	l, err := reopen(e.ports[k])
	if err != nil {
		return fmt.Errorf("serve: s%d cannot come back, expected its port to be free: %w", k+1, err)
	}
	e.ports[k] = l
	return nil
}

// connected starts a connection.
func (e *Ensemble) connected(k int, sock net.Conn) {
	c := newConn(e, k, sock)
	e.mu.Lock()
	refused := e.closed || e.nodes[k].killed
	if !refused {
		e.conns[c] = true
		e.running.Add(1)
		go c.run()
	}
	e.mu.Unlock()
	if refused {
		c.abort()
	}
}
