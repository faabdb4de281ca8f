// Package nemesis causes faults on a real ensemble: of connections between clients and servers, which its dialers make,
// and of servers that this process has started. A plan and a seed decide what strikes, and at which request of which
// client; the clock does not. It knows no recipe and no checker.
package nemesis

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"zksim/faults"
	"zksim/internal/wire"
	"zksim/internal/zkserver"
	"zksim/model"
	"zksim/model/history"
	"zksim/sim"
)

// Options configure a Nemesis.
type Options struct {
	Plan    faults.Plan // everything in it has to strike; see Draw
	Seed    uint64
	Clients int
	Timeout time.Duration      // of sessions, as clients request it; see Grant
	Addrs   []string           // of the servers
	Servers *zkserver.Ensemble // these servers, if they are ours; otherwise nil
	Usual   *history.History   // a run of these clients in which nothing strikes; nil: unknown
	Root    string             // the folder of the run; aims at paths and the diary leave it out

	// Record gets the faults, as they strike.
	Record func(history.Event)
	// Diary gets what strikes, and what comes of it.
	Diary *Diary
	// Cancels returns functions that cancel the cancellable contexts of a client.
	Cancels func(client int) []context.CancelFunc
}

// Nemesis strikes the clients and servers of one run. All methods may be called concurrently.
type Nemesis struct {
	o       Options
	diary   *Diary
	ctx     context.Context // of actions that take time; done at Heal
	cancel  context.CancelFunc
	actions chan func() // actions on servers, one after the other
	running sync.WaitGroup

	mu      sync.Mutex // guards what follows
	strikes []strike
	struck  []int // per rule
	clients []*client
	over    bool // nothing strikes any more
	busy    int  // actions that were begun and have not ended
	last    time.Time
	down    map[int]bool // servers that nobody may dial, by index
	dead    map[int]bool // servers that were killed, by index
	deposed *deposed
	failed  []error
}

// New returns a Nemesis that is ready to dial.
func New(o Options) *Nemesis {
	n := &Nemesis{o: o, diary: o.Diary, strikes: draw(o.Plan, o.Seed, o.Clients, o.Usual),
		struck: make([]int, len(o.Plan)), last: time.Now(), down: map[int]bool{}, dead: map[int]bool{}}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.actions = make(chan func(), len(n.strikes)+1)
	for i := range o.Clients {
		n.clients = append(n.clients, &client{n: n, id: i + 1, next: -1, server: -1, seen: make([]int, len(o.Plan)),
			written: make([]int, len(o.Plan))})
	}
	n.running.Go(func() {
		for {
			select {
			case act := <-n.actions:
				act()
			case <-n.ctx.Done():
				return
			}
		}
	})
	return n
}

// Grant returns the longest session timeout that clients have been granted, and uses it from now on: servers have
// bounds of their own. Call it between the first connections of the clients and their requests.
func (n *Nemesis) Grant() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, c := range n.clients {
		if i == 0 || c.granted > n.o.Timeout {
			n.o.Timeout = c.granted
		}
	}
	return n.o.Timeout
}

// Struck returns how often each rule has struck.
func (n *Nemesis) Struck() []int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.struck)
}

// Spent reports whether nothing more will strike and nothing is going on: everything has struck and no event is to be
// held back, or nothing has happened for longer than idle.
func (n *Nemesis) Spent(idle time.Duration) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.busy > 0 {
		return false
	}
	if slices.ContainsFunc(n.strikes, func(s strike) bool { return !s.done }) ||
		slices.ContainsFunc(n.clients, func(c *client) bool { return c.delay != nil }) {
		return time.Since(n.last) > idle
	}
	return true
}

// Wait waits while a client is paused.
func (n *Nemesis) Wait(client int) {
	for {
		n.mu.Lock()
		paused := n.clients[client-1].paused
		n.mu.Unlock()
		if paused == nil {
			return
		}
		<-paused
	}
}

// record writes a fault into the diary and the history. n.mu is held.
func (n *Nemesis) record(s *strike, name, about string) {
	n.struck[s.rule]++
	n.diary.Tell("%s, at %s%s", name, s, about)
	n.o.Record(history.Event{Kind: history.Fault, Op: name, Client: int32(s.client)})
}

// start does something that takes time: in a goroutine of its own or, if it happens to servers, after everything that
// was begun before has ended. n.mu is held.
func (n *Nemesis) start(servers bool, act func()) {
	n.busy++
	do := func() {
		act()
		n.mu.Lock()
		defer n.mu.Unlock()
		n.ends()
	}
	if servers {
		n.actions <- do
		return
	}
	n.running.Go(do)
}

// ends notes that an action has ended. n.mu is held.
func (n *Nemesis) ends() {
	n.busy--
	n.last = time.Now()
}

// sleep waits for d, and reports whether Heal was not called meanwhile.
func (n *Nemesis) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-n.ctx.Done():
		return false
	}
}

// fail notes an action that did not work.
func (n *Nemesis) fail(err error) {
	if err == nil || n.ctx.Err() != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed = append(n.failed, err)
	n.diary.Tell("failed: %v", err)
}

// request decides the fate of a request, the latest of c. n.mu is held.
func (n *Nemesis) request(c *client, p *wire.Packet) wire.Fate {
	n.last = time.Now()
	if n.over {
		return wire.Pass
	}
	op, path, what := sim.OpName(p.Request), n.below(p.Request.Path), n.words(p.Request)
	write := slices.Contains(writes, p.Request.Op)
	for i := range n.o.Plan {
		if n.o.Plan[i].Aim.Fits(op, path) {
			c.seen[i]++
			if write {
				c.written[i]++
			}
		}
	}
	fate := wire.Pass
	for i := range n.strikes {
		s := &n.strikes[i]
		r := &n.o.Plan[s.rule]
		seen := c.seen[s.rule]
		if s.write {
			seen = c.written[s.rule]
		}
		if s.done || s.client != c.id || seen != s.nth || s.write && !write || !r.Aim.Fits(op, path) {
			continue
		}
		s.done = true
		if s.later() && slices.Contains(Connections, r.Fault) && r.Aim.Server == "" {
			n.start(false, func() { n.hitLater(c, s, r, ", "+what+", a moment later") })
			continue
		}
		if f := n.hit(c, s, r, ", "+what); fate == wire.Pass {
			fate = f
		}
	}
	return fate
}

// below returns a path relative to the folder of the run.
func (n *Nemesis) below(path string) string {
	if path == n.o.Root {
		return "/"
	}
	return strings.TrimPrefix(path, n.o.Root)
}

// words describes a request, as in "create /a" or "multi of create /a and delete /b".
func (n *Nemesis) words(q *model.Request) string {
	var parts []string
	for i := range q.Ops {
		parts = append(parts, n.words(&q.Ops[i]))
	}
	switch {
	case len(parts) > 0:
		return sim.OpName(q) + " of " + strings.Join(parts, " and ")
	case q.Path == "":
		return sim.OpName(q)
	}
	return sim.OpName(q) + " " + n.below(q.Path)
}

// Heal ends all faults: nothing strikes any more, servers run and reach each other, connections are open. It returns
// when all servers serve; servers that are not ours are assumed to.
func (n *Nemesis) Heal(ctx context.Context) error {
	n.mu.Lock()
	n.over = true
	n.mu.Unlock()
	n.cancel()
	n.thaw()
	n.running.Wait()
	n.thaw() // actions that ended only now may have left something
	n.mu.Lock()
	failed := errors.Join(n.failed...)
	n.mu.Unlock()
	if n.o.Servers == nil {
		return failed
	}
	if err := n.revive(ctx); err != nil {
		return err
	}
	n.diary.Tell("all servers serve")
	return failed
}

// thaw lets all clients go on.
func (n *Nemesis) thaw() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.down)
	n.deposed = nil
	for _, c := range n.clients {
		c.open()
		c.resume()
		c.next, c.delay = -1, nil
		if c.conn != nil {
			c.conn.Thaw()
		}
	}
}

// revive restarts servers that are dead, and waits for all.
func (n *Nemesis) revive(ctx context.Context) error {
	e := n.o.Servers
	errs := make([]error, len(n.o.Addrs))
	var wg sync.WaitGroup
	for i := range n.o.Addrs {
		errs[i] = e.Continue(i)
		if len(n.o.Addrs) > 1 {
			e.Join(i)
		}
		n.mu.Lock()
		dead := n.dead[i]
		delete(n.dead, i)
		n.mu.Unlock()
		if dead {
			wg.Go(func() { errs[i] = errors.Join(errs[i], e.Restart(ctx, i)) })
		}
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return e.AwaitServing(ctx)
}
