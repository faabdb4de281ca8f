package ensemble

import (
	"testing"
	"time"

	"zksim/internal/zkserver"
	"zksim/internal/zkserver/zkservertest"
	"zksim/scenarios/engine"
)

// A client that waits for the end of a session would be taken for one that waits forever.
func TestARunGoesByTheSessionTimeoutThatServersGrant(t *testing.T) {
	const least = 7 * time.Second
	e := zkservertest.Start(t, zkserver.Options{Servers: 1, MinSessionTimeout: least})
	for ask, want := range map[time.Duration]time.Duration{time.Second: least, time.Hour: 10 * time.Second} {
		s := engine.Scenario{Name: "test/granted", Clients: 1, Program: func(*engine.Process) {}}
		x := newLiveRun(&s, LiveOptions{Servers: e.Addrs(), Session: ask})
		if err := x.whole(t.Context()); err != nil || x.o.Session != want {
			t.Errorf("asked for %v, it goes by %v, %v, expected %v", ask, x.o.Session, err, want)
		}
	}
}
