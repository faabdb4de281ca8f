package sim

import "testing"

// shapes runs two clients through a schedule and returns the shape after each step.
func shapes(t *testing.T, names ...string) []uint64 {
	t.Helper()
	w := NewWorld()
	t.Cleanup(w.Close)
	w.Reset(Config{Clients: 2, Order: 1}, nil, func(c *Client) {
		p, _ := c.Conn().Create("/n-", nil, 2, open)
		c.Conn().Delete(p, -1)
	})
	ch := &Replay{Names: names}
	out := []uint64{w.Shape()}
	for range names {
		tr, _, err := ch.Choose(w)
		if err != nil {
			t.Fatal(err)
		}
		w.perform(tr)
		out = append(out, w.Shape())
	}
	w.conclude(0)
	return out
}

func TestTheShapeDoesNotTellWhichClientItIs(t *testing.T) {
	a := shapes(t, "connect c1 s1", "run c1", "serve c1", "deliver c1", "run c2")
	b := shapes(t, "run c1", "connect c2 s1", "run c2", "serve c2", "deliver c2")
	if last(a) != last(b) {
		t.Errorf("%x and %x", last(a), last(b))
	}
}

func TestEachStepOfOneClientHasAnotherShape(t *testing.T) {
	seen := map[uint64]int{}
	for i, x := range shapes(t, "run c1", "connect c1 s1", "serve c1", "deliver c1", "serve c1", "deliver c1",
		"connect c2 s1") {
		if k, ok := seen[x]; ok {
			t.Errorf("the states after %d and %d steps have the same shape", k, i)
		}
		seen[x] = i
	}
}
