package sim

import (
	"context"
	"testing"
	"time"
)

// Rest comes after all timers, takes no time, and not before the faults are over.
func TestAtRestIsAfterTheLastTimer(t *testing.T) {
	var rested time.Time
	s := start(t, 1, func(_ *script, c *Client) {
		c.Env().AtRest()
		rested = c.Env().Now()
	}, func(_ *script, c *Client) {
		c.Env().Sleep(context.Background(), 5*time.Hour)
	})
	s.do("run c1", "run c2", "connect c1 s1", "connect c2 s1", "tick", "run c2")
	if s.can("tick") {
		t.Error("a client is at rest while faults are possible")
	}
	s.do("calm", "tick", "run c1", "run c1")
	if want := Epoch.Add(5 * time.Hour); !rested.Equal(want) {
		t.Errorf("rest was at %v, want %v", rested, want)
	}
}
