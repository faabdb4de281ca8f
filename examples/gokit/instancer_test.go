package gokit_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-kit/kit/sd"
	"github.com/go-zookeeper/zk"

	"example.com/gokit"
	"zksim/checkers"
	"zksim/faults"
	"zksim/scenarios"
)

const path = "/services"

// instancer is what both have.
type instancer interface {
	State() sd.Event
	Stop()
}

// knows is what an Instancer is for, in the words of its user.
const knows = "at rest the instancer knows all instances"

// registry is a scenario in which the first client watches the instances, and the others register one each, some of
// which go again. At rest the first one compares what it knows with what there is.
func registry(name, plan string, newInstancer func(p *scenarios.Process) (instancer, error)) scenarios.Scenario {
	return scenarios.Scenario{
		Name: "gokit/" + name, Clients: 3, Rounds: 3, Servers: []int{1, 3}, Faults: faults.MustParse(plan),
		Setup: []scenarios.Request{scenarios.Mkdir(path)},
		Program: func(p *scenarios.Process) {
			if p.ID > 1 {
				register(p)
				return
			}
			s, err := newInstancer(p)
			for err != nil {
				p.Env.Sleep(context.Background(), time.Second)
				s, err = newInstancer(p)
			}
			p.AtRest()
			names, _, err := p.Conn.Children(p.Path(path))
			known := slices.Sorted(slices.Values(s.State().Instances))
			slices.Sort(names)
			p.Always(knows, err != nil || slices.Equal(known, names))
			p.Sometimes("there are two instances", len(known) == 2)
			s.Stop()
		},
		Checkers: []checkers.Checker{checkers.Steps{}},
	}
}

// register makes and deletes an instance in turn, whose data is its name.
func register(p *scenarios.Process) {
	name := fmt.Sprintf("s%d", p.ID)
	for r := range p.Rounds {
		for err := zk.ErrConnectionClosed; err == zk.ErrConnectionClosed || err == zk.ErrNoServer; {
			if r%2 == 0 {
				_, err = p.Conn.Create(p.Path(path)+"/"+name, []byte(name), 0, zk.WorldACL(zk.PermAll))
			} else {
				err = p.Conn.Delete(p.Path(path)+"/"+name, -1)
			}
		}
	}
}

func published(p *scenarios.Process) (instancer, error) {
	s, err := gokit.New(p.Conn, p.Env, p.Path(path))
	return s, err
}

func mended(p *scenarios.Process) (instancer, error) {
	return gokit.NewMended(p.Conn, p.Env, p.Path(path)), nil
}

func TestThePublishedInstancerHoldsWithoutFaults(t *testing.T) {
	s := registry("published", "none", published)
	scenarios.Check(t, s)
}

func TestTheMendedInstancerHolds(t *testing.T) {
	s := registry("mended", "none", mended)
	s.Faults = faults.Contract().Except("cancel") // nothing takes a context
	scenarios.Check(t, s)
}

// bugs are those of the published Instancer, and what wakes each.
var bugs = []struct{ name, plan string }{
	// The listing fails, and returns a nil channel: nothing wakes the loop any more.
	{"deaf", "disconnect=1@client=c1"},
	// The data of an instance cannot be read, and the instance is left out.
	{"left-out", "lose-request=1@client=c1,op=get"},
	// The end of the session wakes the loop while there is no connection, and the listing fails.
	{"session", "learn-late=1@client=c1"},
}

func TestThePublishedInstancerIsCaught(t *testing.T) {
	for _, bug := range bugs {
		t.Run(bug.name, func(t *testing.T) {
			s := registry(bug.name, bug.plan, published)
			s.Caught = []string{"always"}
			scenarios.Check(t, s)
		})
	}
}

// TestEachMinimalScheduleFails replays what is in testdata/zksim: the shortest way to each bug.
func TestEachMinimalScheduleFails(t *testing.T) {
	for _, bug := range bugs {
		t.Run(bug.name, func(t *testing.T) {
			if said := failure(t, registry(bug.name, bug.plan, published)); !strings.Contains(said, knows) ||
				!strings.Contains(said, "testdata/zksim") {
				t.Errorf("the committed schedule says:\n%s", said)
			}
		})
	}
}

// failure returns what Check says of a scenario that fails.
func failure(t *testing.T, s scenarios.Scenario) string {
	flag.Set("zksim.out", t.TempDir())
	defer flag.Set("zksim.out", "")
	f := &recorder{T: t}
	func() {
		defer func() {
			if x := recover(); x != nil && x != any(f) {
				panic(x)
			}
		}()
		scenarios.Check(f, s)
	}()
	return f.said
}

// recorder is a test whose failure is kept.
type recorder struct {
	scenarios.T
	said string
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.said = fmt.Sprintf(format, args...)
	panic(r)
}
