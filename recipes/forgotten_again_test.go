package recipes_test

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

// While a site that waits has no connection, another object of the site forgets the transaction, and so do all others.
// Nothing is left then that could fire a watch.
func TestASiteWaitsForNoTransactionThatAllHaveForgotten(t *testing.T) {
	allForms(t, func(t *testing.T, form recipes.Form) {
		var cut, over bool
		play(t, func(*sim.World) { cut, over = false, false }, func(a actor) {
			c := a.transaction(form, "")
			a.is("mkdir", a.mkdir("/app"), nil)
			a.is("Begin", c.Begin(ctx, nil, "a", "b"), nil)
			a.until(func() bool { return cut })
			for _, site := range []string{"b", "a"} {
				s := a.transaction(form, site)
				a.is("Vote", s.Vote(ctx, true), nil)
				a.decides(recipes.Committed, c.Finish)
				a.decides(recipes.Committed, s.Finish)
				a.is("Forget", s.Forget(ctx), nil)
			}
			a.is("Forget", c.Forget(ctx), nil)
			over = true
		}, func(a actor) {
			s := a.transaction(form, "a")
			a.until(func() bool { exists, _, err := a.Exists("/app/tx"); return exists && err == nil })
			_, err := s.Join(ctx)
			a.is("Join", err, nil)
			a.is("Vote", s.Vote(ctx, true), nil)
			a.avoid = func(name string) bool {
				return name == "lapse c2" || cut && !over && strings.HasPrefix(name, "connect c2")
			}
			a.env.Go("cut", func() {
				for range a.random.IntN(40) {
					a.env.Now()
				}
				a.happen("disconnect c2")
				cut = true
			})
			if d, err := s.Outcome(ctx); err != zk.ErrNoNode && (d != recipes.Committed || err != nil) {
				a.t.Errorf("Outcome: %v, %v", d, err)
			}
		})
	})
}
