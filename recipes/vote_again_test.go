package recipes_test

import (
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

// earlyVoter is a connection of a site that votes before the transaction has begun, in a session that it then gives up.
type earlyVoter struct {
	recipes.Conn
	a     actor
	votes int
}

func (v *earlyVoter) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if len(ops) == 1 {
		if v.votes++; v.votes == 1 {
			v.a.wanted = append(v.a.wanted, "disconnect c1", "lost-early c1")
		}
	}
	return v.Conn.Multi(ops...)
}

// A vote that found no transaction does not count when it is executed late, or nobody says so.
func TestAVoteThatFoundNoTransactionDoesNotCountLate(t *testing.T) {
	late := 0
	play(t, func(*sim.World) {}, func(a actor) {
		a.idle, a.tardy = true, true
		a.avoid = func(name string) bool { return name == "lapse c1" }
		a.is("mkdir", a.mkdir("/app"), nil)
		c := a.transaction(recipes.AllSites, "")
		s := recipes.NewTransaction(&earlyVoter{Conn: a.Conn, a: a}, a.env, "/app/tx",
			recipes.TransactionOptions{Site: "a"})
		err := s.Vote(ctx, true)
		if !errors.Is(err, zk.ErrNoNode) {
			a.t.Errorf("Vote: %v", err)
		}
		a.is("Begin", c.Begin(ctx, nil, "a"), nil)
		if canHappen(a.world, "late c1") {
			late++
			a.happen("late c1")
		}
		d, ended := c.Finish(ctx)
		a.is("Finish", ended, nil)
		if d != recipes.Aborted && !errors.Is(err, recipes.ErrUnknownOutcome) {
			a.t.Errorf("%v after a Vote that ended with %v", d, err)
		}
	})
	if late == 0 {
		t.Error("nothing was late")
	}
}
