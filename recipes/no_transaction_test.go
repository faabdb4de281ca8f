package recipes_test

import (
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// A znode that is no transaction has no votes, of which none is missing and none is "no".
func TestWhatIsNoTransactionIsNotCommitted(t *testing.T) {
	allForms(t, func(t *testing.T, form recipes.Form) {
		play(t, nil, func(a actor) {
			a.is("mkdir", errors.Join(a.mkdir("/app"), a.mkdir("/app/tx")), nil)
			for _, site := range []string{"", "a"} {
				x := a.transaction(form, site)
				d, err := x.Outcome(ctx)
				a.is("Outcome", err, zk.ErrNoNode)
				e, err := x.Finish(ctx)
				a.is("Finish", err, zk.ErrNoNode)
				if d != recipes.Undecided || e != recipes.Undecided {
					a.t.Errorf("%v and %v", d, e)
				}
			}
			if names, _, err := a.Children("/app/tx"); len(names) > 0 || err != nil {
				a.t.Errorf("made %v, %v", names, err)
			}
		})
	})
}

// Nor is a transaction of which somebody has deleted the sites.
func TestATransactionWithoutSitesIsAborted(t *testing.T) {
	play(t, nil, func(a actor) {
		a.is("mkdir", a.mkdir("/app"), nil)
		c := a.transaction(recipes.AllSites, "")
		a.is("Begin", c.Begin(ctx, nil, "a"), nil)
		a.is("delete", a.Delete("/app/tx/site-a", -1), nil)
		a.decides(recipes.Aborted, c.Outcome)
	})
}
