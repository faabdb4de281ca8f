package recipes_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// swept is a connection behind which an operator deletes a double barrier at one moment: before ready is read, or
// before its members are listed.
type swept struct {
	recipes.Conn
	list bool
	done bool
}

func (c *swept) Get(path string) ([]byte, *zk.Stat, error) {
	if !c.list {
		c.sweep("/barrier")
	}
	return c.Conn.Get(path)
}

func (c *swept) Children(path string) ([]string, *zk.Stat, error) {
	if c.list {
		c.sweep("/barrier")
	}
	return c.Conn.Children(path)
}

func (c *swept) sweep(dir string) {
	if c.done {
		return
	}
	c.done = true
	names, _, _ := c.Conn.Children(dir)
	for _, name := range names {
		c.Conn.Delete(dir+"/"+name, -1)
	}
	c.Conn.Delete(dir, -1)
}

// Enter makes a double barrier that is missing, whenever it has been deleted.
func TestEnterMakesABarrierThatIsDeletedMeanwhile(t *testing.T) {
	for _, list := range []bool{false, true} {
		nothingLeft(t, play(t, nil, func(a actor) {
			opt := recipes.DoubleBarrierOptions{}
			d := recipes.NewDoubleBarrier(a.Conn, a.env, "/barrier", 1, opt)
			a.is("Enter", d.Enter(ctx), nil)
			a.is("Leave", d.Leave(ctx), nil)
			conn := &swept{Conn: a.Conn, list: list}
			d = recipes.NewDoubleBarrier(conn, a.env, "/barrier", 1, opt)
			a.is("Enter after another object", d.Enter(ctx), nil)
			a.is("Leave", d.Leave(ctx), nil)
			if !conn.done {
				a.t.Error("the barrier was not deleted")
			}
		}))
	}
}
