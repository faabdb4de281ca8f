//zksim:ignore only on a real ensemble
package herd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"zksim/model/history"
	"zksim/scenarios/engine"
)

// Server is what the servers of an ensemble have counted (mntr) during one measurement, from before its first client
// until all was quiet, and what its clients have counted meanwhile.
type Server struct {
	Fired         int `json:"fired"`         // watches that fired, no matter which client made the change
	Notifications int `json:"notifications"` // that the clients got
	Received      int `json:"received"`      // packets
	Sent          int `json:"sent"`          // ... that the clients sent
	Watches       int `json:"watches"`       // when the measurement began
	Expected      int `json:"expected"`      // ... by what the clients had asked for
	DataSize      int `json:"data_size"`     // bytes of all znodes then, about
}

// Ensemble is a real ensemble; see package ensemble.
type Ensemble interface {
	// Addrs are the addresses of its servers.
	Addrs() []string
	// Observe runs a scenario until watch returns. It returns the history of everything that was said, and when each of
	// its steps was, since the programs began.
	Observe(ctx context.Context, s *engine.Scenario, watch func(ctx context.Context, run Run) error) (
		*history.History, []time.Duration, error)
	// Zxid and Figures ask one server for its last zxid, and for what it counts (mntr).
	Zxid(ctx context.Context, addr string) (int64, error)
	Figures(ctx context.Context, addr string) (map[string]float64, error)
}

// Run is a run on a real ensemble that is still going on.
type Run interface {
	// Elapsed returns the time since the programs began.
	Elapsed() time.Duration
	// Idle returns how long the first n clients have said and heard nothing but pings; 0 while one of them waits for an
	// answer.
	Idle(n int) time.Duration
	// Sent returns how many packets all clients have sent, and the one that prepared the run, handshakes and pings
	// included.
	Sent() int64
	// Failure returns what has gone wrong so far.
	Failure() error
}

// MeasureLive is Measure on a real ensemble. The events are the same, but each comes when the effects of the one before
// are over, not at a given time. The result has the watches and packets that the servers have counted, if they tell
// them.
func MeasureLive(ctx context.Context, e Ensemble, v *Variant, clients int) (Measurement, error) {
	if err := v.valid(clients); err != nil {
		return Measurement{}, err
	}
	c := &conductor{clients: clients, target: int64(v.Events(clients)), driven: make(chan struct{}),
		opened: make(chan struct{}), ensemble: e}
	for range clients {
		c.turns = append(c.turns, make(chan struct{}))
	}
	s := v.scenario(clients, func(p *engine.Process) pace { return c.player(p) })
	before, err := c.figures(ctx)
	if err != nil {
		return Measurement{}, err
	}
	h, times, err := e.Observe(ctx, &s, c.conduct)
	if err != nil {
		return Measurement{}, fmt.Errorf("%s with %s on ZooKeeper: %w", v.Name, history.Counted(clients, "client"), err)
	}
	t := v.count(h, times, c.begun, clients)
	m := t.m
	m.Backend = "zookeeper"
	m.Server = c.compare(before, t)
	return m, nil
}

// conductor leads an experiment on a real ensemble. Where the simulator's timetable waits long enough, it waits until
// nothing is said any more.
type conductor struct {
	ensemble Ensemble
	clients  int
	target   int64 // events

	run    Run
	began  atomic.Bool
	driven chan struct{}   // closed when the driver has come to its Opening
	drove  sync.Once       // closes driven
	opened chan struct{}   // closed when the measurement begins
	turns  []chan struct{} // closed at each client's turn
	events atomic.Int64
	given  atomic.Int64 // turns
	over   atomic.Bool

	asked          atomic.Int64 // how many questions the servers were asked
	begun          time.Duration
	opening, close figures
	sent           int64 // by clients, until close
	questions      int64 // the same
}

// How long nothing may be said before these are over: the effects of a change, the coming of the clients, and
// everything. Each is an even number of naps.
const (
	quietAfterChange = 10 * time.Millisecond
	quietAtBegin     = 200 * time.Millisecond
	quietAtEnd       = 50 * time.Millisecond
)

// liveLimit bounds the wait for an event, and for silence.
const liveLimit = 20 * time.Second

// conduct is called when the programs run, and returns when enough has happened.
func (c *conductor) conduct(ctx context.Context, run Run) (err error) {
	c.run = run
	others := c.clients + 1 // all but the bystander
	c.quiet(ctx, others, quietAtBegin)
	c.begun = run.Elapsed()
	if c.opening, err = c.figures(ctx); err != nil {
		return err
	}
	c.began.Store(true)
	close(c.opened)
	go func() {
		for _, turn := range c.turns {
			c.quiet(ctx, others, quietAfterChange)
			close(turn)
			c.given.Add(1)
		}
	}()
	progress, since := int64(0), time.Now()
	for c.events.Load() < c.target {
		if n := c.events.Load() + c.given.Load(); n > progress {
			progress, since = n, time.Now()
		}
		if err := run.Failure(); err != nil {
			return err
		}
		if time.Since(since) > liveLimit {
			return fmt.Errorf("%d of %d events, and no other one within %v", c.events.Load(), c.target, liveLimit)
		}
		if err := nap(ctx); err != nil {
			return err
		}
	}
	c.quiet(ctx, others, quietAfterChange)
	c.over.Store(true)
	c.quiet(ctx, others+1, quietAtEnd)
	return c.last(ctx)
}

// last takes the final figures, at a moment without a ping or another question.
func (c *conductor) last(ctx context.Context) (err error) {
	for {
		c.sent, c.questions = c.run.Sent(), c.asked.Load()
		if c.close, err = c.figures(ctx); err != nil || c.sent == c.run.Sent() &&
			c.questions+int64(len(c.ensemble.Addrs())) == c.asked.Load() {
			return err
		}
	}
}

// nap lets a millisecond go by.
func nap(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Millisecond):
		return nil
	}
}

// quiet waits until the first n clients have been silent for d, but not forever: something may have failed. It counts
// the time in naps, so the time does not go by on a machine that is too busy to let clients go on. In the middle of it
// no server may lag behind another, because it would still owe notifications.
func (c *conductor) quiet(ctx context.Context, n int, d time.Duration) {
	begin := time.Now()
	last := begin
	for calm := time.Duration(0); calm < d && time.Since(begin) < liveLimit; calm += time.Millisecond {
		if nap(ctx) != nil || c.run.Failure() != nil {
			return
		}
		lags := calm == d/2 && !c.level(ctx)
		if lags || c.run.Idle(n) <= time.Since(last) {
			calm = 0
		}
		last = time.Now()
	}
}

// level reports whether all servers have applied the same txns. A server that does not tell counts as level: a call
// that asks for its figures says what is wrong.
func (c *conductor) level(ctx context.Context) bool {
	if len(c.ensemble.Addrs()) == 1 {
		return true
	}
	zxids := map[int64]bool{}
	for _, addr := range c.ensemble.Addrs() {
		c.asked.Add(1)
		if zxid, err := c.ensemble.Zxid(ctx, addr); err == nil {
			zxids[zxid] = true
		}
	}
	return len(zxids) <= 1
}

// player returns the pace of one program. Its ctx ends with the run.
func (c *conductor) player(p *engine.Process) pace {
	ctx, _ := p.Interruptible()
	return &player{c: c, ctx: ctx}
}

type player struct {
	c    *conductor
	ctx  context.Context
	last int64 // event of this client
}

func (x *player) arrive(*Process) {}

// behind goes by what the driver does: how long that takes depends on the machine.
func (x *player) behind(*Process) {
	select {
	case <-x.c.driven:
	case <-x.ctx.Done():
	}
}

func (x *player) open(p *Process, after time.Duration) {
	if p.ID == x.c.clients+1 {
		x.c.drove.Do(func() { close(x.c.driven) })
	}
	select {
	case <-x.c.opened:
	case <-x.ctx.Done():
	}
	x.rest(p, after)
}

func (x *player) turn(p *Process) {
	select {
	case <-x.c.turns[p.ID-1]:
	case <-x.ctx.Done():
	}
}

// settle does not return once enough has happened.
func (x *player) settle(*Process) {
	x.c.quiet(x.ctx, x.c.clients+1, quietAfterChange)
	if x.c.events.Load() >= x.c.target {
		<-x.ctx.Done()
	}
}

// rest does not return once everything is over.
func (x *player) rest(p *Process, d time.Duration) {
	p.Env.Sleep(x.ctx, d)
	if x.c.over.Load() {
		<-x.ctx.Done()
	}
}

func (x *player) next(p *Process) {
	for p.N > 1 && x.c.events.Load() == x.last && nap(x.ctx) == nil {
	}
}

func (x *player) went(*Process) {
	if x.c.began.Load() {
		x.last = x.c.events.Add(1)
	}
}

// figures are the sums of what the servers tell.
type figures map[string]float64

func (c *conductor) figures(ctx context.Context) (figures, error) {
	sum := figures{}
	for _, addr := range c.ensemble.Addrs() {
		c.asked.Add(1)
		one, err := c.ensemble.Figures(ctx, addr)
		if err != nil {
			return nil, errors.Join(ctx.Err(), err)
		}
		for name, x := range one { // order-free: integers
			sum[name] += x
		}
	}
	return sum, nil
}

// fired is how many watches have fired.
func (f figures) fired() float64 {
	return f["zk_sum_node_created_watch_count"] + f["zk_sum_node_deleted_watch_count"] +
		f["zk_sum_node_changed_watch_count"] + f["zk_sum_node_children_watch_count"]
}

// compare is called when the run is over.
func (c *conductor) compare(before figures, t *tally) *Server {
	return &Server{
		Fired:         int(c.close.fired() - before.fired()),
		Notifications: t.told,
		// each is a packet, too
		Received: int(c.close["zk_packets_received"]-before["zk_packets_received"]) - int(c.questions),
		Sent:     int(c.sent),
		Watches:  int(c.opening["zk_watch_count"]),
		Expected: t.waiting,
		DataSize: int(c.opening["zk_approximate_data_size"]),
	}
}
