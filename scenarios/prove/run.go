package prove

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/internal/hash"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// run takes the next edge by running the code.
func (w *worker) run() {
	w.at, w.before, w.begin, w.idle, w.foreseen = 0, nil, 0, 0, nil
	w.prefix = w.next.path(w.prefix[:0])
	w.past.reset()
	res, err := w.runner.Explore(w.scenario, w.schedule, w)
	if n := w.taken.Add(int64(w.runner.World().Step())); n > w.effort && w.effort > 0 {
		w.spent.Store(true)
		w.pool.stop()
	}
	switch err {
	case nil:
		w.complete(&res)
	case errDeep:
		w.endless(w.runner.World().Schedule(), fmt.Sprintf("a schedule goes on for more than %d steps", maxSteps))
	}
}

// endless judges a schedule that does not end. It judges the run that begins like the schedule and, where an ordinary
// run would, goes on fairly and without faults. If that run is fine, a doubt remains, which why explains.
func (w *worker) endless(names []string, why string) {
	s, runner := w.scope.Scenario, engine.NewRunner()
	defer runner.Close()
	names = names[:min(len(names), cmp.Or(s.SafetySteps, sim.UsualSafetySteps))]
	res, err := runner.Explore(s, w.schedule, &sim.Replay{Names: names})
	if err != nil {
		w.doubt("a schedule without an end cannot be run with the usual zxids: " + err.Error())
		return
	}
	if v := res.Verdict; v.Level == checkers.Violated && (!s.Broken() || s.Catches(v)) {
		w.report(runner, &res)
		return
	}
	w.doubt(why)
}

// complete judges a run that has come to its end.
func (w *worker) complete(res *engine.Result) {
	w.ends.Add(1)
	if w.past.violated() { // the run was cut short there: checkers of its end may err
		res.Verdict, _ = w.past.judge(res.History)
	}
	v := res.Verdict
	if w.audit != nil {
		seen := v
		if w.past.lenient && v.Checker == (checkers.Always{}).Name() { // no state remembers it then
			seen = checkers.Verdict{}
		}
		w.check(w.runner.World(), " ends", uint64(hash.Hash(seen.Level).String(seen.Checker)))
	}
	if w.outcome != nil {
		w.outcome(res)
	}
	if why := w.words.Unfit(res.History); why != "" {
		panic(failed(why))
	}
	switch {
	case v.Level == checkers.Unknown:
		w.doubt("a checker could not decide: " + v.String())
	case v.Level == checkers.Violated && (!w.scenario.Broken() || w.scenario.Catches(v)):
		w.runner.Names(res)
		w.verify(res)
	}
}

// verify reports a violation as it appears in a run with the usual zxids.
func (w *worker) verify(found *engine.Result) {
	runner := engine.NewRunner()
	defer runner.Close()
	res, err := runner.Explore(w.scenario, w.schedule, &sim.Replay{Names: found.Schedule.Names, Then: over{}})
	agree := true
	why := "but not with the usual zxids: the code goes by more than their order; search without the reduction zxids"
	if err == nil && w.past.violated() {
		if res.Verdict, agree = w.past.judge(res.History); !agree {
			why = "says its monitor, and its Check finds nothing in the same run: the two differ, or go by more than the " +
				"order of zxids"
		}
	}
	if err != nil || !agree || res.Verdict.Level != checkers.Violated {
		w.repeat(found)
		w.doubt(fmt.Sprintf("%s: %s, %s", found.Verdict.Checker, found.Verdict.Message, why))
		return
	}
	w.report(runner, &res)
}

// repeat panics if the same steps under the same reductions do not show a violation again.
func (w *worker) repeat(found *engine.Result) {
	runner := engine.NewRunner()
	defer runner.Close()
	runner.Detail.DenseZxids = w.reduce.Zxids
	res, err := runner.Explore(w.scenario, w.schedule, &sim.Replay{Names: found.Schedule.Names, Then: over{}})
	if err == nil && res.Verdict.Level != checkers.Violated && !w.past.violated() {
		panic(unstable("what " + found.Verdict.Checker + " says, after " + strings.Join(found.Schedule.Names, ", ")))
	}
}

// report records a violation in the last run of a runner.
func (w *worker) report(runner *engine.Runner, res *engine.Result) {
	runner.Names(res)
	res.History = nil
	w.refute(res)
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
			w.past.take(w.runner)
			w.before = w.read(world, w.next.from.ticks)
			switch from := w.next.from; {
			case from.state.known():
				w.compare(&from.state, w.before, world)
			case w.again && !from.bare && from.print != w.before.fingerprint(): // a checkpoint has no prints of points
				panic(unstable("the state, after " + strings.Join(world.Schedule(), ", ")))
			}
			w.begin, w.local = world.Step(), w.isLocal(world, w.next.by)
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

// arrive records what the next edge has led to, and chooses the one after that.
func (w *worker) arrive(world *sim.World) error {
	defer w.next.explored()
	told := slices.Clone(w.past.take(w.runner))
	w.undecided()
	y := w.read(world, w.ticks())
	if w.expected != nil {
		w.compare(w.expected, y, world)
	}
	if w.foreseen != nil {
		w.foreseen.past = y.past
		w.compare(w.foreseen, y, world)
		w.foreseen = nil
	}
	if !w.entered {
		if w.next.from != nil {
			w.hops.note(w.before, y, w.next.by)
			if !w.past.violated() && !w.again {
				w.learn(y, effect{told, w.past.heard(told), int32(world.Step() - w.begin)})
			}
		}
		if w.past.violated() {
			return errOver // the verdict on the run will name the violation
		}
		whole := y
		if w.audit != nil {
			w.class = y.fingerprint()[0]
			w.check(world, "", w.class)
			whole = w.unforgetting(world, y)
		}
		if err := w.enter(whole, world.Step()); err != nil {
			return err
		}
	}
	w.expected, w.entered = nil, false
	list, mirrored, _ := w.possible(y, world)
	switch {
	case mirrored:
		return errMirrored
	case len(list) == 0:
		return errOver
	}
	w.goOn(y, list, told, int32(world.Step()))
	w.before, w.begin = y, world.Step()
	if w.idles(world) {
		return errIdle
	}
	w.local = w.isLocal(world, w.next.by)
	w.more = false
	return nil
}

// idles reports whether a run has taken so many steps with a known effect, one after the other, that it should end. To
// recall them costs less. But if one of the next effects is not known, the code runs again from its start. So the steps
// may be a share of the run: whatever comes next, they cost little beside what the run has cost already. What they lead
// to is compared with what is known.
func (w *worker) idles(world *sim.World) bool {
	if w.again || w.memo.recall(w.before, w.next.by, &w.scratch, &w.sent) == nil {
		w.idle = 0
		return false
	}
	w.foreseen = &w.scratch
	w.idle++
	return w.idle*idleShare > world.Step()
}

// idleShare says that one in so many steps of a run may be idle at its end.
const idleShare = 8

// undecided records a monitor that could not decide.
func (w *worker) undecided() {
	if w.past.unsure != "" {
		w.doubt("a monitor could not decide: " + w.past.unsure)
	}
}

// isLocal reports whether t changes only its client and the connection of that client.
func (w *worker) isLocal(world *sim.World, t sim.Transition) bool {
	if t.Kind >= sim.FirstFault {
		return w.injector.Local(world, t)
	}
	return world.Local(t)
}

// compare panics if a state is not what it is said to be.
func (w *worker) compare(said, is *state, world *sim.World) {
	if what := said.differs(is); what != "" {
		panic(unstable(what + ", after " + strings.Join(world.Schedule(), ", ")))
	}
}

// read returns the state of a run, with what the checkers remember. ticks is how often time has passed although
// something else could happen.
func (w *worker) read(world *sim.World, ticks int32) *state {
	rest := hash.Hash(world.Rest()).Int(int64(ticks))
	if _, known := w.memo.unspent.get(uint64(rest)); !known {
		w.memo.unspent.put(uint64(rest), w.runner.Unspent())
	}
	x := &state{now: world.Now(), rest: uint64(rest), guarded: w.runner.Guarded(),
		memories: w.past.memories(), base: world.Everywhere(),
		clients: make([]*sim.Part, len(world.Clients()))}
	x.past = pastOf(x.memories)
	print := world.ServersHash()
	var ok bool
	if x.servers, ok = w.memo.servers.get(print); !ok {
		x.servers = w.memo.servers.put(print, world.Servers())
	}
	for i, c := range world.Clients() {
		c.Part(&w.buffer)
		x.clients[i] = w.memo.part(&w.buffer)
	}
	return x
}

// unforgetting returns a state of an audit with everything that code has seen.
func (w *worker) unforgetting(world *sim.World, x *state) *state {
	forgets := world.Detail.Forget // not with several connections of a client
	world.Detail.Forget = false
	y := w.read(world, w.ticks())
	world.Detail.Forget = forgets
	return y
}

// learn records the effect of the next edge.
func (w *worker) learn(y *state, e effect) {
	if len(e.told) == 0 && y.past != w.before.past {
		panic(failed("a checker remembers something of an event that it says it does not see"))
	}
	w.memo.learn(w.before, y, w.next.by, e, w.local, w.fine)
}
