package conform

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"testing/iotest"
	"time"

	"zksim/model"
)

// scripted is a connection on which the server has said all it will.
type scripted struct {
	net.Conn
	in io.Reader
}

func (s scripted) Read(b []byte) (int, error)  { return s.in.Read(b) }
func (s scripted) Write(b []byte) (int, error) { return len(b), nil }

func ints(list ...uint32) []byte {
	var b []byte
	for _, v := range list {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

func frame(body ...[]byte) []byte {
	b := bytes.Join(body, nil)
	return append(ints(uint32(len(b))), b...)
}

func TestATapUnderstandsWhatPassesHoweverItIsCut(t *testing.T) {
	secret := []byte("0123456789abcdef")
	minusTwo := ^uint32(1)
	stream := bytes.Join([][]byte{
		frame(ints(0, 10_000, 7, 8, 16), secret),
		frame(ints(3, 0, 0, 0), bytes.Repeat([]byte("long"), 50)), // SetWatches, although nobody answers it so
		frame(ints(minusTwo, 0, 0, 0)),
		frame(ints(9, 0, 0, 0)), // some other answer
		frame(nil),
		frame(ints(4, 0, 0, 0)),
	}, nil)
	for name, in := range map[string]io.Reader{
		"whole": bytes.NewReader(stream), "byte by byte": iotest.OneByteReader(bytes.NewReader(stream)),
		"in halves": iotest.HalfReader(bytes.NewReader(stream)),
	} {
		w := newWire("")
		tp := &tap{Conn: scripted{in: in}, wire: w}
		w.sock = tp
		tp.Write(frame(ints(0, uint32(model.OpSetWatches), uint32(model.OpSetWatches)))) // the handshake has no header
		tp.Write(frame(ints(3, uint32(model.OpSetWatches))))
		tp.Write(frame(ints(4, uint32(model.OpAuth))))
		tp.Write(pingFrame)
		if got, err := io.ReadAll(tp); err != nil || !bytes.Equal(got, stream) {
			t.Errorf("%s: passed on %d of %d bytes, %v", name, len(got), len(stream), err)
		}
		if id, password := w.identity(); id != 7<<32+8 || !bytes.Equal(password, secret) {
			t.Errorf("%s: session %x, %q", name, id, password)
		}
		if tp.pings != 1 || tp.pongs != 1 || tp.rearmed != 1 || tp.auths != 1 {
			t.Errorf("%s: %d pings, %d answers, %d SetWatches, %d identities", name, tp.pings, tp.pongs, tp.rearmed, tp.auths)
		}
		if err := w.resumed(t.Context(), 1, true); err != nil {
			t.Error(err)
		}
	}
}

func TestAHeldWireLetsNothingThrough(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w := newWire("127.0.0.1:1")
	w.hold()
	dialed := make(chan error)
	go func() {
		sock, err := w.dial(t.Context(), "tcp", "nowhere:1")
		if err == nil {
			sock.Close()
		}
		dialed <- err
	}()
	if err := w.lost(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-dialed:
		t.Fatalf("the dial ended: %v", err)
	default:
	}
	w.allow(l.Addr().String())
	if err := <-dialed; err != nil {
		t.Error(err)
	}
	w.hold()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := w.dial(ctx, "tcp", "nowhere:1"); err != context.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
}
