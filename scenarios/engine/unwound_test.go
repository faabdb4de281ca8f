package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/sim"
)

// The code of a process that crashes, or still waits when a run is over, is unwound. Its deferred calls run then, and a
// run is judged as if they had not.

// unwound runs a program of which c1 either crashes after its first step or waits for a change of /d forever.
func unwound(t *testing.T, crash bool, program func(p *Process)) Result {
	t.Helper()
	all := zk.WorldACL(zk.PermAll)
	s := &Scenario{Name: "unwound", Clients: 2, Program: program, Faults: faults.MustParse("crash=1@client=c1"),
		Setup:    []model.Request{{Op: model.OpCreate, Path: "/d", ACL: all}},
		Checkers: []checkers.Checker{checkers.Liveness{}, checkers.Tree{}}}
	schedule := s.NewSchedule(0)
	schedule.Servers, schedule.Order, schedule.Faults = 1, 1, s.Faults
	names := []string{"connect c1 s1", "run c1"}
	if crash {
		names = append(names, "crash c1")
	}
	r := NewRunner()
	t.Cleanup(r.Close)
	res, err := r.Explore(s, schedule, &sim.Replay{Names: names})
	if err != nil || res.Misuse != nil {
		t.Fatal(err, res.Misuse)
	}
	return res
}

// lingers waits until /d changes, which nobody does.
func lingers(p *Process) {
	if _, _, ch, err := p.Conn.GetW("/d"); err == nil {
		p.Env.Await(context.Background(), ch)
	}
}

func TestAProcessThatIsUnwoundDoesNotGiveUp(t *testing.T) {
	for _, crash := range []bool{false, true} {
		res := unwound(t, crash, func(p *Process) {
			done := p.ID == 2
			defer func() {
				if !done {
					p.Fail(errors.New("not done"))
				}
			}()
			if p.ID == 1 {
				lingers(p)
			}
		})
		if res.Verdict.Level != checkers.OK || len(res.History.Failed) > 0 {
			t.Errorf("crash %t: %v, failed %v", crash, res.Verdict, res.History.Failed)
		}
	}
}

func TestAProcessThatIsUnwoundWritesNothing(t *testing.T) {
	accepted := false
	unwound(t, true, func(p *Process) {
		o := p.Register(nil)
		if p.ID == 1 {
			defer o.Write(9)
			lingers(p)
			return
		}
		p.AtRest()
		accepted = o.Write(5)
	})
	if !accepted {
		t.Error("a token was refused because of one that a process had not written before its crash")
	}
}

// TestObjectsAnswerForWhatTheyKnowBeforeTheyAreUnwound has an object that forgets its znode when its call ends, and one
// that is only registered then.
func TestObjectsAnswerForWhatTheyKnowBeforeTheyAreUnwound(t *testing.T) {
	for _, late := range []bool{false, true} {
		res := unwound(t, false, func(p *Process) {
			path := ""
			znodes := func() []string { return []string{path} }
			if p.ID == 2 {
				return
			}
			path, _ = p.Conn.Create("/e", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
			if late {
				defer p.Register(znodes)
			} else {
				p.Register(znodes)
				defer func() { path = "" }()
			}
			lingers(p)
		})
		if known := res.History.Known["/e"]; known == late || (res.Verdict.Level == checkers.Violated) != late {
			t.Errorf("registered late %t: %v, known %v", late, res.Verdict, res.History.Known)
		}
	}
}
