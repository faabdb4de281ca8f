package serve

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"zksim/faults"
	"zksim/sim"
)

// ErrClosed is the error of all methods after [Ensemble.Close].
var ErrClosed = errors.New("serve: the ensemble is closed")

// Ensemble is a simulated ZooKeeper service on real sockets. All methods may be called concurrently.
type Ensemble struct {
	options   Options // with defaults filled in
	listeners []net.Listener
	addrs     []string
	done      chan struct{} // closed by Close
	running   sync.WaitGroup

	mu       sync.Mutex // guards what follows, and the world
	closed   bool
	world    *sim.World
	eager    sim.Eager
	injector *faults.Injector
	plan     faults.Plan // that of the options, and what was added to it
	urgent   map[sim.Kind]bool
	strikes  []Strike
	striking bool // the step being made is a fault
	hold     holds
	reaping  bool // the container check is on
	leader   int  // when the last step was over
	nodes    []node
	conns    map[*conn]bool
	sessions map[int64]*session
	over     []*session // whose world has to be told something when the step is over
	dirty    []*conn    // to be flushed
	secret   [32]byte   // of the passwords; another one after each Reset
	record   recorder
	stats    stats
	activity uint64    // requests so far
	last     time.Time // of the last one
}

// node is what is known of a server besides the world.
type node struct {
	stopped, killed bool
	since           time.Time  // it was stopped
	goes            *sync.Cond // it goes on
	stats           stats
}

// Start opens the ports and serves until [Ensemble.Close].
func Start(o Options) (*Ensemble, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	listeners, err := o.listen()
	if err != nil {
		return nil, err
	}
	e := &Ensemble{options: o, listeners: listeners, done: make(chan struct{}), world: sim.NewWorld(),
		nodes: make([]node, o.Nodes), conns: map[*conn]bool{}}
	for k := range e.nodes {
		e.nodes[k].goes = sync.NewCond(&e.mu)
		e.addrs = append(e.addrs, listeners[k].Addr().String())
	}
	e.eager = sim.Eager{Strike: e.strike, Hold: e.holds, Step: e.stepped}
	e.begin()
	e.running.Add(2 + len(listeners))
	for k, l := range listeners {
		go e.accept(k, l)
	}
	go e.clock(o.TickTime, e.expireDue)
	go e.clock(o.ContainerCheck, e.reap)
	return e, nil
}

// Addrs returns the addresses of all servers, s1 first.
func (e *Ensemble) Addrs() []string { return e.addrs }

// Connect returns the connect string: the addresses with commas between them.
func (e *Ensemble) Connect() string { return strings.Join(e.addrs, ",") }

// begin makes a new world.
func (e *Ensemble) begin() {
	e.plan = e.options.Faults
	e.injector = &faults.Injector{}
	e.injector.Reset(e.plan)
	e.world.Reset(sim.Config{Servers: e.options.Nodes, Order: e.options.Seed, SafetySteps: 1 << 30, MaxSteps: 1 << 30,
		SessionTimeout: int32(e.options.MaxSessionTimeout.Milliseconds())}, e.injector, nil)
	e.eager.Begin(e.world)
	e.world.Advance(worldTime(time.Now()))
	e.secret = newSecret()
	e.sessions, e.urgent, e.strikes = map[int64]*session{}, map[sim.Kind]bool{}, nil
	e.hold, e.over, e.striking, e.leader = holds{}, nil, false, 0
	e.record.reset(e.options.Events)
	e.stats = stats{}
	for k := range e.nodes {
		n := &e.nodes[k]
		n.stopped, n.killed, n.stats = false, false, stats{}
		n.goes.Broadcast()
	}
}

// worldTime is a time as the world counts it: milliseconds since the beginning of 2020.
func worldTime(t time.Time) int64 { return t.UnixMilli() - worldEpoch.UnixMilli() }

var worldEpoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// Close ends all connections, closes the ports and returns when nothing runs any more.
func (e *Ensemble) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return ErrClosed
	}
	e.closed = true
	close(e.done)
	for _, l := range e.listeners {
		l.Close()
	}
	for c := range e.conns { // order-free: all of them
		c.abort()
	}
	for k := range e.nodes {
		e.nodes[k].goes.Broadcast()
	}
	e.mu.Unlock()
	e.running.Wait()
	e.world.Close()
	return nil
}

// do changes the world, lets happen what can happen now, and sends what came of it: on the connection self by itself,
// before it returns, on others by goroutines of their own.
func (e *Ensemble) do(self *conn, f func() error) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return ErrClosed
	}
	e.world.Advance(worldTime(time.Now()))
	err := f()
	e.settle()
	var few [8]*conn
	list, mine := append(few[:0], e.dirty...), false
	clear(e.dirty)
	e.dirty = e.dirty[:0]
	for _, c := range list {
		if c.dirty = false; c == self {
			mine = true
		} else {
			e.running.Add(1)
		}
	}
	e.mu.Unlock()
	for _, c := range list {
		if c != self {
			go func() {
				defer e.running.Done()
				c.flush()
			}()
		}
	}
	if mine {
		self.flush()
	}
	return err
}

// settle makes steps until nothing is left that can happen now, and notes them.
func (e *Ensemble) settle() {
	for {
		e.eager.Settle(e.world)
		if len(e.over) == 0 {
			break
		}
		list := e.over
		e.over = nil
		for _, s := range list {
			s.listed = false
			e.conclude(s)
		}
	}
	if k := e.world.Leader(); k != e.leader { // the timers of all sessions start anew
		e.leader = k
		for _, s := range e.sessions { // order-free: each by itself
			s.touch()
		}
	}
	e.record.take(e.world)
	e.limitOutput()
}

// accept takes the connections to server k.
func (e *Ensemble) accept(k int, l net.Listener) {
	defer e.running.Done()
	for pause := time.Duration(0); ; {
		sock, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			e.welcome(k, sock)
			continue
		case errors.Is(err, net.ErrClosed):
			return
		}
		pause = min(max(2*pause, time.Millisecond), 100*time.Millisecond) // too many open files, for example
		select {
		case <-time.After(pause):
		case <-e.done:
			return
		}
	}
}

// welcome begins a connection.
func (e *Ensemble) welcome(k int, sock net.Conn) {
	c := newConn(e, k, sock)
	e.mu.Lock()
	refused := e.closed || e.nodes[k].killed
	if !refused {
		e.conns[c] = true
		e.running.Add(1)
		go c.run()
	}
	e.mu.Unlock()
	if refused {
		c.abort()
	}
}

// clock calls f at each multiple of a duration, by the clock of the machine.
func (e *Ensemble) clock(d time.Duration, f func()) {
	defer e.running.Done()
	for {
		wait := d - time.Duration(time.Now().UnixNano())%d
		select {
		case <-time.After(wait):
			f()
		case <-e.done:
			return
		}
	}
}

// reap is the container check.
func (e *Ensemble) reap() {
	e.do(nil, func() error { e.reaping = true; return nil })
	e.do(nil, func() error { e.reaping = false; return nil })
}

// server checks the number of a server, counted from 1.
func (e *Ensemble) server(k int) error {
	if k < 1 || k > len(e.nodes) {
		return fmt.Errorf("serve: no server s%d, expected s1 to s%d", k, len(e.nodes))
	}
	return nil
}
