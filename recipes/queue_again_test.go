package recipes_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

// unluckyTaker is a connection that has its client claim an item in a session that it has given up, without knowing,
// and lose that session when it acknowledges.
type unluckyTaker struct {
	recipes.Conn
	a      actor
	claims int
	acked  bool
	lapsed func()
}

func (u *unluckyTaker) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if len(ops) != 3 {
		return u.Conn.Multi(ops...)
	}
	switch _, claim := ops[0].(*zk.CheckVersionRequest); {
	case claim:
		switch u.claims++; u.claims {
		case 1:
			u.a.wanted = append(u.a.wanted, "disconnect c1", "lost-early c1")
		case 2:
			u.a.happen("late c1")
			u.a.wanted = append(u.a.wanted, "lose-reply c1")
		}
	case !u.acked:
		u.acked = true
		u.a.wanted = append(u.a.wanted, "lose-request c1")
	default:
		u.lapsed()
	}
	return u.Conn.Multi(ops...)
}

// A claim that was made late, in a session that its client has given up, is not that of the next session.
func TestAnItemThatWasClaimedLateIsNotTakenTwice(t *testing.T) {
	var lapse, taken, ended bool
	play(t, func(*sim.World) { lapse, taken, ended = false, false, false }, func(a actor) {
		a.idle, a.tardy = true, true
		a.avoid = func(name string) bool { return name == "lapse c1" && !lapse }
		a.is("Put", recipes.NewQueue(a.Conn, a.env, "/q", recipes.QueueOptions{}).Put(ctx, nil), nil)
		u := &unluckyTaker{Conn: a.Conn, a: a, lapsed: func() {
			if !lapse {
				lapse = true
				a.env.Sleep(ctx, time.Hour)
				a.until(func() bool { return taken })
			}
		}}
		_, err := recipes.NewQueue(u, a.env, "/q", recipes.QueueOptions{}).TryTake(ctx)
		if err == nil && taken {
			a.t.Error("an item was taken twice")
		}
		ended, lapse = true, true
	}, func(a actor) {
		a.until(func() bool { return lapse })
		q := recipes.NewQueue(a.Conn, a.env, "/q", recipes.QueueOptions{})
		for !taken && !ended {
			_, err := q.TryTake(ctx)
			taken = err == nil
		}
	})
}

// An item that is taken between the moments at which another consumer reads and claims it is not claimed.
func TestAnItemThatIsGoneByThenIsNotClaimed(t *testing.T) {
	play(t, nil, func(a actor) {
		q := recipes.NewQueue(a.Conn, a.env, "/q", recipes.QueueOptions{})
		b := recipes.NewQueue(&beforeMulti{a.Conn, 3, func() {
			_, err := q.TryTake(ctx)
			a.is("TryTake", err, nil)
		}}, a.env, "/q", recipes.QueueOptions{})
		a.is("Put", q.Put(ctx, nil), nil)
		_, err := b.TryClaim(ctx)
		a.is("TryClaim of what is gone by then", err, recipes.ErrEmpty)
	})
}
