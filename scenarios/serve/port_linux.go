package serve

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// shut makes a port refuse connections, and resets those that wait to be accepted. The socket keeps the port, so no
// other process gets it.
func shut(l net.Listener) error {
	return controlled(l, func(fd int) error {
		// While the socket does not listen, this option would let other sockets that set it take the port too.
		if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
		return os.NewSyscallError("shutdown", syscall.Shutdown(fd, syscall.SHUT_RD))
	})
}

// reopen makes a port that was shut accept connections again.
func reopen(l net.Listener) (net.Listener, error) {
	return l, controlled(l, func(fd int) error {
		if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
		return os.NewSyscallError("listen", syscall.Listen(fd, backlog))
	})
}

// backlog is how many connections may wait to be accepted. The system's own limit is lower.
const backlog = 1<<16 - 1

// finish ends what is sent on a connection that is then closed, and reads what has come in: a request that was not read
// turns the end into a reset, which loses the answers that are still on their way.
func finish(tcp *net.TCPConn) {
	tcp.CloseWrite()
	b := make([]byte, readLen)
	controlled(tcp, func(fd int) error {
		for range maxWaiting / readLen {
			if n, err := syscall.Read(fd, b); n <= 0 {
				return err
			}
		}
		return nil
	})
}

// controlled calls f with the file descriptor of a socket.
func controlled(s any, f func(fd int) error) error {
	sock, ok := s.(syscall.Conn)
	if !ok {
		return fmt.Errorf("%w: no socket of the system", errors.ErrUnsupported)
	}
	raw, err := sock.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}
