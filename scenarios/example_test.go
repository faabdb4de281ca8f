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

func (l *spinLock) Unlock(context.Context) error {
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
				if held, _ := o.Lock(l.Lock); !held {
					continue // gives up this time
				}
				o.Acquired(l.path, 0)
				p.Step()
				o.Released()
				o.Unlock(l.Unlock)
			}
		},
		Checkers: []checkers.Checker{checkers.Ownership{}, checkers.Belief{}, checkers.Quiescence{}, checkers.Tree{},
			checkers.Steps{}},
	}
}

// TestARecipeOfAUserHoldsWithoutFaults is all that it takes in a test of one's
// own.
func TestARecipeOfAUserHoldsWithoutFaults(t *testing.T) {
	scenarios.Check(t, mine("none"))
}

// TestTheReadmePresetHolds is the README's first test, with a lock of ours.
func TestTheReadmePresetHolds(t *testing.T) {
	s := scenarios.Lock("my/lock", func(p *scenarios.Process) *recipes.Lock {
		return recipes.NewLock(p.Conn, p.Env, p.Path("/locks/mine"), recipes.LockOptions{})
	})
	s.Setup = append(s.Setup, scenarios.Mkdir("/locks"))
	scenarios.Check(t, s)
}

// TestTheReadmeScenarioHoldsUnderEveryFault is the README's scenario, with a lock of ours.
func TestTheReadmeScenarioHoldsUnderEveryFault(t *testing.T) {
	scenarios.Check(t, scenarios.Scenario{
		Name: "my/lock", Clients: 3, Servers: []int{1, 3}, Faults: faults.Contract(),
		Program: func(p *scenarios.Process) {
			l := recipes.NewLock(p.Conn, p.Env, p.Path("/my-lock"), recipes.LockOptions{})
			o := p.Register(l.Znodes)
			if held, err := o.Lock(l.Lock); !held {
				if err != nil {
					p.Fail(err)
				}
				return
			}
			o.Acquired(l.Znodes()[0], l.Token())
			o.Write(l.Token())
			o.Released()
			if err := o.Unlock(l.Unlock); err != nil {
				p.Fail(err)
			}
		},
		Checkers: []checkers.Checker{checkers.Belief{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}},
	})
}

// TestARecipeOfAUserIsCaught: with lost replies, a create whose outcome is not
// looked for leaves a znode that locks everyone out.
func TestARecipeOfAUserIsCaught(t *testing.T) {
	s := mine("lose-reply=1@op=create")
	s.Caught = []string{"quiescence", "tree"}
	scenarios.Check(t, s)
}
