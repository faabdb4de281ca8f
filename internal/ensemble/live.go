// Package ensemble runs scenarios on a real ensemble, with real clients: [RunLive] for a verdict, [Observe]
// for a history of all that was said on the wire.
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

// LiveOptions say how a scenario is run on a real ensemble.
type LiveOptions struct {
	Servers []string      // host:port
	Clients int           // 0: as many as the scenario has
	Timeout time.Duration // in which some operation returns or a program ends, once the faults are over; 0: one minute
	Session time.Duration // the session timeout that clients ask for, and servers bound; 0: that of package live

	// Ours is the ensemble of Servers, if this process has started it. Then its logs say what was committed, and
	// faults may strike it.
	Ours *zkserver.Ensemble
	// Faults is what may go wrong, a plan of a real ensemble, of which Seed draws a part.
	Faults faults.Plan
	Seed   uint64
	// Usual is a simulated run in which nothing strikes: the seed draws from the requests that it has; nil: not known.
	Usual *history.History
}

// LiveRun is what a run on a real ensemble has left behind.
type LiveRun struct {
	History *history.History
	Verdict checkers.Verdict
	Waived  []string    // what checkers need and did not see, and a real run may lack
	Blind   string      // checkers that have not judged it, and why; empty: all have
	Store   string      // what is wrong with the ensemble, rather than with the recipe; empty: nothing
	Plan    faults.Plan // what the seed drew of it: the rules that are left out have a budget of 0
	Struck  []int       // how often each rule of it has struck
	Diary   []string    // what struck, and when
	Txns    []string    // with Store: what the servers have logged since they were started; none if they are not Ours
}

// RunLive runs a scenario once on a real ensemble, and judges it with the same checkers. The znodes are made below a
// folder of its own in the root, which is removed afterwards. Faults come first; when they are over, and all servers
// serve, the history has its Calm, and the programs have to end. A program that waits then, while nothing is said any
// more, is one that waits forever; one that goes on while for Timeout no operation returns counts as having given up.
// Other bounds are the caller's, by ctx. A checker that had nothing to judge makes the verdict unknown, unless that is
// for lack of something a real run may lack, as a fault. A word that no checker knows is an error; an ensemble that
// does not serve is the error [Aborted], and so is a run that hangs although ctx is done.
func RunLive(ctx context.Context, s *engine.Scenario, o LiveOptions) (*LiveRun, error) {
	x := newLiveRun(s, o)
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

// whole is everything about a run.
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

// withDefaults fills in what is not said.
func (o LiveOptions) withDefaults(s *engine.Scenario) LiveOptions {
	o.Clients = cmp.Or(o.Clients, s.Clients)
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	o.Session = cmp.Or(o.Session, live.DefaultSessionTimeout)
	return o
}

// Aborted is the error of a run that has come to nothing for want of an ensemble that serves: of the recipe it says
// nothing.
type Aborted struct {
	Cause  error
	Plan   faults.Plan // what the seed drew of it
	Diary  []string    // what struck, and when
	Stacks string      // of all goroutines, of a run that hangs
}

// Error implements error.
func (a *Aborted) Error() string { return "aborted: " + a.Cause.Error() }

// Unwrap is for [errors.Is].
func (a *Aborted) Unwrap() error { return a.Cause }

// aborted makes the error of a run that has come to nothing. It names servers that have died, which is more than their
// clients know. It takes no lock of the run.
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

// within makes the folder of the run, does something and removes the folder.
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
		if ctx.Err() == nil || o.Ours == nil { // ours are not for anybody else
			h.remove(o, opt)
		}
	}()
	return do()
}

// removeLimit is how long it may take to remove the folder of a run.
const removeLimit = time.Minute

// remove deletes the folder of the run. What cannot be deleted stays.
func (h *liveHost) remove(o LiveOptions, opt live.Options) {
	ctx, cancel := context.WithTimeout(context.Background(), removeLimit) // also of a run that was interrupted
	defer cancel()
	administer(ctx, o, opt, func(admin *live.Client) error {
		removeAll(admin, h.root)
		return nil
	})
}

// dialLimit is how long an ensemble may take to give a session: one of our own more, as its servers may be starved by
// other work of this machine, and there is nobody who has named the wrong ones.
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

// liveHost connects the processes to a real ensemble.
type liveHost struct {
	root     string
	resource engine.Resource
	ctx      context.Context          // of what is interruptible
	wait     func(client int)         // while the client is paused; nil: none is
	rests    *rests                   // nil: nobody waits for the end of faults
	rest     func(told history.Event) // waits until nothing goes on, which is told; nil: nobody knows
	work     time.Duration            // what a step takes

	mu      sync.Mutex
	history history.History
	at      []int64 // when each event was, in microseconds since 1970
	told    []look  // what clients were told of znodes that there are
	wrote   []write // what they were told of their writes
	times   *clock  // of the steps, nil if nobody wants to know
	over    bool    // the history is complete: programs that go on are not heard
	objects int32
	known   []func() []string
	got     time.Time // when an operation returned last
	moments []moment
	working int                  // programs that are in a step
	main    sync.Map             // the numbers of the goroutines in which programs have begun
	present map[connection]int64 // the sessions of libraries, as the history says

	// connect makes another connection of a client; nil: clients have one each.
	connect func(id int) (recipes.Conn, recipes.Env, error)
	dialed  []*live.Client                     // besides these
	cancels map[int]map[int]context.CancelFunc // of the contexts of each client that may be cancelled
	number  int                                // of the latest of them
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

// hear takes note of an event.
//
//zksim:ignore only on a real ensemble
func (h *liveHost) hear(e history.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(e)
}

// add is hear for who holds h.mu.
//
//zksim:ignore only on a real ensemble
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
		h.got = now
	case history.Session:
		if h.present != nil {
			h.present[connection{e.Client, e.Version}] = e.Session
		}
	}
	h.history.Add(e)
	h.at = append(h.at, now.UnixMicro())
}

func (h *liveHost) NewObject() int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.objects++
	return h.objects
}

//zksim:ignore only on a real ensemble
func (h *liveHost) Know(_ *engine.Process, znodes func() []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = append(h.known, znodes)
}

// Interruptible implements [engine.Host].
//
//zksim:ignore only on a real ensemble
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

// interrupts returns what cancels the contexts of a client.
func (h *liveHost) interrupts(client int) []context.CancelFunc {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.cancels[client]))
}

// Step implements [engine.Host]: real clients move by themselves, but where faults strike some are to be at work.
//
//zksim:ignore only on a real ensemble
func (h *liveHost) Step(p *engine.Process) {
	h.pass(p.ID)
	h.works(1)
	defer h.works(-1)
	time.Sleep(h.work)
}

// works counts the programs that are in a step.
//
//zksim:ignore only on a real ensemble
func (h *liveHost) works(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.working += n
}

// liveRest is how long clients whose connections are only observed wait for everything to settle.
const liveRest = 500 * time.Millisecond

// AtRest implements [engine.Host].
//
//zksim:ignore only on a real ensemble
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

//zksim:ignore only on a real ensemble
func (h *liveHost) Fail(p *engine.Process, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over {
		h.history.Failed[int32(p.ID)] = why.Error()
	}
}

// prepare makes the folder and what the scenario wants to find in it.
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
