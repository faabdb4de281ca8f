package serve

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// parks reports whether connections can be parked on this system.
const parks = true

// poller is an epoll instance. Go's own poller waits for it, so that no thread does.
type poller struct {
	file *os.File
	raw  syscall.RawConn
	fd   int
}

func newPoller() (*poller, error) {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil { // so that Go's poller takes it
		syscall.Close(fd)
		return nil, fmt.Errorf("serve: %w", err)
	}
	p := &poller{file: os.NewFile(uintptr(fd), "epoll"), fd: fd}
	if p.raw, err = p.file.SyscallConn(); err != nil {
		p.file.Close()
		return nil, fmt.Errorf("serve: %w", err)
	}
	return p, nil
}

// arm makes run report once when the connection has something to read or has ended. It records the file descriptor.
func (p *poller) arm(c *conn) bool {
	sock, ok := c.sock.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sock.SyscallConn()
	if err != nil {
		return false
	}
	armed := false
	raw.Control(func(fd uintptr) {
		event := syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLRDHUP | syscall.EPOLLONESHOT, Fd: int32(fd)}
		op := syscall.EPOLL_CTL_ADD
		if c.fd > 0 {
			op = syscall.EPOLL_CTL_MOD
		}
		if armed = syscall.EpollCtl(p.fd, op, int(fd), &event) == nil; armed {
			c.fd = int32(fd)
		}
	})
	return armed
}

// run calls ready for each file descriptor that was armed and has something to read, until the poller is closed.
func (p *poller) run(ready func(fd int)) {
	events := make([]syscall.EpollEvent, 128)
	p.raw.Read(func(fd uintptr) bool {
		for {
			n, err := syscall.EpollWait(int(fd), events, 0)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if n <= 0 {
				return false // wait until there is more
			}
			for _, event := range events[:n] {
				ready(int(event.Fd))
			}
		}
	})
}

func (p *poller) close() { p.file.Close() }
