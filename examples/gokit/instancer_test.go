package gokit_test

import (
	"context"
	"fmt"
	"path/filepath"
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

// instancer is the common interface of the published and the mended Instancer.
type instancer interface {
	State() sd.Event
	Stop()
}

// knows is what a user of an Instancer expects.
const knows = "at rest the instancer knows all instances"

// registry returns a scenario in which the first client watches the instances. Each other client registers one, deletes
// it, and registers it again. At rest the first client compares what it knows with what there is.
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

// register creates and deletes an instance in turn. The data of the instance is its name.
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
	s.Faults = faults.Contract().Except("cancel") // the Instancer takes no context
	scenarios.Check(t, s)
}

// bugs lists the bugs of the published Instancer, with the faults that expose each.
var bugs = []struct{ name, plan string }{
	// The listing fails and returns a nil channel. From then on nothing wakes the loop.
	{"deaf", "disconnect=1@client=c1"},
	// Reading the data of an instance fails, and the instance is left out.
	{"left-out", "lose-request=1@client=c1,op=get"},
	// The end of the session wakes the loop while the client is disconnected, and the listing fails.
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

// TestEachMinimalScheduleFails replays the schedules in testdata/zksim. Each is the shortest that exposes its bug.
func TestEachMinimalScheduleFails(t *testing.T) {
	for _, bug := range bugs {
		t.Run(bug.name, func(t *testing.T) {
			if said := minimal(t, registry(bug.name, bug.plan, published)); !strings.Contains(said, knows) {
				t.Errorf("the committed schedule says:\n%s", said)
			}
		})
	}
}

// minimal replays the only schedule of a scenario in testdata/zksim, and returns the message of the verdict.
func minimal(t *testing.T, s scenarios.Scenario) string {
	files, err := filepath.Glob(filepath.Join(scenarios.Corpus, strings.ReplaceAll(s.Name, "/", "."), "*.txt"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	v, err := scenarios.Replay(s, files[0])
	if err != nil {
		t.Fatal(err)
	}
	return v.Message
}
