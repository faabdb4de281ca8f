package zktest

import (
	"fmt"
	"net"
	"os"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/internal/stacks"
	"zksim/model/history"
	"zksim/sim"
)

// Cluster is a simulated ensemble in memory, with its clients, in one run of [Run]. Only goroutines of the run may call
// its methods.
type Cluster struct {
	world *sim.World
	begin time.Time
	poke  chan struct{} // a client has done something
	steps *atomic.Int64 // odd while the code has its turn; see watchdog

	mu       sync.Mutex
	peers    []*peer
	closers  []func() // of connections that this package has made, unless they are closed
	resting  []chan struct{}
	promises []promise
	over     bool   // no client is served any more
	passing  bool   // time passes and nothing else happens
	ended    bool   // the code of the run has returned
	broken   string // the first error
	told     []history.Event

	uneventful time.Duration // since a client last wanted something
	settled    time.Time     // when nothing was last on its way
	level      []time.Time   // when each server was last level with the leader
	kept       time.Time     // when no container or TTL znode was last due to be deleted
	calm       time.Time     // when the faults ended or AtRest last returned
	stuck      func()        // if not nil, records that the code waits, instead of a failure
	lasting    time.Duration // how long no client may want anything after the code has ended
	timers     *timers       // if not nil, all the times that the code waits for
	host       *host
}

// The host of all servers, and the port of s1. They exist in memory only.
const (
	loopback  = "127.0.0.1"
	firstPort = 2181
)

// latency is how long a message may take unless a fault holds it back. It is shorter than any library's timeout.
const latency = time.Second

// stall is how much time passes at once when a client is paused and nothing else is on its way. A pause no longer than
// the latency would show nothing.
const stall = 3 * time.Second

// tickTime is ZooKeeper's usual unit of time. A session ends up to one tick after its timeout.
const tickTime = 2 * time.Second

// syncLimit is how long a server may be behind the leader or cut off from it, as in ZooKeeper's sample configuration. A
// leader drops a follower that takes longer. It steps down itself when it has had no quorum for that long.
const syncLimit = 5 * tickTime

// containerCheck is how often the leader deletes containers and TTL znodes that are due, as ZooKeeper does by default.
const containerCheck = time.Minute

// idleLimit is how long no client may want anything before a run counts as at rest.
const idleLimit = 10 * time.Minute

// sleepLimit is the same limit for code that waits without asking for rest, because it may sleep for long. It is not a
// day: code that checks every few milliseconds for something that never comes would take seconds for a day.
const sleepLimit = 2 * time.Hour

// pollLimit is how long the faults must be over before code that polls without end counts as having reached its final
// state.
const pollLimit = 2 * idleLimit

// pingLimit is idleLimit when only pings are to be expected. It is longer than the client library waits for anything
// else.
const pingLimit = 5 * time.Second

// Addrs returns the addresses of all servers. Only [Cluster.Dialer] reaches them.
func (c *Cluster) Addrs() []string {
	list := make([]string, len(c.level))
	for k := range list {
		list[k] = loopback + ":" + strconv.Itoa(firstPort+k)
	}
	return list
}

// Connect returns a connection with a session timeout of ten seconds. The end of the run closes it.
func (c *Cluster) Connect() *zk.Conn {
	conn, events, err := zk.Connect(c.Addrs(), 10*time.Second, zk.WithDialer(c.Dialer()), zk.WithLogger(quiet{}),
		zk.WithLogInfo(false))
	if err != nil {
		panic("zktest: " + err.Error())
	}
	c.mu.Lock()
	c.closers = append(c.closers, func() {
		if !closed(events) {
			conn.Close()
		}
	})
	c.mu.Unlock()
	return conn
}

// closed reports whether a channel of events is closed. The client library closes it when it has ended its connection.
func closed(events <-chan zk.Event) bool {
	for {
		select {
		case _, open := <-events:
			if !open {
				return true
			}
		default:
			return false
		}
	}
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// Dialer returns a dialer for code that calls zk.Connect itself, to pass to zk.WithDialer. It makes a client, c1, c2
// and so on, and another one for each session that is opened with it while one is open. If the code ends and has not
// closed the connection, the run fails. A dial to an address that is not in [Cluster.Addrs] fails as if no server were
// there: no such host, connection refused.
//
//zksim:ignore only on real connections
func (c *Cluster) Dialer() zk.Dialer {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.join()
	return func(network, address string, timeout time.Duration) (net.Conn, error) {
		return c.dial(p, network, address)
	}
}

// join adds a client.
func (c *Cluster) join() *peer {
	p := &peer{c: c}
	p.client = c.world.Join(p)
	c.peers = append(c.peers, p)
	return p
}

//zksim:ignore only on real connections
func (c *Cluster) dial(p *peer, network, address string) (net.Conn, error) {
	n, err := c.port(network, address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return nil, net.ErrClosed
	}
	line := newPipe(p, n-firstPort, c.poke)
	p.pipes = append(p.pipes, line)
	return line, nil
}

// port returns the port of a server of the ensemble. For any other address it fails like the dialer of package net: all
// other ports of this machine are closed, and no other machine exists.
func (c *Cluster) port(network, address string) (int, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return 0, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "unknown port", Name: "tcp/" + text,
			IsNotFound: true}}
	}
	if host == "" || host == "localhost" {
		host = loopback
	}
	ip := net.ParseIP(host)
	refused := func(err error) (int, error) {
		return 0, &net.OpError{Op: "dial", Net: network, Addr: &net.TCPAddr{IP: ip, Port: n},
			Err: os.NewSyscallError("connect", err)}
	}
	switch {
	case ip == nil:
		return 0, &net.OpError{Op: "dial", Net: network,
			Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
	case !ip.IsLoopback():
		return refused(syscall.EHOSTUNREACH)
	case ip.String() != loopback || n < firstPort || n >= firstPort+len(c.level):
		return refused(syscall.ECONNREFUSED)
	}
	return n, nil
}

// Errorf makes the run fail. Only the first error of a run counts. A shorter run shows the same failure if its error
// has the same format and the same errors among its arguments.
func (c *Cluster) Errorf(format string, args ...any) {
	c.failAs(kindOf(format, args), fmt.Sprintf(format, args...))
}

func (c *Cluster) fail(text string) { c.failAs("", text) }

// failAs makes the run fail with an error of a kind; "" means the kind that the text implies.
func (c *Cluster) failAs(kind, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == "" {
		if strings.Contains(text, "\n") { // like the texts of assertion libraries, which align their words
			text = strings.Join(strings.Fields(text), " ")
		}
		text = clipped(text)
		c.broken = text
		c.told = append(c.told, history.Event{Kind: history.Told, Op: checkers.ToldBroken, Path: text, Data: kind})
	}
}

// verb matches a verb of a format, roughly.
var verb = regexp.MustCompile(`%[^a-zA-Z%]*[a-zA-Z%]`)

// kindOf returns what all errors of this format have in common; "" if the format has no words.
func kindOf(format string, args []any) string {
	kind := verb.ReplaceAllString(format, "")
	if !strings.ContainsFunc(kind, unicode.IsLetter) {
		return ""
	}
	for _, x := range args {
		if err, ok := x.(error); ok {
			kind += " " + err.Error()
		}
	}
	return kind
}

// alone says that nothing else runs in this process during a run.
var alone bool

// run runs the code of one run, in a bubble.
func (c *Cluster) run(code func(c *Cluster), run func() error) error {
	before := runtime.NumGoroutine()
	go func() {
		returned := false
		defer func() {
			switch r := recover(); {
			case r != nil:
				c.panicked(r)
			case !returned: // the rest of the code was not tried
				c.fail("the code has ended its goroutine, as t.Skip and runtime.Goexit do, and has not returned")
			}
			c.mu.Lock()
			c.ended = true
			c.mu.Unlock()
		}()
		code(c)
		returned = true
		c.mu.Lock()
		connected := len(c.peers) > 0
		c.mu.Unlock()
		if !connected {
			c.fail("the code has returned and has made no connection, so nothing was tested: Cluster.Connect makes one, and " +
				"zk.Connect with zk.WithDialer(Cluster.Dialer())")
		}
	}()
	err := run()
	c.mu.Lock()
	ended := c.ended
	c.mu.Unlock()
	switch waits := !ended && err == nil && c.world.History.Outcome == history.Quiet; {
	case !ended && err == nil && c.world.History.Outcome == history.StepLimit:
		c.fail(fmt.Sprintf("the code has not returned after %s of its time and %s, which are the most that a run may have "+
			"(zktest.Steps changes that): %s", time.Since(c.begin).Round(time.Second),
			history.Counted(c.world.Step(), "step"), waiting(maybe)))
		c.tell()
	case !waits:
	case c.stuck != nil:
		c.stuck()
	default:
		c.fail("the code waits, and nothing more can happen: " + waiting(never))
		c.tell()
	}
	c.close()
	c.tell()
	if c.broken != "" || alone && runtime.NumGoroutine() <= before { // looking at all of them takes long
		return err
	}
	left := goroutines()
	if where := waits(left, maybe); where != "" {
		c.fail("goroutines go on when the code has ended: " + where)
	} else if n := unclosed(left); n > 0 {
		c.fail(fmt.Sprintf("the code has ended and has not closed %s", history.Counted(n, "connection")))
	}
	c.tell()
	return err
}

// panicked makes the run fail for a panic. It must be called while the panic unwinds the stack.
func (c *Cluster) panicked(r any) {
	text := fmt.Sprintf("panic: %v", r)
	here := stacks.Current()
	if where := calls(codeOf(&here)); where != "" {
		text += ", in " + where
	}
	c.fail(text)
}

// grace is how long goroutines have to end after their connections are closed.
const grace = 5 * time.Second

// close ends all connections, so that the goroutines of the client library can end, and waits for that. It leaves alone
// a connection that the code is about to close itself: a second call of its Close would wait for the first one by a
// mutex, and time does not pass for that.
func (c *Cluster) close() {
	c.mu.Lock()
	c.over = true
	for _, p := range c.peers {
		for _, line := range p.pipes {
			line.hangUp()
		}
	}
	c.mu.Unlock()
	c.settle()
	c.mu.Lock()
	closers := c.closers
	c.mu.Unlock()
	c.turn(func() {
		for _, closes := range closers {
			closes()
		}
		time.Sleep(grace)
	})
	c.settle()
}

// waiting says where the goroutines of this run wait, except those of the client library.
func waiting(o outlook) string { return waits(goroutines(), o) }

// unclosed returns how many connections of the client library go on. Each has one goroutine that connects again.
func unclosed(list []stacks.Goroutine) (n int) {
	for _, g := range list {
		if slices.ContainsFunc(g.Frames(), func(x stacks.Frame) bool {
			return strings.HasSuffix(x.Func, clientLibrary+"(*Conn).loop")
		}) {
			n++
		}
	}
	return n
}

// goroutines returns the goroutines of this run, except the calling one.
func goroutines() (list []stacks.Goroutine) {
	here := stacks.Current()
	var d stacks.Dump
	d.Each(func(g stacks.Goroutine) bool {
		if g.ID != here.ID && g.Bubble == here.Bubble {
			list = append(list, g)
		}
		return true
	})
	return list
}

// calledBy separates the calls of a stack.
const calledBy = ", called by "

// calls lists the calls of a stack, innermost first, with one call for each recursion. The folder of the file names the
// package, so the function does not.
func calls(frames []stacks.Frame) string {
	const most = 4
	list := make([]string, len(frames))
	for i, x := range frames {
		x.Func = path.Base(x.Func)
		list[i] = x.String()
	}
	if list = slices.Compact(list); len(list) > most {
		list = append(list[:most], "others")
	}
	return strings.Join(list, calledBy)
}

// machinery lists the prefixes of functions that are on many stacks and say nothing.
var machinery = []string{"panic", "runtime.", "sync.", "time.", "internal/", "testing", "zksim/internal/", "zksim/sim.",
	"zksim/scenarios/zktest.", "zksim/scenarios/engine.", "zksim/internal/pipeline.", "zksim/scenarios."}

// clientLibrary is part of the name of each function of the client library.
const clientLibrary = "go-zookeeper/zk."

// codeOf returns the calls of a goroutine that belong to the code, see [foreign]; none if the library started it and
// calls nothing of the code. If no call does, as in that of "go wg.Wait()", it is the go statement, if that belongs to
// the code.
func codeOf(g *stacks.Goroutine) []stacks.Frame {
	list := foreign(g.Frames())
	_, by := g.Parent()
	started := strings.Contains(by.Func, clientLibrary)
	switch n := len(list); {
	case n == 0 && by.Func != "" && !started:
		return foreign([]stacks.Frame{by})
	case n > 0 && started && strings.Contains(list[n-1].Func, clientLibrary) && // unlike that of "go conn.Close()"
		!calledBack(g.Frames()):
		return nil
	}
	return list
}

// calledBack reports whether the client library has called the code, as a function for zk.WithEventCallback. A
// connection of the code that reads from one of this package does not count: such a goroutine waits for a server.
func calledBack(frames []stacks.Frame) bool {
	reads := func(x stacks.Frame) bool { return strings.HasPrefix(x.Func, "zksim/scenarios/zktest.(*pipe).") }
	own := func(x stacks.Frame) bool {
		return !strings.Contains(x.Func, clientLibrary) &&
			!slices.ContainsFunc(usedByLibrary, func(p string) bool { return strings.HasPrefix(x.Func, p) })
	}
	return !slices.ContainsFunc(frames, reads) && slices.ContainsFunc(foreign(frames), own)
}

// usedByLibrary lists the packages of Go, besides machinery, in which goroutines of the client library wait.
var usedByLibrary = []string{"io.", "log.", "net."}

// foreign returns the calls of a stack that belong neither to Go's own library nor to this package.
func foreign(frames []stacks.Frame) (list []stacks.Frame) {
	for _, x := range frames {
		if x.Func == "zksim/scenarios/zktest.bubble" { // the one that runs the bubble
			return nil
		}
		if !slices.ContainsFunc(machinery, func(p string) bool { return strings.HasPrefix(x.Func, p) }) {
			list = append(list, x)
		}
	}
	return list
}

// tell adds what the goroutines of the run have said to its history.
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
func (c *Cluster) settle() { c.turn(synctest.Wait) }

// turn calls f, which returns only if the code comes to rest, at the end or to let time pass; if it does not, the
// watchdog ends the process. Locking the mutex tells the race detector that what happened before precedes what the code
// then does in a method of the cluster.
func (c *Cluster) turn(f func()) {
	c.steps.Add(1)
	c.mu.Lock()
	c.mu.Unlock()
	f()
	c.steps.Add(1)
}

// AtRest returns when the faults are over and nothing else can happen: no client has wanted anything for at least ten
// minutes. For code that polls it returns when the faults have been over for twenty minutes. If several goroutines wait
// in AtRest, one of them goes on.
//
//zksim:ignore only on real connections
func (c *Cluster) AtRest() { <-c.atRest() }

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
