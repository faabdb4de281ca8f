package judge

import (
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
)

// scarce is a listener that has no file descriptor for the first connection.
type scarce struct {
	net.Listener
	failed bool
}

func (s *scarce) Accept() (net.Conn, error) {
	if !s.failed {
		s.failed = true
		return nil, syscall.EMFILE
	}
	return s.Listener.Accept()
}

func listening(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestAProxyThatLacksDescriptorsGoesOn(t *testing.T) {
	server := listening(t)
	go func() {
		if c, err := server.Accept(); err == nil {
			io.WriteString(c, "welcome")
			c.Close()
		}
	}()
	p := proxyOf(&scarce{Listener: listening(t)}, []string{server.Addr().String()})
	defer p.Close()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, err := io.ReadAll(c); string(got) != "welcome" {
		t.Errorf("%q, %v, expected what the server says", got, err)
	}
	if j, _, err := p.Recorder.Judge(nil); err != nil ||
		!strings.Contains(strings.Join(j.Inconclusive, " "), syscall.EMFILE.Error()) {
		t.Errorf("%+v, %v, expected that a connection could not be taken", j, err)
	}
}

// echo ruok | nc -N ends its side of the connection before the answer comes.
func TestAProxyDoesNotForwardToItself(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	l.Close()
	for _, listen := range []string{address, ":" + port} {
		p, err := Listen(listen, []string{"127.0.0.1:1", "localhost:" + port})
		if err == nil || !strings.Contains(err.Error(), "is where the proxy itself listens") {
			t.Errorf("%s: %v", listen, err)
		}
		if p != nil {
			p.Close()
		}
	}
}

func TestAClientThatSaysNoMoreGetsItsAnswer(t *testing.T) {
	server := listening(t)
	go func() {
		if c, err := server.Accept(); err == nil {
			io.ReadAll(c)
			io.WriteString(c, "imok")
			c.Close()
		}
	}()
	p := proxyOf(listening(t), []string{server.Addr().String()})
	defer p.Close()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "ruok"); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); string(got) != "imok" || err != nil {
		t.Errorf("%q, %v, expected the answer", got, err)
	}
}
