// Package ensemble runs scenarios on a real ensemble, with real clients: [RunLive] for a verdict, [Observe]
// for a history of all that was said on the wire.
package ensemble

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes/live"
	"zksim/scenarios/engine"
)

// LiveOptions say how a scenario is run on a real ensemble.
type LiveOptions struct {
	Servers []string      // host:port
	Clients int           // 0: as many as the scenario has
	Timeout time.Duration // for the programs to end; 0: one minute
}

// RunLive runs a scenario once on a real ensemble, without faults, and judges it
// with the same checkers. The znodes are made below a folder of its own in the
// root, which is removed afterwards. A program that does not end in time counts
// as having given up. A checker that had nothing to judge makes the verdict
// unknown, unless that is for lack of something a real run may lack, as a fault. A word that no
// checker knows is an error.
func RunLive(ctx context.Context, s *engine.Scenario, o LiveOptions) (*history.History, checkers.Verdict, error) {
	if o.Clients == 0 {
		o.Clients = s.Clients
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	h := &liveHost{ctx: context.Background()}
	h.history.Reset(o.Clients)
	err := h.within(ctx, s, o, live.Options{}, func(admin *live.Client) error { return h.run(ctx, s, o, admin) })
	if err != nil {
		return nil, checkers.Verdict{}, err
	}
	v, err := s.JudgeReal(&h.history)
	if err != nil {
		return nil, checkers.Verdict{}, err
	}
	return &h.history, v, nil
}

// within makes the folder of the run, does something and removes the folder.
func (h *liveHost) within(ctx context.Context, s *engine.Scenario, o LiveOptions, opt live.Options,
	do func(admin *live.Client) error) error {
	admin, err := dial(ctx, o, opt)
	if err != nil {
		return err
	}
	defer admin.Close()
	h.root = "/zksim-" + admin.Env().UUID()
	if err := h.prepare(admin, s); err != nil {
		return fmt.Errorf("preparing %s: %w", h.root, err)
	}
	defer removeAll(admin, h.root)
	return do(admin)
}

// dialLimit is how long an ensemble may take to give a session.
const dialLimit = 10 * time.Second

func dial(ctx context.Context, o LiveOptions, opt live.Options) (*live.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	return live.Dial(ctx, o.Servers, opt)
}

// liveHost connects the processes to a real ensemble.
type liveHost struct {
	root     string
	resource engine.Resource
	ctx      context.Context // of what is interruptible

	mu      sync.Mutex
	history history.History
	times   *clock // of the steps, nil if nobody wants to know
	over    bool   // the history is complete: programs that go on are not heard
	objects int32
	known   []func() []string

	connect func(id int) (*live.Client, error) // nil: clients have one connection each
	dialed  []*live.Client                     // besides these
}

func (h *liveHost) Record(e history.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return
	}
	if h.times != nil {
		e.Step = h.times.step()
	}
	h.history.Add(e)
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

func (h *liveHost) Interruptible(*engine.Process) (context.Context, context.CancelFunc) {
	return context.WithCancel(h.ctx)
}

// step does nothing: real clients move by themselves.
func (h *liveHost) Step(*engine.Process) {}

// liveRest is how long real clients wait for everything to settle.
const liveRest = 2 * time.Second

//zksim:ignore only on a real ensemble
func (h *liveHost) AtRest(*engine.Process) { time.Sleep(liveRest) }

//zksim:ignore only on a real ensemble
func (h *liveHost) Dial(p *engine.Process) (*engine.Process, error) {
	if h.connect == nil {
		return nil, errors.New("a client whose connection is observed has no other one")
	}
	c, err := h.connect(p.ID)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.dialed = append(h.dialed, c)
	h.mu.Unlock()
	q := *p
	q.Conn, q.Env = c, c.Env()
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
func (h *liveHost) prepare(c *live.Client, s *engine.Scenario) error {
	acl := zk.WorldACL(zk.PermAll)
	if _, err := c.Create(h.root, nil, 0, acl); err != nil {
		return err
	}
	for _, r := range s.Setup {
		if r.Op != model.OpCreate {
			return fmt.Errorf("a setup with %v cannot be made on a real server", r.Op)
		}
		if _, err := c.Create(h.root+r.Path, r.Data, r.Flags, r.ACL); err != nil {
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

// run starts the clients, waits for their programs, and writes down the end.
func (h *liveHost) run(ctx context.Context, s *engine.Scenario, o LiveOptions, admin *live.Client) error {
	clients := make([]*live.Client, o.Clients)
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, c := range append(clients, h.dialed...) {
			if c != nil {
				c.Close()
			}
		}
	}()
	h.connect = func(id int) (*live.Client, error) {
		return dial(ctx, o, live.Options{OnWatch: func(ev zk.Event) {
			h.Record(history.Event{Kind: history.Notify, Client: int32(id), Op: history.EventName(ev.Type), Path: ev.Path})
		}})
	}
	for i := range clients {
		c, err := h.connect(i + 1)
		if err != nil {
			return err
		}
		clients[i] = c
	}
	ended := make(chan int, len(clients))
	for i, c := range clients {
		p := engine.Process{Conn: c, Env: c.Env(), ID: i + 1, Clients: len(clients), Rounds: s.Rounds}.On(h, h.root,
			&h.resource)
		go func() {
			s.Program(p)
			ended <- p.ID
		}()
	}
	return h.finish(ctx, clients, ended, o.Timeout, admin)
}

// finish waits for the programs and records how everything stands then.
func (h *liveHost) finish(ctx context.Context, clients []*live.Client, ended <-chan int, timeout time.Duration,
	admin *live.Client) error {
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	finished := make([]bool, len(clients)+1)
	for range clients {
		select {
		case id := <-ended:
			finished[id] = true
			continue
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-deadline.C:
		}
		break
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	copy(h.history.Finished, finished)
	for i, c := range clients {
		h.history.Sessions[c.SessionID()] = int32(i + 1)
		if !finished[i+1] {
			h.history.Outcome = history.Stopped
			h.history.Failed[int32(i+1)] = fmt.Sprintf("did not end within %v", timeout)
		}
	}
	if h.history.Outcome == history.Stopped {
		return nil
	}
	for _, znodes := range h.known {
		for _, path := range znodes() {
			h.history.Known[path] = true
		}
	}
	return h.readTree(admin, h.root)
}

// readTree writes the znodes below path into the history.
func (h *liveHost) readTree(c *live.Client, path string) error {
	if _, err := c.Sync(path); err != nil {
		return err
	}
	data, stat, err := c.Get(path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	h.history.Tree = append(h.history.Tree, history.Node{Path: path, Data: string(data), Owner: stat.EphemeralOwner,
		Czxid: stat.Czxid, Mzxid: stat.Mzxid, Pzxid: stat.Pzxid, Version: stat.Version})
	children, _, err := c.Children(path)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	for _, name := range children {
		if err := h.readTree(c, path+"/"+name); err != nil {
			return err
		}
	}
	return nil
}
