package sim

import (
	"iter"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model"
)

var open = zk.WorldACL(zk.PermAll)

// BenchmarkPull is the yardstick: one bare round trip through a coroutine.
func BenchmarkPull(b *testing.B) {
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		for yield(struct{}{}) {
		}
	})
	defer stop()
	for b.Loop() {
		next()
	}
}

// BenchmarkStep is one transition of a world in which three clients create,
// look and delete forever.
func BenchmarkStep(b *testing.B) {
	w := NewWorld()
	r := &Random{}
	start := func() {
		r.Seed(1)
		w.Reset(Config{Clients: 3, Order: 5, SafetySteps: 1 << 30, MaxSteps: 10_000}, nil, func(c *Client) {
			k := c.Conn()
			for {
				p, err := k.Create("/lock/n-", nil, 3, open)
				if err != nil {
					panic(err)
				}
				k.Exists(p)
				k.Children("/lock")
				k.Delete(p, -1)
			}
		})
		w.Prepare(model.Request{Op: model.OpCreate, Path: "/lock", ACL: open})
	}
	b.ReportAllocs()
	steps := 0
	for b.Loop() {
		if steps%10_000 == 0 {
			start()
		}
		t, _, _ := r.Choose(w)
		w.perform(t)
		steps++
		if steps%10_000 == 0 {
			w.conclude(0)
		}
	}
}
