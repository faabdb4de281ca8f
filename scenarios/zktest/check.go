//zksim:ignore only on real connections
package zktest

import (
	"context"
	"net"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"zksim/faults"
	"zksim/model/history"
	"zksim/recipes/live"
	"zksim/scenarios"
	"zksim/scenarios/engine"
	"zksim/scenarios/serve"

	"github.com/go-zookeeper/zk"
)

// Check runs a scenario with the same programs, faults and checkers as [scenarios.Check], but on go-zookeeper's own
// connections, in memory, instead of the simulated client library. It leaves out faults that can only happen to
// simulated code. If there are any, goals that no run reached are only noted, and so are checkers that had nothing to
// judge: both may need these faults. What the documentation of [Run] says also holds for Check.
func Check(t *testing.T, s scenarios.Scenario) {
	t.Helper()
	judged(t, s, scenarios.Check)
}

// judged judges a scenario for Check.
func judged(t *testing.T, s scenarios.Scenario, judge func(t scenarios.T, s scenarios.Scenario)) {
	t.Helper()
	if err := s.Valid(); err != nil {
		t.Fatal(err)
	}
	s.Like = like(t, s.Like.String())
	if slices.ContainsFunc(s.Faults, simulatedOnly) {
		s = s.WithPlan(slices.DeleteFunc(slices.Clone(s.Faults), simulatedOnly))
	}
	check(t, s, count(t), func(c *Cluster) {
		c.lasting, c.stuck, c.timers = afterwards, c.host.wait, &timers{}
		c.host.programs(&s)
	}, judge)
}

// simulatedOnly reports whether a fault can only happen to simulated code, or with the simulated library. Programs can
// have two faults that code without knowledge of a simulator cannot: they offer contexts to cancel, and their setup
// exists before they connect.
func simulatedOnly(r faults.Rule) bool {
	return r.Fault != "cancel" && r.Fault != "sequence" && serve.Servable(faults.Plan{r}) != nil
}

// afterwards is how long everything must stay quiet after the programs have ended. It is longer than a client takes to
// reconnect.
const afterwards = time.Minute

// host is the backend of the processes of a scenario, and of the objects of unmodified code.
type host struct {
	engine.Draws
	c        *Cluster
	resource engine.Resource

	// The mutex of the cluster guards these fields, and the history.
	objects int32
	known   []func() []string // the znodes that recipe objects answer for
	over    bool              // programs wait for good; what they do at the end is not recorded
}

// programs runs the programs of a scenario until all have ended.
func (h *host) programs(s *scenarios.Scenario) {
	history := h.c.world.History
	var all sync.WaitGroup
	dialers := make([]zk.Dialer, s.Clients)
	for i := range dialers { // clients are numbered in this order
		dialers[i] = h.c.Dialer()
	}
	for i, dial := range dialers {
		all.Go(func() {
			conn, err := h.connect(dial)
			if err != nil {
				h.c.Errorf("%v", err)
				return
			}
			p := engine.Process{Conn: conn, Env: env{conn.Env(), h.c}, ID: i + 1, Clients: s.Clients, Rounds: s.Rounds}
			s.Program(p.On(h, "", &h.resource))
			h.c.mu.Lock()
			history.Finished[i+1] = true
			h.c.mu.Unlock()
		})
	}
	all.Wait()
	h.answer()
}

// answer records the znodes that recipe objects answer for.
func (h *host) answer() {
	h.c.mu.Lock()
	known := h.known
	h.c.mu.Unlock()
	for _, x := range known {
		for _, path := range x() {
			h.c.world.History.Known[path] = true
		}
	}
}

// wait records which programs wait for something that will not happen.
func (h *host) wait() {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	h.over = true
	past := h.c.world.History
	for id := 1; id <= past.Clients; id++ {
		if !past.Finished[id] {
			past.Waiting = append(past.Waiting, history.Waiting{Client: int32(id)})
		}
	}
}

// connect connects a client and returns when it has a session.
func (h *host) connect(dial zk.Dialer) (*live.Client, error) {
	const timeout = 10 * time.Second
	c, err := live.Dial(context.Background(), h.c.Addrs(), live.Options{SessionTimeout: timeout,
		Dial: func(_ context.Context, network, address string) (net.Conn, error) {
			return dial(network, address, timeout)
		}})
	if err == nil {
		h.c.mu.Lock()
		h.c.closers = append(h.c.closers, c.Close)
		h.c.mu.Unlock()
	}
	return c, err
}

// Record implements [engine.Host].
func (h *host) Record(e history.Event) {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	if h.over {
		return
	}
	e.Step = int32(h.c.world.Step())
	h.c.world.History.Add(e)
}

// NewObject implements [engine.Host].
func (h *host) NewObject() (id, nth int32) {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	h.objects++
	return h.objects, 0
}

// Know implements [engine.Host].
func (h *host) Know(_ *engine.Process, znodes func() []string) {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	h.known = append(h.known, znodes)
}

// Interruptible implements [engine.Host].
func (h *host) Interruptible(p *engine.Process) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	h.offer(p, cancel)
	return ctx, func() {
		h.offer(p, nil)
		cancel()
	}
}

// offer gives the fault cancel a function to call; nil means that the fault cannot happen.
func (h *host) offer(p *engine.Process, cancel func()) {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // a world recognizes its own goroutines by this
	h.c.world.Client(p.ID).OnInterrupt(nil, cancel)
}

// Fail implements [engine.Host].
func (h *host) Fail(p *engine.Process, why error) {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	if !h.over {
		h.c.world.History.Failed[int32(p.ID)] = why.Error()
	}
}

// step is how long a step of a program takes. Others can move meanwhile.
const step = 10 * time.Millisecond

// Step implements [engine.Host].
func (h *host) Step(*engine.Process) { time.Sleep(step) }

// AtRest implements [engine.Host].
func (h *host) AtRest(*engine.Process) { <-h.c.atRest() }

// Clock implements [engine.Host].
func (h *host) Clock(*engine.Process) time.Time { return time.Now() }

// Dial implements [engine.Host].
func (h *host) Dial(p *engine.Process) (*engine.Process, error) {
	c, err := h.connect(h.c.Dialer())
	if err != nil {
		return nil, err
	}
	q := *p
	q.Conn, q.Env = c, env{c.Env(), h.c}
	return &q, nil
}
