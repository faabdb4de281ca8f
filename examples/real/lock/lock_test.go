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

// locker is what both locks have.
type locker interface {
	Lock() error
	Unlock() error
}

func published(conn *zk.Conn) locker { return zk.NewLock(conn, "/jobs/lock", open) }

func mended(conn *zk.Conn) locker { return lock.NewMended(conn, "/jobs/lock", open) }

// workers has two clients do a job each under a lock. An error of Lock is tried again; unlocked says which ones of
// Unlock are not.
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

// unlockedOrGone takes it for success that there is no znode any more, as a wary user of zk.Lock does.
func unlockedOrGone(err error) bool { return err == nil || err == zk.ErrNoNode }

// The listing after the create fails with its connection, and Lock returns. Nobody knows the znode any more, and all
// wait for it, the next Lock of the same client too.
func TestTheLockLeavesAZnode(t *testing.T) {
	real.Broken(t, workers(published, noError), zktest.Faults("lose-request=1@op=children"), zktest.Servers(1))
}

// The reply to the create is lost, and the client comes back to a server that lags. There the znode is not listed, or
// its folder does not exist, so the lock makes another one, and then waits for the first.
func TestTheLockWaitsForItself(t *testing.T) {
	real.Broken(t, workers(published, unlockedOrGone), zktest.Servers(3),
		zktest.Faults("lose-reply=1@op=create,path=/jobs/lock/ stale-read=1 failover=1"))
}

// The reply to the delete is lost. Each further one finds no znode, fails, and leaves the lock for held.
func TestTheLockCannotBeUnlocked(t *testing.T) {
	real.Broken(t, workers(published, noError), zktest.Faults("lose-reply=1@op=delete"), zktest.Servers(1))
}

// Without faults that end a session, since a holder learns of that too late for this test.
func TestTheMendedLockHolds(t *testing.T) {
	real.Holds(t, workers(mended, noError), zktest.Faults("lose-request=2 lose-reply=2 disconnect=2 watch-delay=1 "+
		"stale-read=1 failover=1 late-commit=1 elect=1"))
}
