package store_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/kvtools/valkeyrie/store"
	"github.com/kvtools/zookeeper"

	"example.com/real"
	mended "example.com/real/store"
	"zksim/scenarios/zktest"
)

var ctx = context.Background()

// connect returns a store, which opens its own connection.
func connect(c *zktest.Cluster) store.Store {
	s, err := zookeeper.New(ctx, c.Addrs(), nil)
	if err != nil {
		panic(err)
	}
	return s
}

// puts lets a client call put until it succeeds, and then checks that the value is there.
func puts(put func(s store.Store, key string, value []byte) error) func(c *zktest.Cluster) {
	return func(c *zktest.Cluster) {
		s := connect(c)
		defer s.Close()
		value := []byte("10.0.0.1:80")
		for put(s, "services/web", value) != nil {
			time.Sleep(time.Second)
		}
		c.AtRest()
		pair, err := s.Get(ctx, "services/web", nil)
		switch {
		case err == nil && bytes.Equal(pair.Value, value):
			c.Sometimes("it is there", true)
		case err == nil:
			c.Errorf("Put was done, and the value is %q", pair.Value)
		default:
			c.Errorf("Put was done, and Get fails: %v", err)
		}
	}
}

func published(s store.Store, key string, value []byte) error { return s.Put(ctx, key, value, nil) }

// The request that creates the znode is lost, and Put drops the error: it reports success, but there is no znode.
func TestPutIsDoneAndIsNot(t *testing.T) {
	real.Broken(t, puts(published), zktest.Faults("lose-request=1@op=create"))
}

func TestTheMendedPutHolds(t *testing.T) {
	real.Holds(t, puts(mended.Put), zktest.Faults("lose-request=2 lose-reply=2 disconnect=2 stale-read=1 failover=1 "+
		"late-commit=1 elect=1"))
}

// follows lets one client watch a key while another sets it. At the end the first must have received the last value.
func follows(watch func(ctx context.Context, s store.Store, key string) (<-chan *store.KVPair, error)) func(
	c *zktest.Cluster) {
	return func(c *zktest.Cluster) {
		own, other := connect(c), connect(c)
		defer other.Close()
		defer own.Close()
		for mended.Put(other, "config", []byte("1")) != nil {
			time.Sleep(time.Second)
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		heard, err := watch(ctx, own, "config")
		for err != nil {
			c.Errorf("Watch fails: %v", err)
			return
		}
		last := make(chan string, 1)
		last <- ""
		go func() {
			for pair := range heard {
				<-last
				last <- string(pair.Value)
			}
		}()
		for _, value := range []string{"2", "3"} {
			time.Sleep(time.Second)
			for mended.Put(other, "config", []byte(value)) != nil {
				time.Sleep(time.Second)
			}
		}
		c.AtRest()
		if got := <-last; got != "3" {
			c.Errorf("the value is 3, and the watch has told %q last", got)
		}
	}
}

// The connection breaks, and the watch ends although its context is not done. Its user only sees that the channel is
// closed, and gets no error.
func TestAWatchEnds(t *testing.T) {
	real.Broken(t, follows(func(ctx context.Context, s store.Store, key string) (<-chan *store.KVPair, error) {
		return s.Watch(ctx, key, nil)
	}), zktest.Faults("disconnect=1"), zktest.Servers(1))
}

func TestTheMendedWatchHolds(t *testing.T) {
	real.Holds(t, follows(mended.Watch), zktest.Faults("lose-request=2 lose-reply=2 disconnect=2 stale-read=1 "+
		"failover=1 late-commit=1 elect=1"))
}
