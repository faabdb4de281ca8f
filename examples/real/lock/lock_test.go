package lock_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"example.com/real"
	"example.com/real/lock"
	"zksim/scenarios/zktest"
)

var open = zk.WorldACL(zk.PermAll)

// locker is the common interface of the published and the mended lock.
type locker interface {
	Lock() error
	Unlock() error
}

func published(conn *zk.Conn) locker { return zk.NewLock(conn, "/jobs/lock", open) }

func mended(conn *zk.Conn) locker { return lock.NewMended(conn, "/jobs/lock", open) }

// workers lets each of two clients do a job under a lock. A client calls Lock until it returns no error, and Unlock
// until unlocked accepts the result.
func workers(newLock func(*zk.Conn) locker, unlocked func(error) bool) func(c *zktest.Cluster) {
	return func(c *zktest.Cluster) {
		var held atomic.Int32
		c.Always("one holder", func() bool { return held.Load() <= 1 })
		done := make(chan bool)
		for range 2 {
			conn := real.Connect(c)
			go func() {
				defer func() { done <- true }()
				l := newLock(conn)
				for l.Lock() != nil {
					time.Sleep(time.Second)
				}
				held.Add(1)
				c.Sometimes("held", true)
				time.Sleep(time.Second)
				held.Add(-1)
				for tries := 1; !unlocked(l.Unlock()); tries++ {
					if tries == 100 {
						c.Errorf("Unlock fails again and again")
						break
					}
					time.Sleep(time.Second)
				}
			}()
		}
		<-done
		<-done
	}
}

func noError(err error) bool { return err == nil }

// unlockedOrGone also accepts the error that the znode does not exist, as a careful user of zk.Lock does.
func unlockedOrGone(err error) bool { return err == nil || err == zk.ErrNoNode }

// The connection breaks during the listing after the create, and Lock returns. Nobody knows the znode any more, and
// everyone waits behind it, even the next Lock of the same client.
func TestTheLockLeavesAZnode(t *testing.T) {
	real.Broken(t, workers(published, noError), zktest.Faults("lose-request=1@op=children"), zktest.Servers(1))
}

// The reply to the create is lost, and the client reconnects to a server that lags. There the znode is not listed, or
// its folder does not exist. So the lock creates another znode, which waits for the first one.
func TestTheLockWaitsForItself(t *testing.T) {
	real.Broken(t, workers(published, unlockedOrGone), zktest.Servers(3),
		zktest.Faults("lose-reply=1@op=create,path=/jobs/lock/ stale-read=1 failover=1"))
}

// The reply to the delete is lost. Every later delete finds no znode and fails, so the lock counts as held forever.
func TestTheLockCannotBeUnlocked(t *testing.T) {
	real.Broken(t, workers(published, noError), zktest.Faults("lose-reply=1@op=delete"), zktest.Servers(1))
}

// The plan ends no session, because a holder would hear of that too late for this test.
func TestTheMendedLockHolds(t *testing.T) {
	real.Holds(t, workers(mended, noError), zktest.Faults("lose-request=2 lose-reply=2 disconnect=2 watch-delay=1 "+
		"stale-read=1 failover=1 late-commit=1 elect=1"))
}
