package recipes

import (
	"cmp"
	"context"

	"github.com/go-zookeeper/zk"
)

// Semaphore hands out a number of leases: at most that many are held at a time. The protocol is that of Curator's
// InterProcessSemaphoreV2, except for the count.
//
// # Protocol
//
//  1. Wait at the gate, a [Lock] on dir/gate.
//  2. Create dir/leases/_c_GUID-lease-, ephemeral and sequential, and find it again
//     after a lost answer as Lock does.
//  3. List dir/leases. The lease is held if fewer znodes have lower numbers than there are leases, and its own znode
//     is there and belongs to the present session.
//  4. Otherwise list again and leave a watch on dir/leases. If there is still no lease, wait for the watch or a
//     change of the session's state. Then go to 3. With a single lease, watch the znode ahead instead, as Lock does.
//  5. Leave the gate in any case. If the session has ended meanwhile, give up the lease and start over.
//
// To release, delete its own znode.
//
// Step 3 alone ensures that there are no more holders than leases: if there were one more, the youngest would have
// had too many before it since its creation. The gate is for order and quiet: it lets clients in first come, first
// served, and of all that wait only the one inside watches the leases. If its session ends inside, the worst that
// happens is that another client comes in.
//
// # What the usual texts leave out
//
// A client that counts before it creates must trust that it is alone inside the gate, which it cannot know (mutant
// count-first; kazoo's Semaphore). A create that is retried after a lost answer may take two leases, one of them for
// nobody (mutant leaked-lease).
//
// All clients must be given the same number of leases. There is no fencing token: a resource cannot check the order
// of holders that hold at the same time.
//
// # Fan-out
//
// A release notifies the one client inside the gate, which goes on and lets one client in, with one more
// notification. A TryAcquire that fails notifies the client inside twice, in vain; with a single lease at most once.
//
// A Semaphore holds one lease at a time, is for one goroutine at a time, and is not re-entrant; see [Lock]. A client
// that needs several leases at once makes several objects, and all clients acquire them in the same order.
type Semaphore struct{ gate, lease place }

// NewSemaphore returns a semaphore with that many leases, at least 1, on the znode dir, which must not be "/" and
// should be used for nothing else.
func NewSemaphore(conn Conn, env Env, dir string, leases int, opt LockOptions) *Semaphore {
	one := session{conn, env}
	s := &Semaphore{
		gate:  newPlace(one, dir+"/gate", "lock", opt, func(word string) bool { return word == "lock" }),
		lease: newPlace(one, dir+"/leases", "lease", opt, func(word string) bool { return word == "lease" }),
	}
	s.lease.leases = leases
	return s
}

// Acquire waits until a lease is held. When ctx is done first it returns ctx's error and gives up its place in the
// background. Other errors are as for [Lock.Lock].
func (s *Semaphore) Acquire(ctx context.Context) (err error) {
	defer Forget(s.gate.env)(&s.gate.nodes, &s.gate.held, &s.gate.alarm, &s.lease.nodes, &s.lease.held, &s.lease.alarm,
		&err)
	if s.lease.held != nil {
		return ErrHeld
	}
	for {
		Keep(s.gate.env, &s.gate.alarm, &s.lease.alarm)
		if err := s.gate.acquire(ctx, true); err != nil {
			return err
		}
		err = s.lease.acquire(ctx, true)
		closed := s.gate.release(ctx)
		switch {
		case err != nil:
			return err
		case closed == nil && !s.lease.shaken():
			return nil
		}
		// The session may have ended while leaving the gate.
		if err := cmp.Or(closed, s.lease.release(ctx)); err != nil {
			return err
		}
	}
}

// TryAcquire takes a lease if one is free, even if others are on their way to it. It returns ErrLocked if all are held
// or awaited, and ErrHeld if the object already holds one.
func (s *Semaphore) TryAcquire(ctx context.Context) error { return s.lease.acquire(ctx, false) }

// Release gives up the lease, like [Lock.Unlock].
func (s *Semaphore) Release(ctx context.Context) error { return s.lease.release(ctx) }

// Lost is like [Lock.Lost], for the lease.
func (s *Semaphore) Lost() <-chan zk.Event { return s.lease.held.Lost() }

// Znodes returns the paths that the object answers for: its place at the gate and its
// lease.
func (s *Semaphore) Znodes() []string { return append(s.gate.znodes(), s.lease.znodes()...) }
