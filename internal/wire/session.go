package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"zksim/model"
	"zksim/model/jute"
)

// errRefused is the answer for a session that the server does not know, or does not know yet.
var errRefused = errors.New("wire: the session is refused")

// CloseSession ends a session over a connection of its own: the client of the session learns of it from its server. The
// timeout is in milliseconds.
func CloseSession(ctx context.Context, addr string, session int64, password []byte, timeout int32) error {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	hello := jute.ConnectRequest{Timeout: timeout, Session: session, Password: password}
	if _, err := c.Write(framed(nil, hello.Append(nil))); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	packet, err := readPacket(c)
	if err != nil {
		return err
	}
	if parseWelcome(packet).Session != session {
		return errRefused
	}
	if _, err := c.Write(framed(nil, jute.AppendRequest(nil, 1, &model.Request{Op: model.OpCloseSession}))); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	_, err = readPacket(c)
	return err
}

// readPacket reads the next packet. Nothing may follow it.
func readPacket(r io.Reader) (packet []byte, err error) {
	f := jute.Frames{Max: model.MaxPacketLen}
	for b := make([]byte, 512); packet == nil; {
		n, err := r.Read(b)
		if err == nil {
			err = f.Feed(b[:n], func(p []byte) error { packet = bytes.Clone(p); return nil })
		}
		if err != nil {
			return nil, fmt.Errorf("wire: %w", err)
		}
	}
	return packet, nil
}
