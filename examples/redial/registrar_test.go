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

// registered is what a user of a registrar expects.
const registered = "at rest the service is registered"

// registrar is the common interface of the published and the mended registrar.
type registrar interface{ Run(quit <-chan zk.Event) }

// dial adapts Process.Dial to the type that the code under test takes.
func dial(p *scenarios.Process) redial.Dial {
	return func() (recipes.Conn, recipes.Env, error) {
		turn, err := p.Dial()
		if err != nil {
			return nil, nil, err
		}
		return turn.Conn, turn.Env, nil
	}
}

// service returns a scenario in which each client registers a service. At rest the client checks through its first
// connection whether the service is registered.
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

// losses are faults that cost a client its connection. They are few enough for the dials that it has.
const losses = "disconnect=2 expire=1 lose-request=1 lose-reply=1 learn-late=1"

func TestTheMendedRegistrarHolds(t *testing.T) {
	scenarios.Check(t, service("mended", losses, mended))
}

// stale returns the scenario of the bug. After a lost connection the next one finds the znode of the first and takes
// the service for registered. The znode then ends with the session of the first connection.
func stale() scenarios.Scenario { return service("stale", "disconnect=1", published) }

func TestTheRegistrarIsCaught(t *testing.T) {
	s := stale()
	s.Caught = []string{"always"}
	scenarios.Check(t, s)
}

// TestTheMinimalScheduleFails replays the schedule in testdata/zksim, the shortest that exposes the bug.
func TestTheMinimalScheduleFails(t *testing.T) {
	s := stale()
	if said := minimal(t, s); !strings.Contains(said, registered) {
		t.Errorf("the committed schedule says:\n%s", said)
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
