package recipes_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

// Where the numbers end, a create does not move the parent's pzxid.
func TestChildrenAreToldWhereSequenceNumbersEnd(t *testing.T) {
	const last = "n9"
	for _, patient := range []bool{false, true} {
		play(t, func(w *sim.World) {
			create("/dir", openACL)(w)
			w.SetCounter("/dir", math.MaxInt32-2)
		}, func(a actor) {
			tell := func(names []string, _ *zk.Stat) bool { return !slices.Contains(names, last) }
			run := recipes.NewChildrenWatch(a.Conn, a.env, "/dir", recipes.WatchOptions{}).Run
			if patient {
				run = recipes.NewPatientChildrenWatch(a.Conn, a.env, "/dir", time.Second, recipes.WatchOptions{}).Run
			}
			a.is("Run", run(ctx, tell), nil)
		}, func(a actor) {
			for n := range 10 {
				_, err := a.Create(fmt.Sprintf("/dir/n%d", n), nil, 0, openACL)
				a.is("Create", err, nil)
				a.sleep(5 * time.Second)
			}
		})
	}
}
