//go:build !linux

package serve

import "net"

// shut makes a port refuse connections.
func shut(l net.Listener) error { return l.Close() }

// reopen makes a port that was shut accept connections again. Another process may have taken it meanwhile.
func reopen(l net.Listener) (net.Listener, error) { return net.Listen("tcp", l.Addr().String()) }

// finish ends what is sent on a connection that is then closed.
func finish(tcp *net.TCPConn) { tcp.CloseWrite() }
