// Package samuel has what mends a bug that the test finds in the lock of valkeyrie, which uses
// github.com/samuel/go-zookeeper. That module is continued by go-zookeeper: go.mod replaces it by aliases of its
// successor, in dialed.
package samuel

import (
	"time"

	"github.com/abronan/valkeyrie/store"
)

// pause is how long Lock waits before it tries again to give a lock up.
const pause = time.Second

// Lock takes a lock. A Lock of the store that fails may hold what it has locked, so that nobody gets it any more, not
// even itself; this one gives that up. Nothing else is mended: the lock of the client library, below it, has bugs of
// its own.
func Lock(l store.Locker, stop chan struct{}) (<-chan struct{}, error) {
	lost, err := l.Lock(stop)
	if err == nil {
		return lost, nil
	}
	for range 10 {
		if l.Unlock() == nil {
			break
		}
		time.Sleep(pause) // or it was not locked
	}
	return nil, err
}
