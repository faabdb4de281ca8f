package recipes_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// losesDelete is a connection that loses the first delete before it is sent.
type losesDelete struct {
	recipes.Conn
	lost bool
}

func (l *losesDelete) Delete(path string, version int32) error {
	if !l.lost {
		l.lost = true
		return zk.ErrConnectionClosed
	}
	return l.Conn.Delete(path, version)
}

// What a TryLock that was refused has made is not in the way of the next one.
func TestTryLockIsNotRefusedByTheOneBefore(t *testing.T) {
	bothLocks(t, func(t *testing.T, lock maker) {
		h := play(t, nil, func(a actor) {
			other := a.lock(lock)
			env := &lateUndo{Env: a.env, a: a}
			l := lock(&losesDelete{Conn: a.Conn}, env, "/lock", recipes.LockOptions{})
			a.is("TryLock while it is held", l.TryLock(ctx), recipes.ErrLocked)
			a.is("Unlock by the other", other.Unlock(ctx), nil)
			a.is("TryLock while it is free", l.TryLock(ctx), nil)
			a.is("Unlock", l.Unlock(ctx), nil)
			env.release = true
		})
		nothingLeft(t, h)
	})
}
