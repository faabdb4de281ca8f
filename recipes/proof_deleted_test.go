package recipes_test

import (
	"testing"

	"zksim/recipes"
)

// What can be told to be one's own only by a proof stays until the session ends where somebody has deleted that.
func TestWithoutItsProofWhatAnObjectHasStaysUntilTheSessionEnds(t *testing.T) {
	stays := func(a actor, proof, path string, gives func() error, want error) {
		a.t.Helper()
		a.is("delete "+proof, a.Delete(proof, -1), nil)
		a.is("give up "+path, gives(), want)
		if ok, stat, err := a.Exists(path); !ok || err != nil || stat.EphemeralOwner != a.SessionID() {
			a.t.Errorf("%s: %v, %+v, %v", path, ok, stat, err)
		}
	}
	play(t, nil, func(a actor) {
		l := recipes.NewSingleNodeLock(a, a.env, "/lock", recipes.LockOptions{})
		a.is("Lock", l.Lock(ctx), nil)
		stays(a, l.Znodes()[1], "/lock/lock", func() error { return l.Unlock(ctx) }, nil)
		a.is("TryLock", l.TryLock(ctx), recipes.ErrLocked)

		g := recipes.NewGroup(a, a.env, "/group", recipes.GroupOptions{})
		m, err := g.Join(ctx, "me", nil)
		a.is("Join", err, nil)
		names, _, err := a.Children("/group/_owners")
		a.is("list", err, nil)
		stays(a, "/group/_owners/"+names[0], "/group/me", func() error { return m.Leave(ctx) }, nil)

		q := recipes.NewQueue(a, a.env, "/queue", recipes.QueueOptions{})
		claimed := func(settle func(i *recipes.QueueItem) error, want error) {
			a.is("Put", q.Put(ctx, nil), nil)
			i, err := q.TryClaim(ctx)
			a.is("TryClaim", err, nil)
			stays(a, i.Znodes()[1], i.Znodes()[0], func() error { return settle(i) }, want)
			_, err = q.TryClaim(ctx)
			a.is("TryClaim again", err, recipes.ErrEmpty)
		}
		claimed(func(i *recipes.QueueItem) error { return i.Ack(ctx) }, recipes.ErrClaimLost)
		claimed(func(i *recipes.QueueItem) error { return i.Return(ctx) }, nil)
	})
}
