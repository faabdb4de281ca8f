package live

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

func TestAFailedWriteOfAnyConnectionIsANetError(t *testing.T) {
	here, there := net.Pipe()
	there.Close()
	l := newLink(func(context.Context, string, string) (net.Conn, error) { return here, nil })
	sock, err := l.dial("tcp", "x", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_, err = sock.Write([]byte("x"))
	if network := net.Error(nil); !errors.As(err, &network) || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%T: %v", err, err)
	}
}
