package catalog

import (
	"context"
	"errors"
	"slices"
	"time"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// watchman is a monitor under test.
type watchman interface {
	Run(ctx context.Context) error
}

// How long a holder may have the lock, how long holders have it that keep to the limit and that do not, and how long
// the monitor runs.
const (
	holdLimit = 200 * time.Millisecond
	holdShort = 40 * time.Millisecond
	holdLong  = 500 * time.Millisecond
	watchTime = 1500 * time.Millisecond
)

// monitored makes a program in which the first client monitors a read/write lock and the others use it, more to read
// than to write. One round in long takes too long; 0: none.
func monitored(long int, newMonitor func(p *engine.Process,
	opt recipes.MonitorOptions) watchman) func(p *engine.Process) {
	return func(p *engine.Process) {
		if p.ID == 1 {
			monitor(p, newMonitor)
			return
		}
		l := newRWLock(p)
		o := p.Register(l.Znodes)
		workload.Rounds(p, func(r int) error {
			d := holdShort
			if long > 0 && (p.ID+r)%long == 0 {
				d = holdLong
			}
			return holdFor(p, o, l, (p.ID+r)%4 != 1, d)
		})
	}
}

func monitor(p *engine.Process, newMonitor func(p *engine.Process, opt recipes.MonitorOptions) watchman) {
	o := p.Register(nil)
	m := newMonitor(p, recipes.MonitorOptions{Limit: holdLimit, Alarm: func(x recipes.Overdue) {
		tellTime(p, o, "clock", "")
		o.Record(history.Event{Kind: history.Told, Op: "overdue", Path: x.Path, Value: int64(x.Held)})
	}})
	ctx, end := p.Env.WithTimeout(context.Background(), watchTime)
	defer end()
	o.Invoke("monitor")
	err := m.Run(ctx)
	o.Return("monitor", err, context.DeadlineExceeded)
	if !errors.Is(err, context.DeadlineExceeded) {
		p.Fail(err)
	}
}

// tellTime records what time it is.
func tellTime(p *engine.Process, o engine.Object, op, path string) {
	o.Record(history.Event{Kind: history.Told, Op: op, Path: path, Value: p.Clock().UnixNano()})
}

// holdFor holds the lock for d, and records for how long at most it can have held it.
func holdFor(p *engine.Process, o engine.Object, l workload.FullRWLocker, read bool, d time.Duration) error {
	op, lock, end, unlock := "lock", l.Lock, "unlock", l.Unlock
	if read {
		op, lock, end, unlock = "rlock", l.RLock, "runlock", l.RUnlock
	}
	begin := p.Env.Now()
	if ok, err := o.Attempt(op, lock); !ok {
		return err
	}
	znodes := l.Znodes()
	path := znodes[len(znodes)-1]
	tellTime(p, o, "since", path)
	p.Env.Sleep(context.Background(), d)
	tellTime(p, o, "until", path)
	err := o.Must(end, unlock)
	for _, path := range znodes {
		o.Record(history.Event{Kind: history.Return, Op: "held", Path: path, Value: int64(p.Env.Now().Sub(begin))})
	}
	return err
}

func newMonitor(p *engine.Process, opt recipes.MonitorOptions) watchman {
	return recipes.NewMonitor(p.Conn, p.Env, p.Path(rwDir), opt)
}

// newBrokenMonitor makes monitors with a limit of their own; their alarms are judged by another.
func newBrokenMonitor(f mutants.Flaw, limit time.Duration) func(p *engine.Process,
	opt recipes.MonitorOptions) watchman {
	return func(p *engine.Process, opt recipes.MonitorOptions) watchman {
		opt.Limit = limit
		return mutants.NewMonitor(p.Conn, p.Env, p.Path(rwDir), opt, f)
	}
}

// monitorScenario is what all scenarios of monitors have in common.
func monitorScenario(s engine.Scenario) engine.Scenario {
	s = rwScenario(s)
	s.Checkers = []checkers.Checker{checkers.Overdue{}, checkers.Liveness{}, checkers.Quiescence{}, checkers.Tree{},
		checkers.Steps{}}
	return s
}

// soonCalm is a scenario whose faults end in time for most holders, so every alarm must come.
func soonCalm(s engine.Scenario) engine.Scenario {
	s.SafetySteps = 60
	s = monitorScenario(s)
	s.Checkers = append(s.Checkers, checkers.Alarm{Limit: holdLimit})
	return s
}

var monitorScenarios = []engine.Scenario{
	monitorScenario(engine.Scenario{
		Name: "monitor/monitor", Doc: "a monitor tells who holds a read/write lock for too long, under every fault",
		Rounds: 2, Program: monitored(3, newMonitor), Faults: rwFaults, Clients: 4,
		Goals: []engine.Goal{{Name: "an alarm",
			Reached: workload.Told("overdue")}, {Name: "an alarm of a reader that is not the first", Reached: laterReader}},
	}),
	soonCalm(engine.Scenario{
		Name: "monitor/soon-calm", Doc: "the same with faults that end soon, so that every alarm must come",
		Rounds: 2, Program: monitored(3, newMonitor), Faults: rwFaults, Clients: 4,
		Goals: []engine.Goal{{Name: "a holder that gets the lock with the faults over, and has it for too long",
			Reached: longInPeace}},
	}),
	monitorScenario(askedScenario(engine.Scenario{
		Name: "monitor/asked", Doc: "a monitor of one who has a lock for almost too long, while leaders are deposed",
		Rounds: 8, Clients: 2, Program: monitored(6, func(p *engine.Process, opt recipes.MonitorOptions) watchman {
			opt.Limit = holdShort + 1 // which is over before the holder has gone
			return newMonitor(p, opt)
		}),
	})),

	monitorScenario(mutated(mutants.BusyLock, engine.Scenario{Rounds: 4,
		Program: monitored(0, newBrokenMonitor(mutants.BusyLock, holdLimit)), Clients: 4})),
	monitorScenario(mutated(mutants.StaleAlarm, engine.Scenario{Rounds: 8,
		Program: monitored(0, newBrokenMonitor(mutants.StaleAlarm, holdShort+1)), Servers: []int{3},
		Clients: 2, Faults: faults.MustParse("stale-read=6@client=c1")})),
	soonCalm(mutated(mutants.QueueTime, engine.Scenario{Rounds: 2,
		Program: monitored(3, newBrokenMonitor(mutants.QueueTime, holdLimit)), Clients: 4})),
	soonCalm(mutated(mutants.TimeAnew, engine.Scenario{Rounds: 2,
		Program: monitored(3, newBrokenMonitor(mutants.TimeAnew, holdLimit)), Clients: 4})),
}

// longInPeace reports whether a holder records, after the faults, that it has the lock, and later that it has had it
// for too long.
func longInPeace(h *history.History) bool {
	calm, since := false, map[string]int64{}
	for _, e := range h.Events {
		switch {
		case e.Kind == history.Calm:
			calm = true
		case e.Kind == history.Told && e.Op == "since" && calm:
			since[e.Path] = e.Value
		case e.Kind == history.Told && e.Op == "until" && since[e.Path] > 0:
			if time.Duration(e.Value-since[e.Path]) > 2*holdLimit {
				return true
			}
		}
	}
	return false
}

// laterReader reports whether there was an alarm for a znode while an older one, of
// another reader, was there.
func laterReader(h *history.History) bool {
	var queue []string
	for _, e := range h.Events {
		switch {
		case e.Kind == history.Created:
			queue = append(queue, e.Path)
		case e.Kind == history.Deleted:
			queue = slices.DeleteFunc(queue, func(path string) bool { return path == e.Path })
		case e.Kind == history.Told && e.Op == "overdue":
			if i := slices.Index(queue, e.Path); i > 1 { // the directory is the first
				return true
			}
		}
	}
	return false
}
