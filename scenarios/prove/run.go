package prove

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"zksim/checkers"
	"zksim/scenarios"
	"zksim/sim"
)

// run takes the next edge by running the code.
func (w *worker) run() {
	w.began.Store(time.Now().UnixNano())
	defer w.began.Store(0)
	w.at, w.before, w.begin = 0, nil, mark{}
	w.prefix = w.next.path(w.prefix[:0])
	w.past.reset(w.scenario.Clients)
	w.all = 0
	switch res, err := w.runner.Explore(w.scenario, w.schedule, w); err {
	case nil:
		w.complete(&res)
	case errDeep:
		w.endless(w.runner.World().Schedule())
	}
}

// endless judges a schedule that does not come to an end: the run that begins like it, and
// goes on fairly and without faults where an ordinary one would.
func (w *worker) endless(names []string) {
	s, runner := w.scope.Scenario, scenarios.NewRunner()
	defer runner.Close()
	names = names[:min(len(names), cmp.Or(s.SafetySteps, sim.UsualSafetySteps))]
	res, err := w.restore(runner, s, sim.Replay{Names: names})
	if err != nil {
		w.misled(err)
		return
	}
	if v := res.Verdict; v.Level == checkers.Violated && (!s.Broken() || s.Catches(v)) {
		w.report(runner, &res)
		return
	}
	w.doubt(fmt.Sprintf("a schedule goes on for more than %d steps", maxSteps))
}

// complete judges a run that has come to its end.
func (w *worker) complete(res *scenarios.Result) {
	w.ends.Add(1)
	if w.past.violated() { // the run was cut short there: what judges its end may err
		res.Verdict = w.past.judge(res.History)
	}
	v := res.Verdict
	if w.audit != nil {
		w.check(w.runner.World(), " ends", uint64(checkers.Print(v.Level).Text(v.Checker)))
	}
	if w.outcome != nil {
		w.outcome(res)
	}
	switch {
	case v.Level == checkers.Unknown:
		w.doubt("a checker could not decide: " + v.Message)
	case v.Level == checkers.Violated && (!w.scenario.Broken() || w.scenario.Catches(v)):
		w.runner.Names(res)
		w.verify(res)
	}
}

// verify reports a violation as it is in a run with the usual zxids, and with the watches that nobody hears.
func (w *worker) verify(found *scenarios.Result) {
	runner := scenarios.NewRunner()
	defer runner.Close()
	res, err := w.restore(runner, w.scenario, sim.Replay{Names: found.Schedule.Names, Then: over{}})
	if err == nil && w.past.violated() {
		res.Verdict = w.past.judge(res.History)
	}
	if err != nil || res.Verdict.Level != checkers.Violated {
		w.misled(err)
		return
	}
	w.report(runner, &res)
}

// report takes note of a violation in the last run of a runner.
func (w *worker) report(runner *scenarios.Runner, res *scenarios.Result) {
	runner.Names(res)
	res.History = nil
	w.refute(res)
}

// misled has the search begin anew without the reduction that a schedule does not fit which it has found; if
// there is none, the simulator is wrong.
func (w *worker) misled(err error) {
	if w.need(needs{Watches: true}) {
		panic(err) // to be reported
	}
}

// over ends a run.
type over struct{}

// Choose implements [sim.Chooser].
func (over) Choose(*sim.World) (sim.Transition, bool, error) { return sim.Transition{}, false, nil }

// Choose implements [sim.Chooser].
func (w *worker) Choose(world *sim.World) (sim.Transition, bool, error) {
	if !w.scope.Interleave {
		if t, ok := world.Prompt(w.scope.SlowWakes); ok {
			if world.Step() >= maxSteps && w.reached(world.Step()) {
				return sim.Transition{}, false, errDeep
			}
			return t, true, nil
		}
	}
	if w.at < len(w.prefix) {
		if w.at == len(w.prefix)-1 {
			w.past.take(world)
			w.before = w.read(world, w.next.from.ticks)
			if x := &w.next.from.state; x.known() {
				w.compare(x, w.before, world)
				w.before.all = x.all
			} else {
				w.before.all = w.past.memory(saidIn(w.past.shown.Events))
			}
			w.all = w.before.all
			w.begin, w.local = markOf(world), w.isLocal(world, w.next.by)
		}
		w.at++
		return w.prefix[w.at-1], true, nil
	}
	switch err := w.arrive(world); err {
	case nil:
		return w.next.by, true, nil
	case errOver:
		return sim.Transition{}, false, nil
	default:
		return sim.Transition{}, false, err
	}
}

// arrive takes note of what the next edge has led to, and chooses the one after that.
func (w *worker) arrive(world *sim.World) error {
	defer w.next.explored()
	told := slices.Clone(w.past.take(world))
	w.undecided()
	y := w.read(world, w.ticks())
	said := saidIn(told)
	if w.before == nil {
		y.all = w.past.memory(said)
	} else if y.all = w.before.all; len(told) > 0 {
		y.all = w.past.memory(after(y.all, said))
	}
	w.all = y.all
	if w.expected != nil {
		w.compare(w.expected, y, world)
	}
	if !w.entered {
		if w.next.from != nil {
			e := w.begin.effect(world)
			e.told, e.said, e.visible = told, said, w.past.visible(told)
			w.taken(e.visible, e.clocked)
			if !w.past.violated() && !w.again {
				w.learn(y, e)
			}
		}
		if w.past.violated() {
			return errOver // the verdict on the run will say what
		}
		if !w.need(w.asks(world)) {
			return errKnown
		}
		fingerprint := y.fingerprint(w.fenced)
		w.class = fingerprint
		if w.audit != nil {
			w.check(world, "", fingerprint)
			world.Detail.Forget = false
			fingerprint = w.read(world, w.ticks()).fingerprint(w.fenced)
			world.Detail.Forget = true
		}
		if err := w.enter(fingerprint, world.Step()); err != nil {
			return err
		}
	}
	w.expected, w.entered = nil, false
	groups, _ := w.possible(y, world)
	switch {
	case len(groups) == 0:
		return errOver
	case len(groups[0]) == 0:
		return errTwins
	}
	w.goOn(y, groups, told, int32(world.Step()))
	w.before, w.begin = y, markOf(world)
	if !w.again && w.memo.find(y, w.next.by) != nil {
		return errRecall
	}
	w.local = w.isLocal(world, w.next.by)
	w.more = false
	return nil
}

// mark is a moment of a run.
type mark struct{ readings, step, sweeps, removed, dropped, awaited int }

func markOf(world *sim.World) mark {
	s := world.Sweeping()
	return mark{world.Readings(), world.Step(), s.Times, len(s.Removed), len(s.Dropped), len(s.Awaited)}
}

// effect returns what has happened since, but for what was told.
func (m mark) effect(world *sim.World) effect {
	s := world.Sweeping()
	e := effect{clocked: m.readings != world.Readings(), length: int32(world.Step() - m.step), dropped: m.sweeps != s.Times}
	if removed := s.Removed[m.removed:]; len(removed) > 0 {
		var p checkers.Print
		for _, x := range removed {
			p = p.Word(x)
		}
		e.removed = uint64(p)
	}
	return e
}

// asks returns what the run shows that the states must contain.
func (w *worker) asks(world *sim.World) (n needs) {
	if n.Clock = world.Clock(); n.Clock != sim.NoClock {
		n.Hurry = world.Hurried()
	}
	s := world.Sweeping()
	n.Watches = !w.memo.dead.add(s.Dropped[w.begin.dropped:], s.Awaited[w.begin.awaited:]) || s.Mistaken > 0
	return n
}

// undecided takes note of a monitor that could not judge.
func (w *worker) undecided() {
	if w.past.unsure != "" {
		w.doubt("a monitor could not decide: " + w.past.unsure)
	}
}

// isLocal reports whether t changes nothing but its client and the connection of that.
func (w *worker) isLocal(world *sim.World, t sim.Transition) bool {
	if t.Kind >= sim.FirstFault {
		return w.injector.Local(world, t)
	}
	return world.Local(t)
}

// compare fails if a state is not what it is said to be.
func (w *worker) compare(said, is *state, world *sim.World) {
	if what := said.differs(is); what != "" {
		panic(failed(fmt.Sprintf("the same steps lead to another state, since the program is not deterministic, or a fingerprint or a monitor leaves something out (%s, after %s)",
			what, strings.Join(world.Schedule(), ", "))))
	}
}

// read returns the state of a run in which time has passed that often although something else
// could happen.
func (w *worker) read(world *sim.World, ticks int32) *state {
	x := &state{rest: world.Rest(), memory: memory{past: uint64(w.past.hash())}, guarded: w.runner.Guarded(), clients: make([]*sim.Part, len(world.Clients()))}
	if ticks > 0 {
		x.rest = uint64(checkers.Print(x.rest).Word(uint64(ticks)))
	}
	hash := world.ServersHash()
	var ok bool
	if x.servers, ok = w.memo.servers.get(hash); !ok {
		x.servers = w.memo.servers.put(hash, world.Servers())
	}
	for i, c := range world.Clients() {
		c.Part(&w.buffer)
		x.clients[i] = w.memo.part(&w.buffer)
	}
	return x
}

// learn notes what the next edge has done.
func (w *worker) learn(y *state, e effect) {
	if len(e.told) == 0 && y.past != w.before.past {
		panic(failed("a checker remembers something of an event that its Order does not name"))
	}
	w.memo.learn(w.before, y, w.next.by, e, w.local, w.fine)
}
