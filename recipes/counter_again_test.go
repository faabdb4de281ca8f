package recipes_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/recipes"
	"zksim/sim"
)

// fromBefore is a connection whose first read is answered by a leader that was deposed before the znode was made.
type fromBefore struct {
	recipes.Conn
	read bool
}

func (f *fromBefore) Get(path string) ([]byte, *zk.Stat, error) {
	if !f.read {
		f.read = true
		return nil, nil, zk.ErrNoNode
	}
	return f.Conn.Get(path)
}

// A client that makes a counter with a number in it has not changed it since: its version is that of an empty one.
func TestANumberThatACounterWasMadeWithIsNotLost(t *testing.T) {
	play(t, func(w *sim.World) {
		w.Prepare(model.Request{Op: model.OpCreate, Path: "/counter", Data: []byte("100"), ACL: openACL})
	}, func(a actor) {
		counter := func() *recipes.Counter {
			return recipes.NewCounter(&fromBefore{Conn: a.Conn}, a.env, "/counter", recipes.CounterOptions{})
		}
		if n, err := counter().Add(ctx, 1); n != 101 || err != nil {
			a.t.Errorf("Add: %d, %v", n, err)
		}
		if swapped, err := counter().CompareAndSet(ctx, 0, 5); swapped || err != nil {
			a.t.Errorf("CompareAndSet: %v, %v", swapped, err)
		}
	})
}
