package ensemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/nemesis"
	"zksim/internal/stacks"
	"zksim/internal/wire"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/live"
	"zksim/scenarios/engine"
)

// Limits of a run with faults, beyond those of the options.
const (
	faultsLimit = time.Minute           // until everything that was drawn must have struck
	healLimit   = 90 * time.Second      // until all servers serve
	settleLimit = 10 * time.Second      // until all clients are connected, after the faults
	settleRest  = 2 * time.Second       // how long they must stay so, if programs wait for the end of the faults
	stepWork    = 20 * time.Millisecond // how long a step of a program takes while faults strike
	lookEvery   = 10 * time.Millisecond // how often to check whether something is over
	stillness   = 3 * time.Second       // within which a program that waits for nothing goes on
	graceOfEnds = 20                    // checks in a row at which nothing goes on that the programs have left behind
)

// liveRun is a run in progress.
type liveRun struct {
	LiveRun
	host     *liveHost
	scenario *engine.Scenario
	o        LiveOptions
	diary    *nemesis.Diary
	nemesis  *nemesis.Nemesis
	clients  []*live.Client
	finished []bool // by client

	mu      sync.Mutex
	spoken  time.Time       // when a client last said or heard anything but pings
	taps    []*wire.Tap     // of the connections of clients, further ones last
	state   []zk.State      // of each connection
	closed  []bool          // of each connection: its session was closed
	who     map[int64]int32 // clients, by session
	several map[int32]int32 // number of further connections, by client
	broken  error
	timers  int        // number of timers that programs wait for
	pending []*pending // timers that are due
	over    bool       // the faults are over
	free    int        // timers that may still fire before that, without faults; 0: any number
}

// newLiveRun returns a run that has not started.
func newLiveRun(s *engine.Scenario, o LiveOptions) *liveRun {
	o = o.withDefaults(s)
	host := &liveHost{Draws: engine.Draws{Seed: o.Seed}, rests: newRests()}
	x := &liveRun{host: host, scenario: s, o: o, diary: nemesis.NewDiary()}
	x.host.history.Reset(o.Clients)
	x.Plan = nemesis.Draw(o.Faults, o.Seed)
	return x
}

// run connects the clients, lets the faults strike, and records the end.
func (x *liveRun) run(ctx context.Context) error {
	n := x.o.Clients
	x.clients, x.taps, x.state = make([]*live.Client, n), make([]*wire.Tap, n), make([]zk.State, n)
	x.closed, x.finished, x.spoken = make([]bool, n), make([]bool, n+1), time.Now()
	x.who, x.several = map[int64]int32{}, map[int32]int32{}
	x.nemesis = nemesis.New(nemesis.Options{Plan: x.Plan, Seed: x.o.Seed, Clients: n, Timeout: x.o.Session,
		Addrs: x.o.Servers, Servers: x.o.Ours, Usual: x.o.Usual, Root: x.host.root, Record: x.host.hear, Diary: x.diary,
		Cancels: x.host.interrupts})
	x.host.wait = x.nemesis.Wait
	if len(x.o.Faults) > 0 {
		x.host.work = stepWork
	}
	x.host.rest, x.host.present = x.rest, map[connection]int64{}
	x.host.connect = func(id int) (recipes.Conn, recipes.Env, error) { return x.dialFurther(ctx, id) }
	defer x.close(ctx)
	for i := range x.clients {
		c, err := dial(ctx, x.o, x.options(i, connection{client: int32(i + 1)}))
		if err != nil {
			return err
		}
		x.clients[i] = c
	}
	x.o.Session = x.nemesis.Grant()
	if x.free = x.haste(); len(x.o.Faults) == 0 && x.free == 0 {
		x.calm()
	}
	ended := make(chan int, n)
	for i, c := range x.clients {
		p := engine.Process{ID: i + 1, Clients: n, Rounds: x.scenario.Rounds}
		p.Conn, p.Env = x.process(i, c, connection{client: int32(i + 1)})
		p = *p.On(x.host, x.host.root, &x.host.resource)
		go func() {
			x.host.main.Store(stacks.ID(), true)
			defer func() {
				ended <- p.ID
			}()
			defer x.panics()
			x.scenario.Program(&p)
		}()
	}
	if err := x.strike(ctx, ended); err != nil {
		return err
	}
	if err := x.await(ctx, ended); err != nil {
		return err
	}
	return x.finish(ctx)
}

// panics is deferred by the goroutines of programs, and records that one has panicked.
//
//zksim:ignore only on a real ensemble
func (x *liveRun) panics() {
	why := recover()
	if why == nil {
		return
	}
	h := x.host
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over {
		h.history.Outcome, h.history.Panic = history.Panicked, fmt.Sprintf("%v\n\n%s", why, debug.Stack())
	}
}

// close ends everything that the run has started.
func (x *liveRun) close(ctx context.Context) {
	x.host.rests.end()
	ctx, cancel := context.WithTimeout(ctx, healLimit)
	defer cancel()
	x.nemesis.Heal(ctx)
	var wg sync.WaitGroup
	x.host.mu.Lock()
	all := append(slices.Clip(x.clients), x.host.dialed...)
	x.host.mu.Unlock()
	for _, c := range all {
		if c != nil {
			wg.Go(c.Close)
		}
	}
	wg.Wait()
}

// options returns the options of connection i.
func (x *liveRun) options(i int, of connection) live.Options {
	var session int64 // of the library, which calls OnSession in one goroutine
	return live.Options{SessionTimeout: x.o.Session, Dial: x.dialer(i, of.client),
		OnSession: func(ev zk.Event) {
			x.mu.Lock()
			x.state[i], x.spoken = ev.State, time.Now()
			switch ev.State {
			case zk.StateHasSession:
				session = x.taps[i].Session()
				x.who[session] = of.client
			case zk.StateExpired:
				session = 0
			}
			x.mu.Unlock()
			x.host.hear(history.Event{Kind: history.Session, Client: of.client, Op: ev.State.String(), Session: session,
				Version: of.number})
		}}
}

// dialer returns a function that dials connection i, which belongs to a client, through a tap.
//
//zksim:ignore only on a real ensemble
func (x *liveRun) dialer(i int, client int32) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		tap := &wire.Tap{Client: client, Hear: x.hears(i), Broken: x.breaks, Read: x.host.reads(client),
			Wrote: x.host.writes(client)}
		x.mu.Lock()
		x.taps[i] = tap
		x.mu.Unlock()
		return x.nemesis.Dial(ctx, int(client), network, address, tap)
	}
}

// hears returns the function that hears the tap of connection i.
func (x *liveRun) hears(i int) func(history.Event) {
	return func(e history.Event) {
		x.speak()
		if e.Kind == history.Call && e.Op == "closeSession" {
			x.closes(i)
		}
		x.host.hear(e)
	}
}

// closes records that connection i is closed for good.
func (x *liveRun) closes(i int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed[i] = true
}

// speak records that something has happened.
func (x *liveRun) speak() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.spoken = time.Now()
}

func (x *liveRun) breaks(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.broken = cmp.Or(x.broken, err)
}

// quiet returns how long nothing has been said; 0 while a program waits for a time to come.
func (x *liveRun) quiet() time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.timers > 0 {
		return 0
	}
	return time.Since(x.spoken)
}

// collect records the programs that have ended, and returns how many have.
func (x *liveRun) collect(ended <-chan int) (n int) {
	for len(ended) > 0 { // nobody else receives
		x.finished[<-ended] = true
	}
	for _, f := range x.finished {
		if f {
			n++
		}
	}
	return n
}

// until checks f again and again until it is true, or ctx is done.
//
//zksim:ignore only on a real ensemble
func until(ctx context.Context, f func() bool) error {
	for !f() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lookEvery):
		}
	}
	return nil
}

// strike waits for the faults, heals, and records that they are over.
func (x *liveRun) strike(ctx context.Context, ended <-chan int) error {
	if len(x.o.Faults) == 0 {
		return x.hurry(ctx, ended)
	}
	end := time.Now().Add(faultsLimit)
	err := until(ctx, func() bool {
		over := x.collect(ended)+x.host.rests.count() >= len(x.clients) && x.nemesis.Spent(0)
		return over || x.nemesis.Spent(x.o.Session) || time.Now().After(end)
	})
	if err != nil {
		return err
	}
	heal, cancel := context.WithTimeout(ctx, healLimit)
	defer cancel()
	healed := x.nemesis.Heal(heal)
	x.Struck = x.nemesis.Struck()
	if healed != nil {
		return fmt.Errorf("after the faults the ensemble does not serve: %w", healed)
	}
	x.calm()
	return x.settle(ctx, ended)
}

// settle waits until only what programs do is to be expected: clients are connected and, unless all programs have
// ended, sessions that clients left behind have ended. Then programs that rest go on, and a client that wants to rest
// later need not wait.
func (x *liveRun) settle(ctx context.Context, ended <-chan int) error {
	defer func() {
		x.host.rests.end()
		x.speak()
	}()
	rest := settleRest
	x.mu.Lock()
	if len(x.who) > len(x.clients) {
		rest = max(rest, x.o.Session+x.o.Session/2)
	}
	x.mu.Unlock()
	begin := time.Now()
	return until(ctx, func() bool {
		switch since := time.Since(begin); {
		case since < rest && x.collect(ended) < len(x.clients):
			return false
		case since > settleLimit+2*x.o.Session:
			return true
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		for i, s := range x.state {
			if s != zk.StateHasSession && !x.closed[i] {
				return false
			}
		}
		return true
	})
}

// patience is how long nothing must be said before the run is over: a session may have to end first.
func (x *liveRun) patience() time.Duration { return x.o.Session + x.o.Session/2 + stillness }

// await waits for the programs. How long they take in all depends on the machine. They may go on as long as one of them
// ends, or an operation returns, from time to time.
func (x *liveRun) await(ctx context.Context, ended <-chan int) error {
	last, done := time.Now(), 0
	err := until(ctx, func() bool {
		n := x.collect(ended)
		if n > done {
			last, done = time.Now(), n
		}
		x.host.mu.Lock()
		got := x.host.got
		x.host.mu.Unlock()
		return n == len(x.clients) || x.quiet() > x.patience() || min(time.Since(last), time.Since(got)) > x.o.Timeout
	})
	if err != nil {
		return err
	}
	if x.collect(ended) < len(x.clients) {
		return nil
	}
	end := time.Now().Add(settleLimit + 2*x.o.Session)
	lull := x.lull(graceOfEnds, x.idle)
	return until(ctx, func() bool {
		_, ok := lull()
		return ok || time.Now().After(end)
	})
}

// finish records the state at the end.
func (x *liveRun) finish(ctx context.Context) error {
	h := x.host
	waits := x.quiet() > x.patience()
	h.mu.Lock()
	h.over = true
	h.mu.Unlock()
	x.mu.Lock()
	broken := x.broken
	x.mu.Unlock()
	x.Diary, x.Struck = x.diary.Lines(), x.nemesis.Struck()
	if broken != nil {
		return broken
	}
	copy(h.history.Finished, x.finished)
	for i, c := range x.clients {
		id := int32(i + 1)
		h.history.Sessions[c.SessionID()] = id
		switch {
		case x.finished[id], h.history.Outcome == history.Panicked:
		case waits:
			h.history.Waiting = append(h.history.Waiting, history.Waiting{Client: id, Paths: armed(&h.history, id)})
		default:
			h.history.Outcome = history.Stopped
			h.history.Failed[id] = fmt.Sprintf("did not end, and nothing has returned for %v", x.o.Timeout)
		}
	}
	if h.history.Outcome == history.Quiet {
		if m := engine.Judging(h.answer); m != nil {
			return m
		}
	}
	ctx, cancel := context.WithTimeout(ctx, healLimit)
	defer cancel()
	looks, err := x.audit(ctx)
	if err != nil {
		return err
	}
	return x.committed(ctx, looks)
}

// audit reads the znodes of the run, at each server of an ensemble of ours, because a server may have others than its
// log says.
func (x *liveRun) audit(ctx context.Context) (looks []look, err error) {
	ways := [][]string{x.o.Servers}
	if x.o.Ours != nil {
		ways = slices.Collect(slices.Chunk(x.o.Servers, 1))
	}
	for _, way := range ways {
		var a audit
		o := x.o
		o.Servers = way
		err := administer(ctx, o, a.options(), func(admin *live.Client) error { return a.read(ctx, admin, x.host.root) })
		if err != nil {
			return nil, err
		}
		x.host.history.Tree = a.tree()
		looks = append(looks, a.looks...)
	}
	return looks, nil
}

// answer records which znodes the objects answer for.
func (h *liveHost) answer() {
	for _, znodes := range h.known {
		for _, path := range znodes() {
			h.history.Known[path] = true
		}
	}
}

// judge completes the run with its verdict, or with what is wrong with the store.
func (x *liveRun) judge() (err error) {
	x.History, x.Store = &x.host.history, below(x.host.root, x.Store)
	relative(x.History, x.host.root)
	if x.Store == "" {
		x.Verdict, err = x.scenario.JudgeReal(x.History)
		x.Waived, x.Blind = x.scenario.Waived(x.History), x.scenario.Unjudged(x.History)
		return err
	}
	if x.o.Ours == nil {
		return nil
	}
	logs, err := logsOf(x.o.Ours, len(x.o.Servers))
	for _, line := range listed(logs) {
		x.Txns = append(x.Txns, below(x.host.root, line))
	}
	return err
}

// committed completes the history with what was committed, and judges the ensemble by its logs and by what it says at
// the end.
func (x *liveRun) committed(ctx context.Context, looks []look) error {
	h := x.host
	if why := disorder(&h.history, x.several); why != "" {
		x.Store = why
		return nil
	}
	if x.o.Ours == nil {
		forget(h)
		h.put(nil)
		return nil
	}
	log, ambiguous, err := wholeLog(x.o.Ours, len(x.o.Servers), &h.history, looks)
	if err != nil {
		return err
	}
	past, contradiction := pastOf(log)
	groups := groupsOf(&h.history, log, h.root, x.who)
	x.Store = cmp.Or(ambiguous, contradiction, lost(&h.history, log), past.untrue(&h.history), past.mistold(h.told),
		past.misjudged(h.wrote), past.mistold(looks), untold(&h.history, groups, log, h.root))
	if x.Store != "" {
		return nil
	}
	return errors.Join(merge(h, groups), ctx.Err())
}

// armed returns the paths of the watches that a client has left and that have not fired.
func armed(h *history.History, client int32) (paths []string) {
	set := map[string]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Client != client {
			continue
		}
		switch {
		case e.Kind == history.Notify:
			delete(set, e.Path)
		case e.Kind == history.Session && e.Op == zk.StateExpired.String() && e.Version == 0:
			clear(set)
		case e.Kind == history.Reply && watching(e):
			set[e.Path] = true
		}
	}
	for i := range h.Events { // in the order of the watches
		if e := &h.Events[i]; e.Client == client && set[e.Path] && e.Kind == history.Reply && watching(e) {
			delete(set, e.Path)
			paths = append(paths, e.Path)
		}
	}
	return paths
}

// watching reports whether a reply says that a watch was left.
func watching(e *history.Event) bool {
	switch e.Op {
	case "existsW":
		return e.Err == nil || errors.Is(e.Err, zk.ErrNoNode)
	case "getW", "childrenW":
		return e.Err == nil
	}
	return false
}
