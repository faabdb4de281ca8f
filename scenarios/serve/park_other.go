//go:build !linux

package serve

import "errors"

// parks reports whether connections can be parked on this system.
const parks = false

// poller does not exist on this system.
type poller struct{}

func newPoller() (*poller, error) { return nil, errors.ErrUnsupported }
func (*poller) arm(*conn) bool    { return false }
func (*poller) run(func(fd int))  {}
func (*poller) close()            {}
