package recipes_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

// A znode that has come and gone while there was no connection has not settled, even if the connection is there again
// at the very moment when the time to settle has passed.
func TestWhatHasComeAndGoneBeforeAReconnectHasNotSettled(t *testing.T) {
	var changed, told time.Time
	var cut, late bool
	play(t, func(*sim.World) { cut, late = false, false }, func(a actor) {
		a.idle = true
		a.avoid = func(name string) bool { return cut && name == "connect c1 s1" || late && name == "tick" }
		w := recipes.NewPatientChildrenWatch(a.Conn, a.env, "/w", time.Minute, recipes.WatchOptions{})
		a.is("Run", w.Run(ctx, func(_ []string, stat *zk.Stat) bool {
			told = a.env.Now()
			return false
		}), nil)
		if d := told.Sub(changed); d < time.Minute {
			a.t.Errorf("told %v after a change", d)
		}
	}, func(a actor) {
		a.until(func() bool { return canHappen(a.world, "tick") })
		cut = true
		a.happen("disconnect c1")
		a.env.Sleep(ctx, 59*time.Second)
		late = true
		_, err := a.Create("/w", nil, 0, openACL)
		a.is("Create", err, nil)
		a.is("Delete", a.Delete("/w", -1), nil)
		changed = a.env.Now()
		cut, late = false, false
		a.wanted = append(a.wanted, "connect c1 s1", "tick")
		a.settled()
	})
}
