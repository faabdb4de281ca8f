package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// link makes the TCP connections of one Client and can cut them. go-zookeeper cannot: its Close lets a dial or a
// handshake go on.
type link struct {
	ctx    context.Context // of all dials; done once cut
	cancel context.CancelFunc
	custom func(ctx context.Context, network, address string) (net.Conn, error) // Options.Dial

	mu   sync.Mutex
	sock net.Conn // the newest, nil before the first
	err  error    // of the last dial
}

// errCut is what dialing says once the link is cut.
var errCut = errors.New("live: client closed")

func newLink(custom func(ctx context.Context, network, address string) (net.Conn, error)) *link {
	l := &link{custom: custom}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// dial is a zk.Dialer that works like go-zookeeper's own until the link is cut, and fails from then on.
func (l *link) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	connect := l.custom
	if connect == nil {
		connect = (&net.Dialer{Timeout: timeout}).DialContext
	}
	sock, err := connect(l.ctx, network, address)
	if err == nil && l.custom != nil {
		sock = socket{sock}
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		if err == nil {
			sock.Close()
		}
		return nil, errCut
	}
	l.err = err
	if err == nil {
		l.sock = sock
	}
	return sock, err
}

// socket is a connection that Options.Dial has made. The error of a failed write reaches the caller of a request
// whose outcome is then unknown. Recipes recognize it because it is a net.Error, but not all connections return one:
// a net.Pipe returns io.ErrClosedPipe.
type socket struct{ net.Conn }

func (s socket) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	if _, ok := errors.AsType[net.Error](err); err != nil && !ok {
		err = &net.OpError{Op: "write", Net: "tcp", Addr: s.RemoteAddr(), Err: err}
	}
	return n, err
}

// cut ends the connection and forbids new ones.
func (l *link) cut() {
	l.cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sock != nil {
		l.sock.Close()
	}
}

// obstacle says in a few words why there is no session yet.
func (l *link) obstacle() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.err != nil:
		return l.err.Error()
	case l.sock != nil:
		return fmt.Sprintf("%s took the connection but gave no session", l.sock.RemoteAddr())
	}
	return "no answer yet"
}
