package zktest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"zksim/scenarios"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// processes are the processes of the test binary that make the runs of a check. So code that ends its process, or that
// nothing else can end, costs only one run. Each runner has one process at a time and gives it back alive.
type processes struct {
	ctx  context.Context
	name string // of the test
	nth  int    // number of the check in the test

	mu   sync.Mutex
	idle []*process
	all  map[*process]bool // the ones alive
	over bool
	none error // why no process can make runs; nil: not known to be so
	read inputs
	seed struct { // the lowest seed whose run is unknown; runs of higher ones are useless
		of  uint64
		why error // nil: there is none
	}

	spawner spawner
}

// newProcesses makes the runs of a scenario, for the n-th check of a test, happen in processes.
func newProcesses(ctx context.Context, s *scenarios.Scenario, name string, nth int) *processes {
	x := &processes{ctx: ctx, name: name, nth: nth, all: map[*process]bool{}}
	s.Outside = func(*sim.World, func() error) error { panic("zktest: a run of a process of its own") }
	s.Elsewhere = x.worker
	return x
}

// errInterrupted says that a run was interrupted. All runs are when go test is about to end the test.
var errInterrupted = errors.New("the time of the test was up")

// worker returns a worker for a runner.
func (x *processes) worker() (engine.Worker, error) { return &worker{all: x}, nil }

// take returns a process that waits for an order.
func (x *processes) take() (*process, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch n := len(x.idle); {
	case x.over || x.ctx.Err() != nil:
		return nil, errInterrupted
	case x.none != nil:
		return nil, x.none
	case n > 0:
		p := x.idle[n-1]
		x.idle = x.idle[:n-1]
		return p, nil
	}
	p, err := x.start()
	if err != nil {
		x.none = err
		return nil, err
	}
	x.all[p] = true
	return p, nil
}

// give returns a process to the pool, alive or not.
func (x *processes) give(p *process, alive bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if alive && !x.over {
		x.idle = append(x.idle, p)
		return
	}
	delete(x.all, p)
}

// close ends all processes and waits for them. A process that waits for an order, or makes a run that was ordered
// ahead, writes its coverage first.
func (x *processes) close() {
	x.mu.Lock()
	x.over = true
	list := x.idle
	x.idle = nil
	rest := x.all
	x.mu.Unlock()
	for _, p := range list {
		p.orders.Close()
	}
	for _, p := range list {
		p.leave(x.ctx)
		p.pass()
		x.release(p)
		delete(rest, p)
	}
	for p := range rest { // order-free: all are ended
		p.kill()
		<-p.ended
		x.release(p)
	}
	x.spawner.close()
	x.read.tell()
}

// release frees the resources of a process that has ended.
func (x *processes) release(p *process) {
	x.mu.Lock()
	x.read.of(p)
	x.mu.Unlock()
	p.release()
}

// Environment variables of a process that makes runs.
const (
	checkVariable  = "ZKSIM_CHILD"          // which check asks for them
	coverVariable  = "ZKSIM_CHILD_COVERAGE" // the folder for its coverage
	inlineVariable = "ZKSIM_INLINE"         // not empty: the process of the test makes the runs, as for a debugger
)

// process is the parent's view of one of the processes.
type process struct {
	cmd     *exec.Cmd
	orders  *os.File
	queue   *bufio.Writer // orders to send
	encode  *gob.Encoder  // into queue
	replies chan *engine.Reply
	shared  *shared
	out     [2]output     // what it prints
	tmp     string        // its folder for temporary files
	ready   bool          // it waits for orders
	ended   chan struct{} // closed when it has ended and all its output is there
	killed  bool          // by us

	strategy engine.Strategy // of the runs ordered ahead
	ahead    []uint64        // seeds of runs that were ordered but not asked for yet
	ordered  int64           // number of runs ordered
	replied  int64           // number of runs replied to
	vain     int64           // this many of the first runs are not needed any more
}

// start starts a process.
func (x *processes) start() (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{replies: make(chan *engine.Reply, 2*maxAhead+2), ended: make(chan struct{})}
	if p.tmp, err = os.MkdirTemp("", "zksim-run-*"); err != nil {
		return nil, err
	}
	p.cmd = exec.Command(self, arguments(x.name, p.tmp)...)
	p.cmd.Dir = folder
	p.cmd.Env = append(os.Environ(), checkVariable+"="+called(x.name, x.nth), "GOMAXPROCS=1", "GOTRACEBACK=crash",
		"TMPDIR="+p.tmp, "PWD="+folder,
		"GODEBUG="+list(os.Getenv("GODEBUG"), "asyncpreemptoff=1", "randseednop=0", "tracebacklabels=1"),
		"GORACE="+strings.TrimSpace(os.Getenv("GORACE")+" halt_on_error=1 exitcode="+strconv.Itoa(raceStatus)))
	if dir := value("test.gocoverdir"); testing.CoverMode() != "" && dir != "" {
		p.cmd.Env = append(p.cmd.Env, coverVariable+"="+dir)
	}
	p.cmd.SysProcAttr = attributes()
	p.cmd.Stdout, p.cmd.Stderr = &p.out[0], &p.out[1]
	if heard() {
		p.out[0].to, p.out[1].to = os.Stdout, os.Stderr
	}
	p.cmd.WaitDelay = time.Second // for commands that the code has started
	return p, p.launch(&x.spawner)
}

// list joins the words with commas, without the first one if it is empty.
func list(words ...string) string {
	if words[0] == "" {
		words = words[1:]
	}
	return strings.Join(words, ",")
}

// launch starts the process, with its pipes and its shared memory.
func (p *process) launch(by *spawner) (err error) {
	var files [4]*os.File // orders to read and write, replies to read and write
	defer func() {
		for _, f := range []*os.File{files[0], files[3]} { // the child's ends
			f.Close()
		}
		if err != nil {
			files[1].Close()
			files[2].Close()
			p.release()
		}
	}()
	if p.shared, err = newShared(p.tmp); err != nil {
		return err
	}
	if files[0], files[1], err = os.Pipe(); err != nil {
		return err
	}
	if files[2], files[3], err = os.Pipe(); err != nil {
		return err
	}
	p.cmd.ExtraFiles = []*os.File{files[0], files[3], p.shared.file}
	if err = by.spawn(p.cmd); err != nil {
		return err
	}
	engine.Carry()
	p.orders, p.queue = files[1], bufio.NewWriter(files[1])
	p.encode = gob.NewEncoder(p.queue)
	go func() {
		replies := gob.NewDecoder(io.MultiReader(files[2], &unsent{shared: p.shared}))
		for {
			r := new(engine.Reply)
			if replies.Decode(r) != nil {
				break
			}
			p.replies <- r
		}
		files[2].Close()
		p.cmd.Wait()
		close(p.ended)
	}()
	return nil
}

// forsake drops the runs that were ordered ahead.
func (p *process) forsake() {
	p.ahead, p.vain = nil, p.ordered
	p.shared.vain().Store(p.vain)
}

// leave waits until the process, which gets no more orders, has ended. It may be in a run that was ordered ahead; leave
// does not wait for that run when time is up.
func (p *process) leave(ctx context.Context) {
	watchdog := newWatchdog(p)
	defer watchdog.Stop()
	for up := ctx.Done(); ; {
		select {
		case <-p.ended:
			return
		case <-up:
			if up = nil; p.shared.over().Load() < p.ordered {
				p.kill()
			}
		case <-watchdog.C:
			watchdog.look()
		}
	}
}

// kill ends the process at once.
func (p *process) kill() {
	p.killed = true
	p.cmd.Process.Kill()
}

// release frees what is shared with the process.
func (p *process) release() {
	if p.orders != nil {
		p.orders.Close()
	}
	if p.shared != nil {
		p.shared.close()
	}
	os.RemoveAll(p.tmp)
}

// greet waits until a new process is ready for orders.
func (p *process) greet(ctx context.Context) error {
	if p.ready {
		return nil
	}
	select {
	case <-p.replies:
		p.ready = true
		return nil
	case <-p.ended:
		said := p.out[1].String()
		if at := panicked.FindStringIndex(said); at != nil {
			said = fatal(said[at[0]:])
		} else if strings.TrimSpace(said) == "" {
			said = p.out[0].String()
		}
		return fmt.Errorf("a process for runs runs the test up to the call of package zktest, and has ended before that "+
			"(%v): %s", p.cmd.ProcessState, last(said))
	case <-ctx.Done():
		p.kill()
		<-p.ended
		return errInterrupted
	}
}

// output is what a process prints in its runs. With -v, and when a schedule is replayed, it is passed on, unless the
// process dies and its output says why. Otherwise the output of hundreds of runs would hide what was found.
type output struct {
	mu    sync.Mutex
	buf   []byte
	begun bool     // runs have begun; what came before was said by the parent, too
	kept  int      // bytes that flushRun has kept
	to    *os.File // nil: nobody
}

// beginning is what a process prints when it is ready for runs. Its reply that says so may arrive before what it has
// printed until then.
const beginning = "\x00zktest: what comes now is of runs\x00\n"

// begin prints that.
func begin() {
	for _, f := range printed {
		f.WriteString(beginning)
	}
}

// printed are the files that a process for runs prints to, whatever the test makes of the variables.
var printed = [2]*os.File{os.Stdout, os.Stderr}

// heard reports whether the output of runs is passed on.
func heard() bool { return testing.Verbose() || value("zksim.schedule") != "" }

// maxOutput limits how much output is kept to explain the death of the process.
const maxOutput = 32 << 20

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.buf)+len(b) > maxOutput {
		o.makeRoom()
	}
	from := max(0, len(o.buf)-len(beginning))
	o.buf = append(o.buf, b[:min(len(b), maxOutput-len(o.buf))]...)
	if !o.begun {
		o.begins(from)
	}
	return len(b), nil
}

// begins forgets what was printed before the runs, if they have begun in the output from there on.
func (o *output) begins(from int) {
	if at := bytes.Index(o.buf[from:], []byte(beginning)); at >= 0 {
		o.buf, o.begun = slices.Delete(o.buf, 0, from+at+len(beginning)), true
	}
}

// makeRoom passes on, or forgets, the output so far, except a panic at its end that is still being printed.
func (o *output) makeRoom() {
	end := bytes.LastIndexByte(o.buf, '\n') + 1
	if end < len(o.buf)/2 {
		end = len(o.buf)
	}
	o.drop(o.panicFrom(len(o.buf)/2, end))
}

// panicFrom returns where the last panic in the output begins, looking from there on; end if there is none.
func (o *output) panicFrom(from, end int) int {
	for _, at := range panicked.FindAllIndex(o.buf[from:], -1) {
		end = from + at[0]
	}
	return end
}

// drop passes on, or forgets, the output up to there.
func (o *output) drop(end int) {
	if o.to != nil && o.begun && end > 0 {
		o.to.Write(o.buf[:end])
	}
	o.buf, o.kept = o.buf[:copy(o.buf, o.buf[end:])], 0
}

// pass passes on what the process has printed.
func (p *process) pass() {
	p.out[0].flush()
	p.out[1].flush()
}

// passRun is pass for a process that goes on after a run.
func (p *process) passRun() {
	p.out[0].flush()
	p.out[1].flushRun()
}

// flush passes on the output so far, or forgets it.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.begun {
		o.drop(len(o.buf))
	}
}

// flushRun is flush, but it keeps a panic at the end: a goroutine outside of the run may have begun to print what the
// process dies of. It keeps that once: by the next call the process has not died of it.
func (o *output) flushRun() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.begun {
		o.drop(o.panicFrom(o.kept, len(o.buf)))
		o.kept = len(o.buf)
	}
}

// String returns the output so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.buf)
}
