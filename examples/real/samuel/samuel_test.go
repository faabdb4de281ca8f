package samuel_test

import (
	"testing"
	"time"

	"github.com/abronan/valkeyrie/store"
	"github.com/abronan/valkeyrie/store/zookeeper"

	"example.com/real"
	"example.com/real/samuel"
	"zksim/scenarios/zktest"
)

type locking func(l store.Locker, stop chan struct{}) (<-chan struct{}, error)

// jobs lets each of two clients do a job under a lock of the store. A client tries again after an error.
func jobs(lock locking) func(c *zktest.Cluster) {
	return func(c *zktest.Cluster) {
		done := make(chan bool)
		for range 2 {
			go func() {
				defer func() { done <- true }()
				job(c, lock)
			}()
		}
		<-done
		<-done
	}
}

func job(c *zktest.Cluster, lock locking) {
	s, err := zookeeper.New(c.Addrs(), nil)
	if err != nil {
		panic(err)
	}
	defer s.Close()
	l, err := s.NewLock("jobs/lock", &store.LockOptions{Value: []byte("mine")})
	if err != nil {
		panic(err)
	}
	stop := make(chan struct{})
	defer close(stop)
	for tries := 0; ; tries++ {
		if _, err = lock(l, stop); err == nil {
			break
		}
		if tries == 100 {
			c.Errorf("Lock fails again and again: %v", err)
			return
		}
		time.Sleep(time.Second)
	}
	c.Sometimes("held", true)
	time.Sleep(time.Second)
	for l.Unlock() != nil {
		time.Sleep(time.Second)
	}
}

func published(l store.Locker, stop chan struct{}) (<-chan struct{}, error) { return l.Lock(stop) }

// Once it has the lock, the store writes a value. If that fails, Lock fails too, but keeps the lock. Lock then fails
// each time, and nobody else gets the lock.
func TestALockThatFailsIsHeld(t *testing.T) {
	real.Broken(t, jobs(published), zktest.Faults("lose-request=1@op=set"), zktest.Servers(1))
}

// The plan has only faults that strike that write.
func TestTheMendedLockHolds(t *testing.T) {
	real.Holds(t, jobs(samuel.Lock), zktest.Faults("lose-request=2@op=set lose-reply=2@op=set"))
}
