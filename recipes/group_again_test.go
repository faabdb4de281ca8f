package recipes_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Of two memberships of one client by one name only one is joined, whichever had it in the session before.
func TestOnlyOneOfTwoMembershipsIsJoined(t *testing.T) {
	won := 0
	play(t, nil, func(a actor) {
		a.idle = true
		joined := true
		m := a.join(recipes.GroupOptions{Changed: func(_ string, j bool) { joined = j }}, "m")
		a.happen("learn-late c1")
		n, err := a.group(recipes.GroupOptions{}).Join(ctx, "m", []byte("other"))
		for err != nil && !joined { // the first one is about to join again
			n, err = a.group(recipes.GroupOptions{}).Join(ctx, "m", []byte("other"))
		}
		if err == nil {
			won++
			a.env.Sleep(ctx, time.Minute)
			if joined {
				a.t.Errorf("both are joined; there is %s", a.names())
			}
			a.is("Leave", n.Leave(ctx), nil)
			a.until(func() bool { return joined })
		}
		a.is("Leave", m.Leave(ctx), nil)
	})
	if won == 0 {
		t.Error("the second one has never joined")
	}
}

// latecomer is a connection by which a member joins for the second time in a session that the client then gives up, so
// that the request is executed before that in the next session.
type latecomer struct {
	recipes.Conn
	a     actor
	joins int // 0: not yet counted
}

func (l *latecomer) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if len(ops) > 0 {
		if _, ok := ops[0].(*zk.CreateRequest); ok {
			if l.joins > 0 {
				l.joins++
			}
			switch l.joins {
			case 2:
				l.a.wanted = append(l.a.wanted, "disconnect c1", "lost-early c1")
			case 3:
				l.a.happen("late c1")
			}
		}
	}
	return l.Conn.Multi(ops...)
}

// A request to join again may be executed late, in a session that its client has given up. A member that leaves
// then removes what the request has made.
func TestWhoLeavesTakesAlongWhatALateRequestHasMade(t *testing.T) {
	play(t, nil, func(a actor) {
		a.idle, a.tardy = true, true
		a.avoid = func(name string) bool { return name == "lapse c1" }
		c := &latecomer{Conn: a.Conn, a: a}
		m, err := recipes.NewGroup(c, a.env, "/group", recipes.GroupOptions{}).Join(ctx, "m", nil)
		a.is("Join", err, nil)
		c.joins = 1
		a.happen("learn-late c1")
		a.until(func() bool { return c.joins >= 3 })
		for range 100 {
			a.env.Now()
		}
		a.is("Leave", m.Leave(ctx), nil)
		if all, _, err := a.Children("/group"); len(all) != 1 || err != nil {
			a.t.Errorf("%q, %v after Leave", all, err)
		}
	})
}

// A request to join may be executed late, in a session that its client has given up. The name is not another's then.
func TestANameIsNotTakenByALateRequestForIt(t *testing.T) {
	play(t, nil, func(a actor) {
		a.idle, a.tardy = true, true
		a.avoid = func(name string) bool { return name == "lapse c1" }
		a.is("Leave", a.join(recipes.GroupOptions{}, "m").Leave(ctx), nil)
		c := &latecomer{Conn: a.Conn, a: a, joins: 1}
		m, err := recipes.NewGroup(c, a.env, "/group", recipes.GroupOptions{}).Join(ctx, "m", nil)
		a.is("Join", err, nil)
		if c.joins != 4 {
			a.t.Errorf("%d requests to join, expected one that is late, one that it is in the way of, and another", c.joins-1)
		}
		a.is("Leave", m.Leave(ctx), nil)
		if all, _, err := a.Children("/group"); len(all) != 1 || err != nil {
			a.t.Errorf("%q, %v after Leave", all, err)
		}
	})
}
