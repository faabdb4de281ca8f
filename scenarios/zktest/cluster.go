package zktest

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/internal/stacks"
	"zksim/model/history"
	"zksim/sim"
)

// Cluster is a simulated ensemble with its clients in one run of [Run], in memory. Its methods are for the goroutines
// of the run.
type Cluster struct {
	world   *sim.World
	servers int
	begin   time.Time
	poke    chan struct{} // somebody has done something
	turns   *atomic.Int64 // odd while the code has one; see watch

	mu       sync.Mutex
	peers    []*peer
	closers  []func() // of the connections that this package has made
	resting  []chan struct{}
	promises []promise
	over     bool   // nobody is served any more
	ended    bool   // the code of the run has returned
	broken   string // what is wrong, the first thing
	told     []history.Event

	uneventful time.Duration // since somebody last wanted something
	settled    time.Time     // when last nothing was on its way
	stuck      func()        // if not nil, notes that the code waits, in place of a failure
	lasting    time.Duration // for how long nobody must want anything when the code has ended
}

// promise is something that holds after each step.
type promise struct {
	sentence string
	holds    func() bool
}

// firstPort is that of s1, in memory only.
const firstPort = 2181

// latency is how long what is on its way may take unless a fault holds it back: less than any library waits.
const latency = time.Second

// patience is for how long nobody must want anything until a run is taken to be at rest.
const patience = 10 * time.Minute

// Addrs returns the addresses of all servers. Only [Cluster.Dialer] reaches them.
func (c *Cluster) Addrs() []string {
	list := make([]string, c.servers)
	for k := range list {
		list[k] = "127.0.0.1:" + strconv.Itoa(firstPort+k)
	}
	return list
}

// Connect returns a connection with a session timeout of ten seconds. It is closed at the end of the run.
func (c *Cluster) Connect() *zk.Conn {
	conn, _, err := zk.Connect(c.Addrs(), 10*time.Second, zk.WithDialer(c.Dialer()), zk.WithLogger(quiet{}),
		zk.WithLogInfo(false))
	if err != nil {
		panic("zktest: " + err.Error())
	}
	c.mu.Lock()
	c.closers = append(c.closers, conn.Close)
	c.mu.Unlock()
	return conn
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// Dialer returns what code that calls zk.Connect by itself is to dial with, by zk.WithDialer. Each connection needs one
// of its own: it makes a client, c1, c2 and so on. The code must close the connection before the run ends.
//
//zksim:ignore only on real connections
func (c *Cluster) Dialer() zk.Dialer {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &peer{c: c}
	p.client = c.world.Join(p)
	c.peers = append(c.peers, p)
	return func(network, address string, timeout time.Duration) (net.Conn, error) { return c.dial(p, address) }
}

//zksim:ignore only on real connections
func (c *Cluster) dial(p *peer, address string) (net.Conn, error) {
	_, port, err := net.SplitHostPort(address)
	n, _ := strconv.Atoi(port)
	if err != nil || n < firstPort || n >= firstPort+c.servers {
		return nil, fmt.Errorf("zktest: no server at %q, expected one of %s", address, strings.Join(c.Addrs(), ", "))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return nil, net.ErrClosed
	}
	line := newPipe(n-firstPort, c.poke)
	p.pipes = append(p.pipes, line)
	return line, nil
}

// Always has something looked at after each step, when all goroutines of the run wait: a sentence, and whether it
// holds. The run fails where it does not.
func (c *Cluster) Always(sentence string, holds func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.promises = append(c.promises, promise{sentence, holds})
}

// Sometimes says whether something holds that must hold at this place in at least one run: where none reaches that,
// the test fails.
func (c *Cluster) Sometimes(sentence string, holds bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, history.Event{Kind: history.Told, Op: checkers.ToldSometimes, Path: sentence, OK: holds})
}

// Errorf has the run fail. Only the first error of a run counts.
func (c *Cluster) Errorf(format string, args ...any) { c.fail(fmt.Sprintf(format, args...)) }

func (c *Cluster) fail(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == "" {
		c.broken = text
		c.told = append(c.told, history.Event{Kind: history.Told, Op: checkers.ToldBroken, Path: text})
	}
}

// run runs the code of one run in a bubble.
func (c *Cluster) run(code func(c *Cluster), run func() error) error {
	go func() {
		defer func() {
			if r := recover(); r != nil {
				here := stacks.Current()
				c.fail(fmt.Sprintf("panic: %v, in %s", r, calls(foreign(here.Frames()))))
			}
			c.mu.Lock()
			c.ended = true
			c.mu.Unlock()
		}()
		code(c)
	}()
	err := run()
	c.mu.Lock()
	ended := c.ended
	c.mu.Unlock()
	switch waits := !ended && err == nil && c.world.History.Outcome == history.Quiet; {
	case !waits:
	case c.stuck != nil:
		c.stuck()
	default:
		c.fail("the code waits, and nothing more can happen: " + waiting())
		c.tell()
	}
	c.close()
	time.Sleep(grace)
	c.settle()
	if where := waiting(); where != "" {
		c.fail("goroutines go on when the code has ended: " + where)
		c.tell()
	}
	return err
}

// grace is how long goroutines have to end when their connections are closed.
const grace = 5 * time.Second

// close ends all connections, so that the goroutines of the client library can end.
func (c *Cluster) close() {
	c.mu.Lock()
	c.over = true
	closers := c.closers
	for _, p := range c.peers {
		for _, line := range p.pipes {
			line.hangUp()
		}
	}
	c.mu.Unlock()
	for _, closes := range closers {
		closes()
	}
}

// waiting says where this run's goroutines wait, those of the client library aside.
func waiting() string {
	var text []string
	here := stacks.Current()
	var d stacks.Dump
	d.Each(func(g stacks.Goroutine) bool {
		if g.ID == here.ID || g.Bubble != here.Bubble {
			return true
		}
		if frames := foreign(g.Frames()); len(frames) > 0 {
			text = append(text, calls(frames))
		}
		return true
	})
	slices.Sort(text)
	return strings.Join(text, "; ")
}

func calls(frames []stacks.Frame) string {
	list := make([]string, len(frames))
	for i, x := range frames {
		list[i] = x.String()
	}
	return strings.Join(list, ", called by ")
}

// machinery is what functions begin with that are on many stacks and tell nothing.
var machinery = []string{"runtime.", "sync.", "time.", "internal/", "testing", "zksim/scenarios/zktest.",
	"zksim/scenarios/engine.", "zksim/scenarios/pipeline.", "zksim/scenarios."}

// foreign returns the calls of a stack that are neither of Go's own library nor of this package; none if the goroutine
// is one that the client library has started.
func foreign(frames []stacks.Frame) (list []stacks.Frame) {
	for _, x := range frames {
		if x.Func == "zksim/scenarios/zktest.bubble" { // the one that runs the bubble
			return nil
		}
		if !slices.ContainsFunc(machinery, func(p string) bool { return strings.HasPrefix(x.Func, p) }) {
			list = append(list, x)
		}
	}
	if n := len(list); n > 0 && strings.Contains(list[n-1].Func, "go-zookeeper/zk.") {
		return nil
	}
	return list
}

// tell writes what the run's goroutines have said into its history.
func (c *Cluster) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.told {
		e.Step = int32(c.world.Step())
		c.world.History.Add(e)
	}
	c.told = c.told[:0]
}

// settle waits until all goroutines of the run wait.
func (c *Cluster) settle() {
	c.turns.Add(1)
	synctest.Wait()
	c.turns.Add(1)
}

// Rest implements [sim.Outside].
func (c *Cluster) Rest() {
	for {
		c.settle()
		if any, _ := c.collect(); !any {
			break
		}
	}
	c.mu.Lock()
	promises := c.promises
	c.mu.Unlock()
	for _, p := range promises {
		if c.broken == "" && !p.holds() {
			c.fail(fmt.Sprintf("%q does not hold", p.sentence))
		}
	}
	c.tell()
	if c.nothingOnItsWay() {
		c.settled = time.Now()
	}
	c.world.Advance(time.Since(c.begin).Milliseconds())
}

func (c *Cluster) nothingOnItsWay() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.peers {
		if p.asks != nil || !p.client.Settled() {
			return false
		}
	}
	return true
}

// Hurried implements [sim.Outside].
func (c *Cluster) Hurried() bool { return time.Since(c.settled) >= latency }

// collect takes what clients have done since the last time.
func (c *Cluster) collect() (any, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.peers {
		a, m := p.collect()
		any, more = any || a, more || m
	}
	if more {
		c.uneventful = 0
	}
	return any, more
}

// Pass implements [sim.Outside].
func (c *Cluster) Pass() {
	begin := time.Now()
	d := max(latency, c.uneventful)
	if !c.nothingOnItsWay() {
		d = latency / 4
	}
	alarm := time.NewTimer(d)
	defer alarm.Stop()
	for {
		select {
		case <-alarm.C:
			c.uneventful += time.Since(begin)
			return
		case <-c.poke:
			c.settle()
			if _, more := c.collect(); more {
				return
			}
		}
	}
}

// PassTo implements [sim.Outside].
func (c *Cluster) PassTo(ms int64) {
	time.Sleep(time.Duration(ms)*time.Millisecond - time.Since(c.begin))
	c.world.Advance(time.Since(c.begin).Milliseconds())
}

// Idle implements [sim.Outside]. When all is at rest one of those goes on that wait for that.
func (c *Cluster) Idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := c.ended && c.uneventful >= c.lasting || c.uneventful >= patience
	if idle && c.world.Calm() && len(c.resting) > 0 {
		close(c.resting[0])
		c.resting, c.uneventful = c.resting[1:], 0
		return false
	}
	return idle
}

// atRest returns a channel that is closed when the faults are over and nothing else can happen.
//
//zksim:ignore only on real connections
func (c *Cluster) atRest() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan struct{})
	c.resting = append(c.resting, ch)
	return ch
}
