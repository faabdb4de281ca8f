package live

import (
	"context"
	"math/rand"
	"net"
	"sync"

	"github.com/go-zookeeper/zk"
)

// hosts has the servers of a Client; it is a zk.HostProvider. go-zookeeper's own provider looks up all names at the
// start, and fails if one is unknown at that moment, like the name of a stopped server in a cluster that names only
// running ones. Here such a name stays a name: each dial looks it up again, and until it is known it counts as a
// server that does not answer.
type hosts struct {
	ctx context.Context // of the lookups in Init

	mu        sync.Mutex
	addrs     []string // in random order, so that clients do not all go to one
	next      int      // index in addrs
	connected int      // index of the last address that gave a connection; -1 before the first Next
}

var _ zk.HostProvider = (*hosts)(nil)

// Init fails only for an invalid address.
func (h *hosts) Init(servers []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.addrs, h.next, h.connected = nil, 0, -1
	for _, server := range servers {
		host, port, err := net.SplitHostPort(server)
		if err == nil && host == "" { // a dial would take it for this machine
			err = &net.AddrError{Err: "no host in address", Addr: server}
		}
		if err == nil {
			err = validPort(port, server)
		}
		if err != nil {
			return err
		}
		found, err := net.DefaultResolver.LookupHost(h.ctx, host)
		if err != nil {
			found = []string{host}
		}
		for _, addr := range found {
			h.addrs = append(h.addrs, net.JoinHostPort(addr, port))
		}
	}
	for i := len(h.addrs) - 1; i > 0; i-- { // draws like go-zookeeper, so that a run with a seed for it stays the same
		j := rand.Intn(i + 1)
		h.addrs[i], h.addrs[j] = h.addrs[j], h.addrs[i]
	}
	return nil
}

// validPort returns an error if no dial could ever find the port of an address. An empty port would be 0.
func validPort(port, address string) error {
	n, err := net.LookupPort("tcp", port)
	if err == nil && n == 0 {
		err = &net.AddrError{Err: "no port in address", Addr: address}
	}
	return err
}

func (h *hosts) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.addrs)
}

// Next returns the address to dial now, and whether all were dialed since the last connection: then go-zookeeper
// waits before it begins again.
func (h *hosts) Next() (addr string, again bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.next % len(h.addrs)
	h.next = i + 1
	again = i == h.connected
	h.connected = max(h.connected, 0)
	return h.addrs[i], again
}

// Connected says that the address that Next returned last gave a connection.
func (h *hosts) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.connected = h.next - 1
}
