package ensemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"zksim/internal/wire"
	"zksim/model/history"
	"zksim/recipes/live"
	"zksim/scenarios/engine"
	"zksim/scenarios/herd"
)

// observation is a run on a real ensemble that is still in progress, as heard on the connections of its clients. All
// methods may be called concurrently.
type observation struct {
	host    *liveHost
	taps    []*wire.Tap
	clients []*live.Client
	sent    atomic.Int64 // packets

	mu     sync.Mutex  // guards what follows
	heard  []time.Time // time of the last message of each client, except pings
	broken error
}

// clock counts the steps of a real run and records the time of each.
type clock struct {
	begin time.Time
	at    []time.Duration
}

//zksim:ignore only on a real ensemble
func (c *clock) step() int32 {
	c.at = append(c.at, time.Since(c.begin))
	return int32(len(c.at))
}

// Observe runs a scenario on a real ensemble until watch returns. Then it cancels the contexts and closes the
// connections of programs that still run; they must end. The returned history has, besides what programs record,
// everything that was said on the wire, see [wire.Causes]. The returned times are those of its steps since the programs
// began. Observe fails when a connection is lost, or a program has given up.
func (e Ensemble) Observe(
	ctx context.Context, s *engine.Scenario, watch func(ctx context.Context, run herd.Run) error,
) (*history.History, []time.Duration, error) {
	o := LiveOptions{Servers: e}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	h := &liveHost{ctx: inner, times: &clock{begin: time.Now()}}
	h.history.Reset(s.Clients)
	x := &observation{host: h, heard: make([]time.Time, s.Clients), clients: make([]*live.Client, s.Clients),
		taps: make([]*wire.Tap, s.Clients)}
	silent := func(c net.Conn) (net.Conn, error) {
		return (&wire.Tap{Packet: x.packet, Hear: func(history.Event) {}, Broken: func(error) {}}).Conn(c), nil
	}
	err := h.within(ctx, s, o, tapping(silent), func() error {
		defer x.hangUp()
		if err := x.dial(ctx, o); err != nil {
			return err
		}
		h.times.begin = time.Now()
		ended := x.start(s)
		err := errors.Join(watch(ctx, x), x.Failure())
		h.mu.Lock()
		h.over = true
		h.mu.Unlock()
		cancel()
		x.hangUp()
		select {
		case <-ended:
			return err
		case <-time.After(endLimit):
			return errors.Join(err, fmt.Errorf("a program goes on %v after its context was cancelled and its connection closed",
				endLimit))
		}
	})
	if err == nil {
		err = wire.Causes(&h.history)
	}
	return &h.history, h.times.at, err
}

// endLimit is how long programs may take to end when they cannot do anything more.
const endLimit = 10 * time.Second

// dialers is how many clients connect at the same time.
const dialers = 16

// dial connects all clients.
func (x *observation) dial(ctx context.Context, o LiveOptions) error {
	errs := make([]error, len(x.clients))
	for first := 0; first < len(x.clients); first += dialers {
		var wg sync.WaitGroup
		for i := first; i < min(first+dialers, len(x.clients)); i++ {
			x.taps[i] = x.tap(i)
			wg.Go(func() {
				x.clients[i], errs[i] = dial(ctx, o, tapping(func(c net.Conn) (net.Conn, error) { return x.listen(i, c) }))
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

// tapping returns the options of a client whose connections go through tap.
func tapping(tap func(net.Conn) (net.Conn, error)) live.Options {
	return live.Options{SessionTimeout: time.Minute,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return tap(c)
		}}
}

// listen taps the only connection that client i may have.
func (x *observation) listen(i int, c net.Conn) (net.Conn, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.heard[i].IsZero() {
		x.broken = cmp.Or(x.broken, fmt.Errorf("c%d has lost its connection", i+1)) // it will keep retrying
		c.Close()
		return nil, x.broken
	}
	x.heard[i] = time.Now()
	return x.taps[i].Conn(c), nil
}

func (x *observation) tap(i int) *wire.Tap {
	return &wire.Tap{Client: int32(i + 1),
		Hear: func(e history.Event) {
			x.mu.Lock()
			x.heard[i] = time.Now()
			x.mu.Unlock()
			x.host.hear(e)
		},
		Packet: x.packet,
		Broken: func(err error) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.broken = cmp.Or(x.broken, err)
		}}
}

func (x *observation) packet(sent bool) {
	if sent {
		x.sent.Add(1)
	}
}

// start starts the programs; the channel is closed when all have ended.
func (x *observation) start(s *engine.Scenario) <-chan struct{} {
	var wg sync.WaitGroup
	for i, c := range x.clients {
		p := engine.Process{Conn: c, Env: c.Env(), ID: i + 1, Clients: len(x.clients)}.On(x.host, x.host.root,
			&x.host.resource)
		wg.Go(func() { s.Program(p) })
	}
	ended := make(chan struct{})
	go func() {
		wg.Wait()
		close(ended)
	}()
	return ended
}

// hangUp closes all connections, in parallel. It can be called again.
func (x *observation) hangUp() {
	var wg sync.WaitGroup
	for _, c := range x.clients {
		if c != nil {
			wg.Go(c.Close)
		}
	}
	wg.Wait()
}

// Elapsed returns the time since the programs began.
func (x *observation) Elapsed() time.Duration { return time.Since(x.host.times.begin) }

// Idle returns how long the first n clients have said and heard nothing. It is 0 while one of them waits for an answer.
// Pings do not count.
func (x *observation) Idle(n int) time.Duration {
	for _, t := range x.taps[:n] {
		if t.Open() > 0 {
			return 0
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	last := slices.MaxFunc(x.heard[:n], time.Time.Compare)
	return min(time.Since(last), x.Elapsed())
}

// Sent returns how many packets were sent by the clients and by the one that prepared the run, including handshakes and
// pings.
func (x *observation) Sent() int64 { return x.sent.Load() }

// Failure returns what has gone wrong so far: a lost connection, or a program that gave up.
func (x *observation) Failure() error {
	x.host.mu.Lock()
	defer x.host.mu.Unlock()
	for c := range x.clients {
		if why, ok := x.host.history.Failed[int32(c+1)]; ok {
			return fmt.Errorf("c%d gave up: %s", c+1, why)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.broken
}
