package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"zksim/model"
)

func jute32(b []byte, x int32) []byte { return binary.BigEndian.AppendUint32(b, uint32(x)) }
func jute64(b []byte, x int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(x)) }

// errRefused is the answer to a session that the server does not know, or not yet.
var errRefused = errors.New("wire: the session is refused")

// CloseSession ends a session by a connection of its own, whoever has it: its client learns of it from its server. The
// timeout is in milliseconds.
func CloseSession(ctx context.Context, addr string, session int64, password []byte, timeout int32) error {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	hello := jute32(jute64(jute32(jute64(jute32(nil, 0), 0), timeout), session), int32(len(password)))
	hello = append(append(hello, password...), 0)
	if _, err := c.Write(framed(nil, hello)); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	packet, err := readPacket(c)
	if err != nil {
		return err
	}
	if parseWelcome(packet).Session != session {
		return errRefused
	}
	if _, err := c.Write(framed(nil, jute32(jute32(nil, 1), int32(model.OpCloseSession)))); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	_, err = readPacket(c)
	return err
}

// maxPacket bounds what a server is believed to say.
const maxPacket = 1 << 20

func readPacket(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxPacket {
		return nil, fmt.Errorf("wire: a packet of %d bytes", n)
	}
	packet := make([]byte, n)
	if _, err := io.ReadFull(r, packet); err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	return packet, nil
}
