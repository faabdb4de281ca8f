package ensemble

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes/live"
)

// A session that was left behind ends some time after the faults. Programs that come to rest only then must not take
// that for the end of everything: master/restarts lost a task of a worker that had ended while the leader was killed.
func TestNobodyRestsBeforeTheSessionsThatWereLeftBehindHaveEnded(t *testing.T) {
	for _, x := range []struct {
		name     string
		sessions int
		ended    bool // the program has
		least    time.Duration
	}{
		{"a session that was left behind", 2, false, 3 * time.Second},
		{"none", 1, false, settleRest},
		{"programs that have ended", 2, true, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			run := &liveRun{host: &liveHost{rests: newRests()}, o: LiveOptions{Session: 2 * time.Second},
				clients: make([]*live.Client, 1), finished: []bool{false, x.ended}, closed: make([]bool, 1),
				state: []zk.State{zk.StateHasSession}, who: map[int64]int32{}}
			for id := range x.sessions {
				run.who[int64(id)] = 1
			}
			begin := time.Now()
			if err := run.settle(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took < x.least {
				t.Errorf("it took %v, expected at least %v", took, x.least)
			}
			<-run.host.rests.calm // those that rest now go on at once
		})
	}
}
