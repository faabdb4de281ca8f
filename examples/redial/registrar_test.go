package redial_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"example.com/redial"
	"zksim/checkers"
	"zksim/faults"
	"zksim/recipes"
	"zksim/scenarios"
)

const dir = "/services"

// registered is what a registrar is for, in the words of its user.
const registered = "at rest the service is registered"

// registrar is what both have.
type registrar interface{ Run(quit <-chan zk.Event) }

// dial makes a connection of the process in the way that the code under test dials.
func dial(p *scenarios.Process) redial.Dial {
	return func() (recipes.Conn, recipes.Env, error) {
		turn, err := p.Dial()
		if err != nil {
			return nil, nil, err
		}
		return turn.Conn, turn.Env, nil
	}
}

// service is a scenario in which each client registers a service, and looks at rest, by the connection that it began
// with, whether it is registered.
func service(name, plan string, newRegistrar func(p *scenarios.Process, path string) registrar) scenarios.Scenario {
	return scenarios.Scenario{
		Name: "redial/" + name, Clients: 2, Dials: 10, Servers: []int{1, 3}, Faults: faults.MustParse(plan),
		Setup: []scenarios.Request{scenarios.Mkdir(dir)},
		Program: func(p *scenarios.Process) {
			path := p.Path(dir) + fmt.Sprintf("/s%d", p.ID)
			quit := make(chan zk.Event)
			p.Env.Go("registrar", func() { newRegistrar(p, path).Run(quit) })
			p.AtRest()
			exists, _, err := p.Conn.Exists(path)
			p.Always(registered, err != nil || exists)
			p.Sometimes("it could be looked at", err == nil)
			close(quit)
		},
		Checkers: []checkers.Checker{checkers.Tree{}, checkers.Quiescence{}, checkers.Steps{}},
	}
}

func published(p *scenarios.Process, path string) registrar {
	return redial.New(dial(p), p.Env, path, nil)
}

func mended(p *scenarios.Process, path string) registrar {
	return redial.NewMended(dial(p), p.Env, path, nil)
}

func TestTheRegistrarHoldsWithoutFaults(t *testing.T) {
	scenarios.Check(t, service("published", "none", published))
}

// losses are faults after which a connection is lost, few enough for the dials that a client has.
const losses = "disconnect=2 expire=1 lose-request=1 lose-reply=1 learn-late=1"

func TestTheMendedRegistrarHolds(t *testing.T) {
	scenarios.Check(t, service("mended", losses, mended))
}

// stale is the scenario of the bug: the connection is lost, the service is registered by another one before the session
// of the first has ended, and its znode goes with that.
func stale() scenarios.Scenario { return service("stale", "disconnect=1", published) }

func TestTheRegistrarIsCaught(t *testing.T) {
	s := stale()
	s.Caught = []string{"always"}
	scenarios.Check(t, s)
}

// TestTheMinimalScheduleFails replays what is in testdata/zksim: the shortest way to the bug.
func TestTheMinimalScheduleFails(t *testing.T) {
	s := stale()
	if said := minimal(t, s); !strings.Contains(said, registered) {
		t.Errorf("the committed schedule says:\n%s", said)
	}
}

// minimal returns what is found by the schedule in testdata/zksim, the shortest way to the bug of a scenario.
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
