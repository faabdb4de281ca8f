// Package ensemble runs scenarios on a real ensemble, with real clients: [RunLive] for a verdict, [Ensemble.Observe]
// for a history of everything that was said on the wire.
//
//zksim:ignore only on a real ensemble
package ensemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/zkserver"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/live"
	"zksim/scenarios/engine"
)

// LiveOptions are the settings of a run on a real ensemble.
type LiveOptions struct {
	Servers []string      // host:port
	Clients int           // 0: as many as the scenario has
	Timeout time.Duration // within which some operation returns or a program ends, once the faults are over; 0: one minute
	Session time.Duration // the session timeout that clients ask for, and servers bound; 0: the default of package live

	// Ours is the ensemble of Servers, if this process has started it. Then its logs say what was committed, and faults
	// may strike it.
	Ours *zkserver.Ensemble
	// Faults is a plan for a real ensemble. Seed draws a part of it.
	Faults faults.Plan
	Seed   uint64
	// Usual is a simulated run without faults; the seed draws from its requests. nil: not known.
	Usual *history.History
}

// LiveRun is the result of a run on a real ensemble.
type LiveRun struct {
	History *history.History
	Verdict checkers.Verdict
	Waived  []string    // what checkers need and did not see, but a real run may lack
	Blind   string      // checkers that have not judged the run, and why; empty: all have
	Store   string      // what is wrong with the ensemble, not with the recipe; empty: nothing
	Plan    faults.Plan // what the seed drew of the plan: rules that are left out have a budget of 0
	Struck  []int       // how often each rule of Plan has struck
	Diary   []string    // what struck, and when
	Txns    []string    // with Store: what the servers have logged since they started; none if they are not Ours
}

// RunLive runs a scenario once on a real ensemble, and judges it with the same checkers. The znodes are made below a
// folder in the root for this run, which is removed afterwards. Faults come first. When they are over, and all servers
// serve, the history has its Calm, and the programs must end. A program that still waits when nothing more is said
// counts as waiting forever. A program that goes on while no operation returns for Timeout counts as having given up,
// unless it sleeps for longer than half of that. The caller sets other limits by ctx. A checker that had nothing to
// judge makes the verdict unknown, unless it lacked something that a real run may lack, such as a fault. A word that no
// checker knows is an error. A run that does not come to its end after its folder was made, or hangs although ctx is
// done, returns an [*Aborted]; so does an ensemble of ours that does not serve before that, or of which a server dies.
func RunLive(ctx context.Context, s *engine.Scenario, o LiveOptions) (*LiveRun, error) {
	x := newLiveRun(s, o)
	ctx, end := alive(ctx, o.Ours)
	defer end()
	err := watched(ctx, func() error { return x.whole(ctx) })
	hang, left := errors.AsType[*hangs](err)
	switch {
	case left:
		a := x.aborted(err)
		a.Stacks = hang.stacks
		return nil, a
	case err != nil && x.o.Ours != nil && unserved(err):
		return nil, x.aborted(err)
	case err != nil:
		return nil, err
	}
	return &x.LiveRun, nil
}

// whole makes the run and judges it.
func (x *liveRun) whole(ctx context.Context) error {
	defer x.host.rests.end()
	inner, cancel := context.WithCancel(context.Background())
	defer cancel()
	x.host.ctx = inner
	err := x.host.within(ctx, x.scenario, x.o, live.Options{}, func() error {
		if err := x.run(ctx); err != nil {
			return x.aborted(err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return x.judge()
}

// withDefaults fills in the defaults.
func (o LiveOptions) withDefaults(s *engine.Scenario) LiveOptions {
	o.Clients = cmp.Or(o.Clients, s.Clients)
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	o.Session = cmp.Or(o.Session, live.DefaultSessionTimeout)
	return o
}

// Aborted is the error of a run without a result because the ensemble does not serve. It says nothing about the recipe.
type Aborted struct {
	Cause  error
	Plan   faults.Plan // what the seed drew of the plan
	Diary  []string    // what struck, and when
	Stacks string      // of all goroutines, if the run hangs
}

// Error implements error.
func (a *Aborted) Error() string { return "aborted: " + a.Cause.Error() }

// Unwrap supports [errors.Is].
func (a *Aborted) Unwrap() error { return a.Cause }

// aborted returns the error of a run without a result. It names servers that have died, because clients do not know
// that. It takes no lock of the run.
func (x *liveRun) aborted(err error) *Aborted {
	if a, ok := errors.AsType[*Aborted](err); ok {
		return a
	}
	if x.o.Ours != nil {
		for _, why := range x.o.Ours.Died() {
			x.diary.Tell("%s", why)
			err = fmt.Errorf("%s: %w", why, err)
		}
	}
	return &Aborted{Cause: err, Plan: x.Plan, Diary: x.diary.Lines()}
}

// within makes the folder of the run, calls do and removes the folder.
func (h *liveHost) within(ctx context.Context, s *engine.Scenario, o LiveOptions, opt live.Options,
	do func() error) error {
	err := administer(ctx, o, opt, func(admin *live.Client) error {
		h.root = "/zksim-" + admin.Env().UUID()
		if err := h.prepare(ctx, admin, s); err != nil {
			return fmt.Errorf("preparing %s: %w", h.root, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer func() {
		if ctx.Err() == nil || o.Ours == nil { // nobody else uses ours
			h.remove(o, opt)
		}
	}()
	return do()
}

// removeLimit is how long removing the folder of a run may take.
const removeLimit = time.Minute

// remove deletes the folder of the run. What cannot be deleted stays.
func (h *liveHost) remove(o LiveOptions, opt live.Options) {
	ctx, cancel := context.WithTimeout(context.Background(), removeLimit) // also after an interrupted run
	defer cancel()
	administer(ctx, o, opt, func(admin *live.Client) error {
		removeAll(admin, h.root)
		return nil
	})
}

// dialLimit is how long an ensemble may take to give a session. Our own may take longer: other work of this machine may
// starve its servers, and nobody can have named the wrong ones.
const (
	dialLimit    = 10 * time.Second
	dialLimitOwn = 30 * time.Second
)

func dial(ctx context.Context, o LiveOptions, opt live.Options) (*live.Client, error) {
	limit := dialLimit
	if o.Ours != nil {
		limit = dialLimitOwn
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return live.Dial(ctx, o.Servers, opt)
}

// liveHost connects the processes with a real ensemble.
type liveHost struct {
	engine.Draws
	root     string
	resource engine.Resource
	ctx      context.Context          // for interruptible operations
	wait     func(client int)         // while the client is paused; nil: no client ever is
	rests    *rests                   // nil: programs do not wait for the end of faults
	rest     func(told history.Event) // waits until nothing goes on, and records told then; nil: that is not known
	work     time.Duration            // how long a step takes

	mu      sync.Mutex
	history history.History
	at      []int64 // time of each event, in microseconds since 1970
	told    []look  // what clients were told about existing znodes
	wrote   []write // what they were told about their writes
	times   *clock  // of the steps; nil: not recorded
	over    bool    // the history is complete: what programs still do is not recorded
	objects int32
	known   []func() []string
	got     time.Time // when an operation last returned, or when a program wakes from a long sleep
	moments []moment
	working int                  // programs that are in a step
	main    sync.Map             // the ids of the goroutines in which programs began
	present map[connection]int64 // the sessions of libraries, according to the history

	// connect makes another connection of a client; nil: clients have one each.
	connect func(id int) (recipes.Conn, recipes.Env, error)
	dialed  []*live.Client                     // the further connections
	cancels map[int]map[int]context.CancelFunc // of the interruptible contexts of each client
	number  int                                // of the latest context
}

// Record implements [engine.Host]. A program that is paused stops here.
func (h *liveHost) Record(e history.Event) {
	h.pass(int(e.Client))
	if e.Kind == history.Invoke && e.Op == checkers.Rest && h.rests != nil {
		h.rests.wait(int(e.Client))
	}
	e.Task = h.task()
	h.hear(e)
}

// pass waits while a client is paused.
func (h *liveHost) pass(client int) {
	if h.wait != nil {
		h.wait(client)
	}
}

// hear records an event.
func (h *liveHost) hear(e history.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(e)
}

// add is hear for callers that hold h.mu.
func (h *liveHost) add(e history.Event) {
	if h.over {
		return
	}
	if h.times != nil {
		e.Step = h.times.step()
	}
	now := time.Now()
	switch e.Kind {
	case history.Return:
		h.got = later(h.got, now)
	case history.Session:
		if h.present != nil {
			h.present[connection{e.Client, e.Version}] = e.Session
		}
	}
	h.history.Add(e)
	h.at = append(h.at, now.UnixMicro())
}

func (h *liveHost) NewObject() (id, nth int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.objects++
	return h.objects, 0
}

func (h *liveHost) Know(_ *engine.Process, znodes func() []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = append(h.known, znodes)
}

// Interruptible implements [engine.Host].
func (h *liveHost) Interruptible(p *engine.Process) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(h.ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cancels == nil {
		h.cancels = map[int]map[int]context.CancelFunc{}
	}
	if h.cancels[p.ID] == nil {
		h.cancels[p.ID] = map[int]context.CancelFunc{}
	}
	h.number++
	n := h.number
	h.cancels[p.ID][n] = cancel
	return ctx, func() {
		cancel()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.cancels[p.ID], n)
	}
}

// interrupts returns the functions that cancel the contexts of a client.
func (h *liveHost) interrupts(client int) []context.CancelFunc {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.cancels[client]))
}

// Step implements [engine.Host]. Real clients move by themselves, but when faults strike, some should be at work.
func (h *liveHost) Step(p *engine.Process) {
	h.pass(p.ID)
	h.works(1)
	defer h.works(-1)
	time.Sleep(h.work)
}

// works counts the programs that are in a step.
func (h *liveHost) works(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.working += n
}

// liveRest is how long clients that are only observed wait for everything to settle.
const liveRest = 500 * time.Millisecond

// Clock implements [engine.Host].
func (h *liveHost) Clock(*engine.Process) time.Time { return time.Now() }

// AtRest implements [engine.Host].
func (h *liveHost) AtRest(p *engine.Process) {
	if h.rests != nil {
		h.rests.wait(p.ID)
	}
	if h.rest == nil {
		time.Sleep(liveRest)
		return
	}
	h.rest(history.Event{Kind: history.Told, Client: int32(p.ID), Op: checkers.ToldRest, Task: h.task()})
}

func (h *liveHost) Dial(p *engine.Process) (*engine.Process, error) {
	if h.connect == nil {
		return nil, errors.New("a client whose connection is observed has no other one")
	}
	c, env, err := h.connect(p.ID)
	if err != nil {
		return nil, err
	}
	q := *p
	q.Conn, q.Env = c, env
	return &q, nil
}

func (h *liveHost) Fail(p *engine.Process, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over {
		h.history.Failed[int32(p.ID)] = why.Error()
	}
}

// prepare makes the folder and what the scenario expects in it.
func (h *liveHost) prepare(ctx context.Context, c *live.Client, s *engine.Scenario) error {
	acl := zk.WorldACL(zk.PermAll)
	if err := create(ctx, c, h.root, nil, 0, acl); err != nil {
		return err
	}
	for _, r := range s.Setup {
		var err error
		switch r.Op {
		case model.OpCreate:
			err = create(ctx, c, h.root+r.Path, r.Data, r.Flags, r.ACL)
		case model.OpSetACL:
			err = patiently(ctx, func() error {
				_, err := c.SetACL(h.root+r.Path, r.ACL, -1)
				return err
			})
		default:
			err = fmt.Errorf("a setup with %v cannot be made on a real server", r.Op)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeAll deletes a subtree; what cannot be deleted stays.
func removeAll(c *live.Client, path string) {
	children, _, err := c.Children(path)
	if err != nil {
		return
	}
	for _, name := range children {
		removeAll(c, path+"/"+name)
	}
	c.Delete(path, -1)
}
