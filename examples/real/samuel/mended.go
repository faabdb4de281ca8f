// Package samuel works around a bug that the test finds in the lock of valkeyrie, which uses
// github.com/samuel/go-zookeeper. The successor of that module is go-zookeeper, so go.mod replaces it by aliases of
// its successor, in dialed.
package samuel

import (
	"time"

	"github.com/abronan/valkeyrie/store"
)

// pause is the wait before Lock tries Unlock again.
const pause = time.Second

// Lock takes a lock. When the Lock of the store fails, it may still hold the lock, so that nobody can take it any
// more, not even the same object. This function then releases it. It mends nothing else: the lock of the client
// library below has bugs of its own.
func Lock(l store.Locker, stop chan struct{}) (<-chan struct{}, error) {
	lost, err := l.Lock(stop)
	if err == nil {
		return lost, nil
	}
	for range 10 {
		if l.Unlock() == nil {
			break
		}
		time.Sleep(pause) // Unlock also fails if the lock was not taken
	}
	return nil, err
}
