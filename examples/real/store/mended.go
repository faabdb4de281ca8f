// Package store has what mends the bugs that the test finds in the ZooKeeper store of kvtools.
package store

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/kvtools/valkeyrie/store"
)

// Put puts a value, and fails if it cannot see it then: what Put of the store returns says nothing of a key that is
// new.
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

// pause is how long Watch waits before it tries again.
const pause = time.Second

// Watch tells the values of a key until ctx is done. A watch of the store ends at the first error; this one begins
// another, which tells the value as it is then.
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
