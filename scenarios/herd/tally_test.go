package herd

import (
	"testing"
	"time"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// The tally, which goes through a history once, agrees with the checkers, which look
// back and forth. They are made for locks: a notification of a client's own change
// is the next one for them.
func TestTallyAgreesWithTheCheckers(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	opt := recipes.LockOptions{}
	for name, newLocker := range map[string]func(p *engine.Process) Locker{
		"sequential":  func(p *engine.Process) Locker { return recipes.NewLock(p.Conn, p.Env, p.Path(Dir), opt) },
		"single-node": func(p *engine.Process) Locker { return recipes.NewSingleNodeLock(p.Conn, p.Env, p.Path(Dir), opt) },
		"write":       func(p *engine.Process) Locker { return recipes.NewRWLock(p.Conn, p.Env, p.Path(Dir), opt) },
	} {
		v := new(Locks("lock/"+name, newLocker))
		table := newTimetable(v, 6)
		s := v.scenario(6, func(p *engine.Process) pace {
			table.began = p.Env.Now()
			return table
		})
		res, times := r.TimedUntil(&s, 1, sim.DefaultTiming, table.over)
		count := newTally(times, 0, 6)
		want := 0
		for k := range res.History.Events {
			count.add(&res.History.Events[k])
			if checkers.Wasted(res.History, k) {
				want++
			}
		}
		count.finish()
		m := count.m
		if count.wasted != want {
			t.Errorf("%s: %d notifications in vain, and %d for the checker", v.Name, count.wasted, want)
		}
		if m.Burst > 0 {
			within, beyond := checkers.Herd{PerEvent: m.Burst}.Check(res.History),
				checkers.Herd{PerEvent: m.Burst - 1}.Check(res.History)
			if within.Level != checkers.OK || beyond.Level == checkers.OK {
				t.Errorf("%s: a burst of %d, but %+v and %+v", v.Name, m.Burst, within, beyond)
			}
		}
	}
}

func TestAWatchIsCountedWhileItIsSet(t *testing.T) {
	count := newTally([]time.Duration{1}, 0, 1)
	for _, e := range []history.Event{
		{Kind: history.Reply, Client: 1, Op: "getW", Path: "/a"},
		{Kind: history.Reply, Client: 1, Op: "existsW", Path: "/a"}, // the same
		{Kind: history.Reply, Client: 1, Op: "childrenW", Path: "/a"},
		{Kind: history.Reply, Client: 1, Op: "get", Path: "/b"},
		{Kind: history.Notify, Client: 1, Op: "deleted", Path: "/a"},
		{Kind: history.Reply, Client: 1, Op: "childrenW", Path: "/b"},
		{Kind: history.Notify, Client: 1, Op: "changed", Path: "/b"},
		{Kind: history.Reply, Client: 1, Op: "getW", Path: "/c"},
	} {
		count.add(&e)
	}
	if count.m.Watches != 2 || len(count.watches) != 2 {
		t.Errorf("%d watches at most, %d now", count.m.Watches, len(count.watches))
	}
}
