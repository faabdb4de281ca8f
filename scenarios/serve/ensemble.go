package serve

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"zksim/faults"
	"zksim/model"
	"zksim/sim"
)

// ErrClosed is the error of all methods after [Ensemble.Close], except those that return what was recorded.
var ErrClosed = errors.New("serve: the ensemble is closed")

// Ensemble is a simulated ZooKeeper service on real sockets. All methods may be called concurrently.
type Ensemble struct {
	options Options // with defaults filled in
	addrs   []string
	done    chan struct{} // closed by Close
	running sync.WaitGroup
	born    time.Time
	input   atomic.Int64 // bytes of incomplete packets
	output  atomic.Int64 // bytes that wait to be written
	parking parking

	mu       sync.Mutex // guards the fields below, and the world
	closed   bool
	final    evidence // as of Close
	world    *sim.World
	eager    sim.Eager
	injector *faults.Injector
	plan     faults.Plan // the plan of the options, and the rules added to it
	urgent   map[sim.Kind]bool
	strikes  []Strike
	striking bool   // the step being made is a fault
	ending   string // how the rule of that fault makes connections end
	noted    string // what a recording says of the step being made; "": nothing
	hold     holds
	reaping  bool // the container check is on
	leader   int  // after the last step
	nodes    []node
	ports    []net.Listener // shut for a server that was killed
	conns    map[*conn]bool
	sessions map[int64]*session
	pending  []*session // the world must be told something about them after the step
	dirty    []*conn    // to be flushed
	secret   [32]byte   // for passwords; Reset makes a new one
	record   recorder
	resets   int
	before   []string // violations found at resets
	earlier  earlier
	origin   []model.ID // of the last connection; the next one often has the same
	activity uint64     // requests since the beginning or the last Reset
	last     time.Time  // of the last request
}

// node is what is known about a server, besides the world.
type node struct {
	stopped, killed bool
	since           time.Time  // when it was stopped
	goes            *sync.Cond // signals that it goes on
	stats           stats
}

// Start opens the ports and serves until [Ensemble.Close].
func Start(o Options) (*Ensemble, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	ports, err := o.listen()
	if err != nil {
		return nil, err
	}
	e := &Ensemble{options: o, ports: ports, done: make(chan struct{}), born: time.Now(), world: sim.NewWorld(),
		nodes: make([]node, o.Nodes), conns: map[*conn]bool{}}
	for k := range e.nodes {
		e.nodes[k].goes = sync.NewCond(&e.mu)
		e.addrs = append(e.addrs, reachable(ports[k]))
	}
	e.eager = sim.Eager{Strike: e.strike, Hold: e.holds, Next: e.steps, Step: e.stepped}
	e.begin()
	e.running.Add(2 + len(ports))
	for k, l := range ports {
		go e.accept(k, l)
	}
	go e.clock(o.TickTime, e.expireDue)
	go e.clock(o.ContainerCheck, e.reap)
	return e, nil
}

// Addrs returns the addresses of all servers, s1 first, as clients on this machine use them.
func (e *Ensemble) Addrs() []string { return e.addrs }

// Connect returns the connect string: the addresses with commas between them.
func (e *Ensemble) Connect() string { return strings.Join(e.addrs, ",") }

// begin makes a new world.
func (e *Ensemble) begin() {
	e.plan = e.options.Faults
	e.injector = &faults.Injector{}
	e.injector.Reset(e.plan)
	e.world.Reset(sim.Config{Servers: e.options.Nodes, Order: e.options.Seed, JavaSets: e.options.Seed == 0,
		Like: e.options.Like, SafetySteps: 1 << 30, MaxSteps: 1 << 30,
		SessionTimeout: int32(e.options.MaxSessionTimeout.Milliseconds())}, e.injector, nil)
	e.eager.Begin(e.world)
	e.world.Advance(worldTime(time.Now()))
	if e.options.Nodes > 1 {
		e.world.SetConfig(e.members())
	}
	rand.Read(e.secret[:])
	e.sessions, e.urgent, e.strikes = map[int64]*session{}, map[sim.Kind]bool{}, nil
	e.hold, e.pending, e.striking, e.leader = holds{}, nil, false, 0
	e.record.reset(e.options.Events, e.options.Record)
	e.activity = 0
	for k := range e.nodes {
		n := &e.nodes[k]
		n.stopped, n.killed, n.stats = false, false, stats{}
		n.goes.Broadcast()
	}
}

// The ports that the servers of an ensemble claim to have for one another.
const quorumPort, electionPort = 2888, 3888

// members returns the contents of the config node. The ensemble has no ports for quorum and election, but clients that
// read the node expect some that differ from those for clients.
func (e *Ensemble) members() string {
	text := ""
	for k, addr := range e.addrs {
		host, _, _ := net.SplitHostPort(addr)
		text += fmt.Sprintf("server.%d=%s:%d:%d:participant;%s\n", k+1, host, quorumPort, electionPort, addr)
	}
	return text + "version=0"
}

// worldTime converts a time to the world's.
func worldTime(t time.Time) int64 { return t.UnixMilli() - sim.Epoch.UnixMilli() }

// Close ends all connections, closes the ports and returns when nothing runs any more. What was recorded can still be
// judged and written afterwards.
func (e *Ensemble) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return ErrClosed
	}
	e.final = e.evidence()
	e.closed = true
	close(e.done)
	for _, l := range e.ports {
		l.Close()
	}
	for c := range e.conns { // order-free: all of them
		c.abort()
	}
	for k := range e.nodes {
		e.nodes[k].goes.Broadcast()
	}
	e.mu.Unlock()
	e.parking.close()
	e.running.Wait()
	e.world.Close()
	return nil
}

// do changes the world, makes everything happen that can happen now, and sends the results. It writes to the connection
// self before it returns, and to others in their own goroutines.
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

// settle makes steps until none is possible now, and records them.
func (e *Ensemble) settle() {
	for {
		e.eager.Settle(e.world)
		if len(e.pending) == 0 {
			break
		}
		list := e.pending
		e.pending = nil
		for _, s := range list {
			s.listed = false
			e.conclude(s)
		}
	}
	if k := e.world.Leader(); k != e.leader { // the timers of all sessions restart
		e.leader = k
		for _, s := range e.sessions { // order-free: each by itself
			s.touch()
		}
	}
	e.record.take(e.world)
	e.limitOutput()
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

// reap runs the container check.
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

// limitOutput ends the connections of clients that do not read when too much output waits for them.
func (e *Ensemble) limitOutput() {
	for _, c := range e.dirty {
		if c.waiting() > maxOutput {
			c.abort()
		}
	}
	if e.output.Load() <= maxTotalOutput {
		return
	}
	var largest *conn
	most := 0
	for c := range e.conns { // order-free: the largest, whichever of several
		if n := c.waiting(); n > most {
			largest, most = c, n
		}
	}
	if largest != nil {
		largest.abort()
	}
}
