package catalog

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// znodeScenarios judge ZooKeeper itself, or its simulation, rather than a recipe: single znodes under random reads and
// writes.
var znodeScenarios = []engine.Scenario{
	znodeScenario(engine.Scenario{
		Name: "znodes/random", Doc: "random writes and synced reads of two znodes under every fault",
		Program: randomAccesses(true),
		Faults:  faults.Contract().Except("watch-delay", "overtake", "cancel"),
		Goals:   []engine.Goal{goalLateWrite, goalBadVersion},
	}),
	znodeScenario(mutated(104, engine.Scenario{Program: randomAccesses(false), Servers: []int{3},
		Faults: faults.MustParse("stale-read=3")})),
}

func znodeScenario(s engine.Scenario) engine.Scenario {
	s = workload.WithDefaults(s, 3)
	s.Rounds = 8
	s.Setup = []model.Request{engine.Mkdir("/znodes")}
	s.Checkers = []checkers.Checker{checkers.Znodes{}, checkers.Liveness{}, checkers.Quiescence{}, checkers.Steps{}}
	return s
}

// randomAccesses makes a program that reads or writes one of two znodes in each
// round, each time with new data.
func randomAccesses(synced bool) func(p *engine.Process) {
	return func(p *engine.Process) {
		seed := fnv.New64a()
		seed.Write([]byte(p.Env.UUID()))
		r := rand.New(rand.NewPCG(seed.Sum64(), 0))
		o := p.Register(nil)
		version := int32(0) // the last one seen
		for n := range p.Rounds {
			a := history.Event{Path: p.Path([...]string{"/znodes/a", "/znodes/b"}[r.IntN(2)]), Version: -1}
			a.Op = [...]string{"create", "create", "delete", "set", "set", "get", "get", "get"}[r.IntN(8)]
			switch a.Op {
			case "create", "set":
				a.Data = fmt.Sprintf("c%d-%d", p.ID, n)
			}
			if a.Op == "set" && r.IntN(2) == 0 {
				a.Version = version
			}
			access(p, o, &a, synced)
			version = max(a.Version, 0)
		}
	}
}

// access makes and records one request, and leaves the answer in a.
func access(p *engine.Process, o engine.Object, a *history.Event, synced bool) {
	a.Kind = history.Invoke
	o.Record(*a)
	a.Kind = history.Return
	stat := &zk.Stat{}
	switch a.Op {
	case "create":
		_, a.Err = p.Conn.Create(a.Path, []byte(a.Data), 0, zk.WorldACL(zk.PermAll))
	case "delete":
		a.Err = p.Conn.Delete(a.Path, a.Version)
	case "set":
		stat, a.Err = p.Conn.Set(a.Path, []byte(a.Data), a.Version)
	case "get":
		var data []byte
		data, stat, a.Err = read(p, a.Path, synced)
		a.Data = string(data)
	}
	if a.Err == nil {
		a.Version, a.Zxid = stat.Version, stat.Mzxid
	}
	o.Record(*a)
}

// read gets a znode, synced by a write in the same session: a deposed leader would also answer a sync.
func read(p *engine.Process, path string, synced bool) ([]byte, *zk.Stat, error) {
	for {
		session := p.Conn.SessionID()
		if synced {
			if _, err := p.Conn.Multi(); err != nil {
				return nil, nil, err
			}
		}
		data, stat, err := p.Conn.Get(path)
		if !synced || p.Conn.SessionID() == session {
			return data, stat, err
		}
	}
}

var (
	// goalLateWrite is a write whose client had been told that the outcome is unknown.
	goalLateWrite = engine.Goal{Name: "a write that is executed after its client was told of the lost connection",
		Reached: func(h *history.History) bool {
			told := map[string]bool{} // by data
			for i := range h.Events {
				switch e := &h.Events[i]; e.Kind {
				case history.Return:
					told[e.Data] = e.Data != "" && e.Err == zk.ErrConnectionClosed
				case history.Created, history.Changed:
					if told[e.Data] {
						return true
					}
				}
			}
			return false
		}}
	goalBadVersion = engine.Goal{Name: "a set whose condition does not hold",
		Reached: workload.Returned("set", zk.ErrBadVersion)}
)
