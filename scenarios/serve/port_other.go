//go:build !linux

package serve

import "net"

// shut has a port refuse connections.
func shut(l net.Listener) error { return l.Close() }

// reopen has a port that was shut accept connections again. Meanwhile somebody else may have taken it.
func reopen(l net.Listener) (net.Listener, error) { return net.Listen("tcp", l.Addr().String()) }
