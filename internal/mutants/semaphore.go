package mutants

import (
	"cmp"
	"context"

	"zksim/recipes"
)

// The flaws of semaphores.
const (
	// CountFirst creates its lease after it has counted fewer leases than there may be, and does not count again. Two
	// clients that do so at once make one too many: a TryAcquire does not go through the gate, and a client may have
	// lost the gate without knowing it.
	CountFirst Flaw = 111
	// LeakedLease retries a create of a lease whose answer was lost.
	LeakedLease Flaw = 112
	// GoneLease does not look at its lease again after it has left the gate, which may take longer than the session.
	GoneLease Flaw = 117
	// NearestLease watches the nearest of the leases ahead of its own. When another one becomes free, it sleeps on.
	NearestLease Flaw = 230
)

// Semaphore is a semaphore with one flaw. Otherwise it follows the protocol of recipes.Semaphore in the plainest way.
// Clients queue for the lease.
type Semaphore struct {
	flawed
	gate   *Lock
	leases int
}

// NewSemaphore returns a semaphore on dir, with that many leases and the given flaw.
func NewSemaphore(conn recipes.Conn, env recipes.Env, dir string, leases int, flaw Flaw) *Semaphore {
	s := &Semaphore{flawed: *NewLock(conn, env, dir+"/leases", flaw), gate: NewLock(conn, env, dir+"/gate", 0),
		leases: leases}
	s.order, s.any = s.ranked, flaw != NearestLease
	return s
}

// Acquire waits until a lease is held.
func (s *Semaphore) Acquire(ctx context.Context) error {
	for {
		if err := s.gate.Lock(ctx); err != nil {
			return err
		}
		change := s.env.SessionEvents()
		err := s.acquire(ctx, true)
		closed := s.gate.Unlock(context.Background())
		if err != nil || closed != nil || len(change) == 0 || s.flaw == GoneLease {
			return cmp.Or(err, closed)
		}
		if err := s.Release(ctx); err != nil {
			return err
		}
	}
}

// TryAcquire returns recipes.ErrLocked when no lease is free.
func (s *Semaphore) TryAcquire(ctx context.Context) error { return s.acquire(ctx, false) }

func (s *Semaphore) acquire(ctx context.Context, wait bool) error {
	if s.flaw != CountFirst {
		return s.flawed.acquire(ctx, wait)
	}
	for { // without faults
		names, _, event, err := s.conn.ChildrenW(s.dir)
		if err != nil {
			return err
		}
		if len(names) < s.leases {
			if s.node, err = s.create(ctx, s.env.UUID()); err != nil {
				return err
			}
			return s.take(s.env.SessionEvents())
		}
		if !wait {
			return recipes.ErrLocked
		}
		if _, _, err := s.env.Await(ctx, event); err != nil {
			return err
		}
	}
}

// ranked is the order of the leases: nobody is ahead as long as there are enough.
func (s *Semaphore) ranked(names []string) (first, ahead string, listed bool) {
	first, ahead, listed = s.exclusive(names)
	before := 0
	for _, name := range names {
		if s.less(name, s.node) {
			before++
		}
	}
	if before < s.leases {
		ahead = ""
	}
	return first, ahead, listed
}

// Release gives the lease up.
func (s *Semaphore) Release(ctx context.Context) error { return s.Unlock(ctx) }

// Znodes returns the paths that the object knows of.
func (s *Semaphore) Znodes() []string { return append(s.gate.Znodes(), s.flawed.Znodes()...) }
