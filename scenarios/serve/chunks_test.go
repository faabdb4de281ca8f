package serve

import (
	"testing"

	"zksim/model/history"
)

func TestChunksHaveTheLastEvents(t *testing.T) {
	for _, limit := range []int{0, 1, 2, 15, 16, 17, 100, 1000} {
		for _, at := range []int{1, 3, 50, 2000} {
			c, n := chunks{limit: limit, maxBytes: 1 << 20}, 0
			for n < 5000 {
				var events []history.Event
				for range at {
					events = append(events, history.Event{Step: int32(n)})
					n++
				}
				c.add(events)
				all := c.all()
				if len(all) > limit || len(all) != c.len() || c.forgotten+len(all) != n {
					t.Fatalf("limit %d: %d of %d events, %d forgotten", limit, len(all), n, c.forgotten)
				}
				if n >= limit && len(all) < limit-limit/parts-1 {
					t.Fatalf("limit %d: only %d events", limit, len(all))
				}
				for i, x := range all {
					if int(x.Step) != c.forgotten+i {
						t.Fatalf("limit %d: event %d is %d, %d forgotten", limit, i, x.Step, c.forgotten)
					}
				}
			}
		}
	}
}
