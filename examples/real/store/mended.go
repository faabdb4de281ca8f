// Package store works around the bugs that the test finds in the ZooKeeper store of kvtools.
package store

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/kvtools/valkeyrie/store"
)

// Put stores a value, reads it back, and fails if it is not there. The store's own Put reports no error when
// it fails to create a key.
func Put(s store.Store, key string, value []byte) error {
	ctx := context.Background()
	if err := s.Put(ctx, key, value, nil); err != nil {
		return err
	}
	pair, err := s.Get(ctx, key, nil)
	if err == nil && !bytes.Equal(pair.Value, value) {
		err = fmt.Errorf("%s is %q", key, pair.Value)
	}
	return err
}

// pause is the wait before Watch starts the next watch.
const pause = time.Second

// Watch sends the values of a key until ctx is done. The store's own watch ends at the first error. Then Watch starts
// another one, which first sends the value that the key has by then.
func Watch(ctx context.Context, s store.Store, key string) (<-chan *store.KVPair, error) {
	values := make(chan *store.KVPair)
	go func() {
		defer close(values)
		for ctx.Err() == nil {
			inner, err := s.Watch(ctx, key, nil)
			if err == nil {
				for pair := range inner {
					values <- pair
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}()
	return values, nil
}
