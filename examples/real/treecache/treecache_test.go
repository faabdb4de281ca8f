package treecache_test

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-kit/log"
	"github.com/go-zookeeper/zk"
	"github.com/prometheus/prometheus/util/treecache"

	"example.com/real"
	fixed "example.com/real/treecache"
	"zksim/scenarios/zktest"
)

var open = zk.WorldACL(zk.PermAll)

// must calls do until it succeeds, or fails because it was done already.
func must(do func() error) {
	for err := do(); err != nil && err != zk.ErrNodeExists && err != zk.ErrNoNode; err = do() {
		time.Sleep(time.Second)
	}
}

func create(conn *zk.Conn, path string) {
	must(func() error { _, err := conn.Create(path, []byte("x"), 0, open); return err })
}

// targets are the paths that exist according to the events of a cache.
type targets struct {
	mu    sync.Mutex
	known map[string]bool
}

func (x *targets) follow(events <-chan treecache.ZookeeperTreeCacheEvent) {
	for e := range events {
		x.mu.Lock()
		if e.Data != nil {
			x.known[e.Path] = true
		} else {
			delete(x.known, e.Path)
		}
		x.mu.Unlock()
	}
}

func (x *targets) list() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Sorted(maps.Keys(x.known))
}

// follower starts to follow the targets, and returns the function that stops it.
type follower func(conn *zk.Conn, events chan treecache.ZookeeperTreeCacheEvent) (stop func())

func published(conn *zk.Conn, events chan treecache.ZookeeperTreeCacheEvent) func() {
	return treecache.NewZookeeperTreeCache(conn, "/targets", events, log.NewNopLogger()).Stop
}

func mended(conn *zk.Conn, events chan treecache.ZookeeperTreeCacheEvent) func() {
	quit := make(chan struct{})
	go func() {
		defer close(events)
		fixed.Follow(conn, "/targets", events, quit)
	}()
	return func() { close(quit) }
}

// discovery lets a cache follow targets that come and go. At the end it compares the cache with what there is.
func discovery(follow follower) func(c *zktest.Cluster) {
	return func(c *zktest.Cluster) {
		own, other := real.Connect(c), real.Connect(c)
		create(other, "/targets")
		events := make(chan treecache.ZookeeperTreeCacheEvent)
		x := &targets{known: map[string]bool{}}
		go x.follow(events)
		defer follow(own, events)()
		for _, name := range []string{"a", "b", "c"} {
			create(other, "/targets/"+name)
			time.Sleep(5 * time.Second)
		}
		must(func() error { return other.Delete("/targets/a", -1) })
		c.AtRest()
		want := []string{"/targets", "/targets/b", "/targets/c"}
		if got := x.list(); !slices.Equal(got, want) {
			c.Errorf("there are %q, and the cache has told %q", want, got)
		}
	}
}

// reload stops a cache after a while, as a new configuration does. No goroutine of the cache may stay.
func reload(follow follower) func(c *zktest.Cluster) {
	return func(c *zktest.Cluster) {
		conn := real.Connect(c)
		create(conn, "/targets")
		events := make(chan treecache.ZookeeperTreeCacheEvent)
		go (&targets{known: map[string]bool{}}).follow(events)
		stop := follow(conn, events)
		time.Sleep(5 * time.Second)
		stop()
		time.Sleep(time.Minute)
	}
}

// The first read reports a target and fails at the next request. The target is gone when the tree is read again, but
// nothing remembers that it was reported. So it is never taken back.
func TestATargetStays(t *testing.T) {
	real.Broken(t, discovery(published), zktest.Faults("lose-request=2@client=c1"), zktest.Servers(1))
}

// The cache is stopped within ten seconds of an error. Then the timer of its next attempt fires, and its goroutine
// waits forever for a loop that has ended.
func TestAGoroutineStays(t *testing.T) {
	real.Broken(t, reload(published), zktest.Faults("disconnect=1"), zktest.Servers(1))
}

func TestTheMendedCacheHolds(t *testing.T) {
	const plan = "lose-request=2 lose-reply=2 disconnect=2 stale-read=1 failover=1 late-commit=1 elect=1"
	real.Holds(t, discovery(mended), zktest.Faults(plan))
	t.Run("reload", func(t *testing.T) { real.Holds(t, reload(mended), zktest.Faults(plan)) })
}
