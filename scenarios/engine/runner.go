package engine

import (
	"context"
	"math"
	"slices"
	"time"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/hash"
	"zksim/model/history"
	"zksim/sim"
)

// Runner runs scenarios in the simulator, one seed or schedule after the other. It reuses its memory. It is not safe
// for concurrent use, but any number of runners may work at once.
type Runner struct {
	Strategy Strategy   // of Seed
	Detail   sim.Detail // of the worlds
	// Misused, if not nil, is called at the end of a run in which client code leaves the simulator.
	Misused func(m *sim.Misuse)

	world     *sim.World
	random    sim.Random
	pct       sim.PCT
	timed     sim.Timed
	bytes     sim.Bytes
	injector  faults.Injector
	plan      faults.Plan
	resource  *Resource
	processes []Process
	cancels   bool              // the plan cancels contexts
	known     []func() []string // of all recipe objects, with their clients
	owners    []*Process
	ordinals  []int32     // see Ordinal
	counts    []int32     // by client: its objects
	answered  *sim.Misuse // what went wrong in answer; nil: nothing
	lost      bool        // client code did not come back

	worker Worker   // of a scenario that runs elsewhere
	ahead  []uint64 // seeds that it will be asked for next
	reply  *Reply   // of the worker
	note   func(name []byte, taken int)
	misfit func(step int)
	until  int // the process ends before that step, by stop; 0: it does not end
	stop   func()
	told   *history.Trace // of the run in progress
}

// NewRunner returns a runner. Close it to free its coroutines.
func NewRunner() *Runner {
	r := &Runner{world: sim.NewWorld(), resource: &Resource{}}
	r.world.Residual = r.residual
	r.world.OnEnd = func() { r.answered = Judging(r.answer) }
	return r
}

// Close frees what a runner holds.
func (r *Runner) Close() {
	if r.worker != nil {
		r.worker.Close()
	}
	if !r.lost {
		r.world.Close()
	}
}

// Guarded returns a hash of what the resource guarded by the locks remembers.
func (r *Runner) Guarded() uint64 {
	return uint64(hash.Hash(0).Int(r.resource.written).Int(r.resource.seen))
}

// Unspent reports for each rule of the plan whether it may strike once more in the present run.
func (r *Runner) Unspent() []bool {
	list := r.injector.Unspent()
	if r.world.Calm() {
		clear(list)
	}
	return list
}

// Ordinal returns a number that tells a recipe object of the present run from others of its client, whichever of the
// client's connections they are on: how many of them were registered before it.
func (r *Runner) Ordinal(object int32) int32 { return r.ordinals[object-1] }

// World returns the world of the runs, for inspection.
func (r *Runner) World() *sim.World { return r.world }

// Result is the result of one run. History is valid until the runner's next run.
type Result struct {
	Verdict  checkers.Verdict
	Schedule Schedule
	Steps    int
	Hash     uint64
	History  *history.History
	// Misuse, if not nil, says that client code has left the simulator. The verdict is then meaningless. It is a
	// violation, by the checker "misuse", so that nobody takes it for a success.
	Misuse *sim.Misuse
	// Hung says that the code of a run elsewhere, see [Scenario.Elsewhere], did not come to rest. Such a run takes long.
	Hung bool

	dead   bool // it ended its process
	unmade bool // the run could not be made, and its verdict is unknown
}

// deathCost is the number of steps that could be made while a process ends and another one starts.
const deathCost = 10_000

// cost is the work of a run, in steps.
func (r *Result) cost() int {
	if r.dead {
		return r.Steps + deathCost
	}
	return r.Steps
}

// Seed runs the scenario with everything drawn from a seed. The schedule of the result has no names yet; see Schedule.
func (r *Runner) Seed(s *Scenario, seed uint64) Result {
	random, chooser := r.seeded(r.Strategy, seed)
	p := s.NewSchedule(seed)
	if len(s.Servers) > 0 {
		p.Servers = s.Servers[random.Uint64()%uint64(len(s.Servers))]
	}
	p.Order = random.Uint64()
	r.plan = s.Faults.SwarmInto(r.plan[:0], p.Servers, random.Uint64)
	p.Faults = r.plan
	random.FaultRate = 1 << (10 + random.Uint64()%6) // 1/64 to 1/2
	return r.certain(s, &Order{By: BySeed, Seed: seed, Strategy: r.Strategy, Schedule: p, Then: r.ahead}, chooser)
}

// seeded returns the chooser of a strategy for a seed, and its random numbers.
func (r *Runner) seeded(strategy Strategy, seed uint64) (*sim.Random, sim.Chooser) {
	if strategy.pct(seed) {
		r.pct.Seed(seed)
		return &r.pct.Random, &r.pct
	}
	r.random.Seed(seed)
	return &r.random, &r.random
}

// certain makes a run that is always possible. If it cannot be made elsewhere, its verdict is unknown.
func (r *Runner) certain(s *Scenario, o *Order, ch sim.Chooser) (result Result) {
	var err error
	if s.Elsewhere != nil {
		if result, err = r.elsewhere(s, o); err != nil {
			result.Verdict = checkers.Verdict{Level: checkers.Unknown, Message: err.Error(), Event: -1}
			result.History, result.unmade = &history.History{}, true
			r.reply = &Reply{Result: result}
		}
		return result
	}
	if result, err = r.run(s, o.Schedule, ch); err != nil {
		panic("scenarios: a seed, or bytes, cannot fail: " + err.Error())
	}
	return result
}

// Timed runs the scenario once with realistic times and without faults on one server. It also returns the time of each
// step. See [sim.Timed].
func (r *Runner) Timed(s *Scenario, seed uint64, t sim.Timing) (Result, []time.Duration) {
	return r.TimedUntil(s, seed, t, func(*history.History, time.Duration) bool { return false })
}

// TimedUntil is Timed, except that the run ends early when done returns true. It calls done before every step, with the
// time of the last one.
func (r *Runner) TimedUntil(s *Scenario, seed uint64, t sim.Timing,
	done func(h *history.History, now time.Duration) bool) (Result, []time.Duration) {
	r.timed.Seed(seed)
	r.timed.Timing = t
	long := *s
	long.SafetySteps, long.MaxSteps = math.MaxInt32, math.MaxInt32
	p := s.NewSchedule(seed)
	p.Order = r.timed.Uint64()
	result, err := r.run(&long, p, &untilDone{&r.timed, done})
	if err != nil {
		panic("scenarios: a timed run cannot fail: " + err.Error())
	}
	return result, r.timed.Times
}

// Explore runs the scenario in the circumstances of p with the choices of ch. An error of ch ends the run without a
// verdict and is returned.
func (r *Runner) Explore(s *Scenario, p Schedule, ch sim.Chooser) (Result, error) {
	return r.run(s, p, ch)
}

// untilDone ends a timed run.
type untilDone struct {
	*sim.Timed
	done func(h *history.History, now time.Duration) bool
}

// Choose implements [sim.Chooser].
func (u *untilDone) Choose(w *sim.World) (sim.Transition, bool, error) {
	if n := w.Step(); n > 0 && u.done(w.History, u.Times[n-1]) {
		return sim.Transition{}, false, nil
	}
	return u.Timed.Choose(w)
}

// Names completes the schedule of the last result with the names of its transitions.
func (r *Runner) Names(result *Result) {
	result.Schedule.Names, result.Schedule.Notes, result.Schedule.Lines = r.names(), nil, nil
	result.Schedule.Faults = append(faults.Plan(nil), result.Schedule.Faults...)
}

// names returns the names of the transitions of the last run.
func (r *Runner) names() []string {
	if r.reply != nil {
		return r.reply.Names
	}
	return r.world.Schedule()
}

// Hashes returns the running hash of the last run after each step.
func (r *Runner) Hashes() []uint64 {
	if r.reply != nil {
		return r.reply.Hashes
	}
	return r.world.Hashes()
}

// Replay runs a schedule. It fails if the schedule does not fit the scenario, with an error that says where, and with a
// [*sim.Misuse]. If its runs may part, Replay takes the steps that are possible, and repeats the run until its checker
// is violated or the schedule's number of repeats is reached.
func (r *Runner) Replay(s *Scenario, schedule Schedule) (Result, error) {
	return r.replay(s, schedule, nil)
}

// replay is Replay, except that then, if not nil, chooses the steps after the schedule.
func (r *Runner) replay(s *Scenario, schedule Schedule, then sim.Chooser) (Result, error) {
	if err := s.accept(&schedule); err != nil {
		return Result{}, err
	}
	for n := 1; ; n++ {
		result, err := r.run(s, schedule, &sim.Replay{Names: schedule.Names, Loose: schedule.Loose(), Then: then})
		switch {
		case err != nil:
			return result, schedule.misfit(err)
		case result.Misuse != nil:
			return result, result.Misuse
		case n >= schedule.Again.Of || schedule.Shown(result.Verdict):
			r.Names(&result)
			return result, nil
		}
	}
}

// run runs a scenario. It is no error here if client code leaves the simulator.
func (r *Runner) run(s *Scenario, p Schedule, ch sim.Chooser) (Result, error) {
	if s.Elsewhere != nil {
		return r.runElsewhere(s, p, ch)
	}
	if r.note != nil || r.until > 0 {
		ch = &noting{Chooser: ch, r: r}
	}
	r.reply = nil
	r.injector.Reset(p.Faults)
	r.resource.written, r.resource.seen = 0, 0
	r.known, r.owners, r.ordinals, r.answered = r.known[:0], r.owners[:0], r.ordinals[:0], nil
	clients, rounds := s.Size(&p)
	if s.Outside != nil {
		clients = 0 // they join
	}
	r.processes = slices.Grow(r.processes[:0], clients)[:clients]
	r.counts = slices.Grow(r.counts[:0], clients)[:clients]
	clear(r.counts)
	r.cancels = slices.ContainsFunc(p.Faults, func(x faults.Rule) bool { return x.Fault == "cancel" })
	w := r.world
	safety, limit, capped := s.stepLimits(&p, clients, rounds)
	w.Reset(sim.Config{Clients: clients, Dials: s.dials(rounds), Servers: p.Servers, Order: p.Order, Like: p.Like,
		SafetySteps: safety, MaxSteps: limit, Detail: r.Detail}, &r.injector, func(c *sim.Client) {
		q := &r.processes[c.ID()-1]
		*q = Process{ID: c.ID(), Clients: clients, Rounds: rounds, host: (*simHost)(r), resource: r.resource}
		r.connect(q, c)
		s.Program(q)
	})
	if err := s.setUp(w); err != nil {
		return Result{Schedule: p}, err
	}
	p.Faults.Prepare(w)
	var err error
	if s.Outside != nil {
		err = s.Outside(w, func() error { return runUntilBroken(w, ch) })
	} else {
		err = w.Run(ch)
	}
	w.History.Steps = w.Step()
	result := Result{Schedule: p, Steps: w.Step(), Hash: w.Hash(), History: w.History}
	m, misused := err.(*sim.Misuse)
	if !misused {
		m = r.answered
	}
	if m == nil && err == nil {
		judge := s.judge
		if capped && w.History.Outcome == history.StepLimit {
			judge = func(h *history.History) checkers.Verdict { return judgeCapped(s, h) }
		}
		result.Verdict, m = s.judgeUnchanged(w.History, w.Strict || s.Outside != nil, judge)
	}
	if m != nil {
		result.Misuse, err = m, nil
		result.Verdict = checkers.Verdict{Level: checkers.Violated, Checker: "misuse", Message: m.Message, Event: -1}
		if r.Misused != nil {
			r.Misused(m)
		}
	}
	return result, err
}

// connect gives a process the connection and the environment of a client.
func (r *Runner) connect(p *Process, c *sim.Client) {
	hears := r.hears(c)
	p.Conn, p.own = hearingConn{c.Conn(), hears}, hearingEnv{c.Env(), hears}
	p.Env = p.own
}

// answer notes which znodes the objects of live clients answer for.
func (r *Runner) answer() {
	for i, znodes := range r.known {
		if !r.owners[i].own.(hearingEnv).Alive() {
			continue
		}
		for _, path := range znodes() {
			r.world.History.Known[path] = true
		}
	}
}

// residual appends what a client whose code has ended leaves to the judges besides the events in the history: the
// znodes that its objects answer for, and whether its code finished or gave up.
func (r *Runner) residual(x hash.Hash, c *sim.Client) hash.Hash {
	h := r.world.History
	x = x.Bool(h.Finished[c.ID()]).String(h.Failed[int32(c.ID())])
	for i, znodes := range r.known {
		if r.owners[i].ID == c.ID() {
			for _, path := range znodes() {
				x = x.String(path)
			}
		}
	}
	return x
}

// simHost connects the processes to the simulator.
type simHost Runner

func (h *simHost) Record(e history.Event) {
	c := h.world.Clients()[e.Client-1]
	c.Own()
	if e.Kind == history.Write { // the program learns whether it was accepted
		c.Learn(uint64(hash.Hash(0).Bool(e.OK)))
	}
	e.Step, e.Task = int32(h.world.Step()), c.Task()
	h.world.History.Add(e)
}

func (h *simHost) NewObject() (id, nth int32) {
	n := len(h.ordinals) // the last is that of the object, which is known
	return int32(n), h.ordinals[n-1]
}

func (h *simHost) Know(p *Process, znodes func() []string) {
	c := h.world.Clients()[p.ID-1]
	c.Own()
	c.Leave(0)
	h.known = append(h.known, znodes)
	h.owners = append(h.owners, p)
	h.ordinals = append(h.ordinals, h.counts[p.ID-1])
	h.counts[p.ID-1]++
}

func (h *simHost) Interruptible(p *Process) (context.Context, context.CancelFunc) {
	if !h.cancels {
		return context.Background(), func() {}
	}
	c := h.world.Clients()[p.ID-1]
	ctx, cancel := context.WithCancel(context.Background())
	c.OnInterrupt(ctx, cancel)
	return ctx, func() {
		c.OnInterrupt(nil, nil)
		cancel()
	}
}

func (h *simHost) Step(p *Process) { p.own.(hearingEnv).Yield() }

func (h *simHost) AtRest(p *Process) {
	p.own.(hearingEnv).AtRest()
	h.Record(history.Event{Kind: history.Told, Client: int32(p.ID), Op: checkers.ToldRest})
}

func (h *simHost) Choose(p *Process, n int) int { return p.own.(hearingEnv).Choose(n) }

func (h *simHost) Clock(p *Process) time.Time { return p.own.(hearingEnv).Clock() }

func (h *simHost) Dial(p *Process) (*Process, error) {
	c := h.world.Clients()[p.ID-1].Dial()
	q := *p
	(*Runner)(h).connect(&q, c)
	return &q, nil
}

func (h *simHost) Fail(p *Process, why error) {
	c := h.world.Clients()[p.ID-1]
	c.Own()
	c.Leave(uint64(hash.Hash(1).String(why.Error())))
	h.world.History.Failed[int32(p.ID)] = why.Error()
}
