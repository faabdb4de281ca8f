package scenarios_test

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/recipes"
	"zksim/scenarios"
)

// spinLock is a recipe as somebody outside of this module might write it: it
// creates one ephemeral znode, or waits for it to go.
type spinLock struct {
	conn recipes.Conn
	env  recipes.Env
	path string
	held bool
}

func (l *spinLock) Lock(ctx context.Context) error {
	for {
		_, err := l.conn.Create(l.path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if err == nil {
			l.held = true
			return nil
		}
		if err != zk.ErrNodeExists {
			return err
		}
		exists, _, gone, err := l.conn.ExistsW(l.path)
		if err != nil {
			return err
		}
		if exists {
			if _, _, err := l.env.Await(ctx, gone); err != nil {
				return err
			}
		}
	}
}

func (l *spinLock) Unlock() error {
	l.held = false
	return l.conn.Delete(l.path, -1)
}

func (l *spinLock) znodes() []string {
	if !l.held {
		return nil
	}
	return []string{l.path}
}

// mine is the scenario that its author would write.
func mine(plan string) scenarios.Scenario {
	p, err := faults.Parse(plan)
	if err != nil {
		panic(err)
	}
	return scenarios.Scenario{
		Name: "mine/spin", Clients: 3, Servers: []int{1, 3}, Faults: p,
		Program: func(p *scenarios.Process) {
			l := &spinLock{conn: p.Conn, env: p.Env, path: p.Path("/spin")}
			o := p.Register(l.znodes)
			for range 2 {
				o.Invoke("lock")
				err := l.Lock(context.Background())
				o.Return("lock", err, false)
				if err != nil {
					continue // gives up this time
				}
				o.Acquired(l.path, 0)
				p.Step()
				o.Released()
				o.Invoke("unlock")
				o.Return("unlock", l.Unlock(), false)
			}
		},
		Checkers: []checkers.Checker{checkers.Ownership{}, checkers.Belief{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}},
	}
}

// TestARecipeOfAUserHoldsWithoutFaults is all that it takes in a test of one's
// own.
func TestARecipeOfAUserHoldsWithoutFaults(t *testing.T) {
	scenarios.Check(t, mine("none"))
}

// TestARecipeOfAUserIsCaught: with lost replies, a create whose outcome is not
// looked for leaves a znode that locks everyone out.
func TestARecipeOfAUserIsCaught(t *testing.T) {
	s := mine("lose-reply=1@op=create")
	s.Caught = []string{"quiescence", "tree"}
	scenarios.Check(t, s)
}
