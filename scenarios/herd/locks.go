package herd

import (
	"context"

	"zksim/model"
	"zksim/scenarios/engine"
)

// Locker is a lock, or whatever else is held by one client at a time.
type Locker interface {
	Lock(ctx context.Context) error
	Unlock(ctx context.Context) error
}

// Dir is the znode below which the recipe of Locks has its own znodes. It exists.
const Dir = "/herd"

// Locks is the variant in which all clients want a lock again and again. When one releases it, all others wait, and the
// one comes back when somebody else holds it. The znodes of the lock must be below p.Path(Dir), which exists; no other
// znode does.
func Locks[L Locker](name string, newLocker func(p *engine.Process) L) Variant {
	return Variant{Name: name, Doc: "clients wait for a lock", Goes: "a client gets the lock",
		Setup:  []model.Request{engine.Mkdir(Dir)},
		Events: func(n int) int { return min(100, 3+300/n) },
		Program: func(p *Process) {
			l := newLocker(p.Process)
			for p.Went(l.Lock(context.Background())) {
				p.Opening(0)
				p.Settle()
				p.Released()
				if err := l.Unlock(context.Background()); err != nil {
					p.Fail(err)
					return
				}
				p.pace.next(p) // so that who gives the lock up is not the one that gets it
			}
		}}
}
