package zktest

import "time"

// watchdog looks after code that may not come to rest. It knows by the number of turns: a process whose code has had
// the same turn for long is asked to look whether its goroutines wait for one another, and in the end to show them.
// Time is counted in looks, so that a machine that was asleep is no reason; and what the process had of a processor, so
// that code that spins is told of sooner, and never because others had the processors.
type watchdog struct {
	*time.Ticker
	p     *process
	turn  int64
	looks int
	time  func() time.Duration // for which it has had a processor
	used  time.Duration        // that, when the turn was first seen; 0: unknown
}

// How often it looks, after how many looks it asks, which may change the turns of goroutines, and after how many the
// process is ended. It asks again after twice as many each time: to look at a deep stack takes long, and code that
// makes one would do nothing else.
const (
	lookEvery = 20 * time.Millisecond
	askAfter  = 2
	endAfter  = stuck * aSecond
	aSecond   = int(time.Second / lookEvery)
)

// spinning is for how many seconds of a processor code may go on in one turn. What instruments it slows it down.
const spinning = 10

// The ways in which code does not come to rest.
const (
	hangs = 1 + iota // for stuck seconds
	spins            // for spinning seconds of a processor
)

func newWatchdog(p *process) *watchdog {
	return &watchdog{Ticker: time.NewTicker(lookEvery), p: p, turn: -1,
		time: func() time.Duration { return processorTime(p.cmd.Process.Pid) }}
}

// look looks once.
func (x *watchdog) look() {
	if now := x.p.shared.turns().Load(); now != x.turn || now%2 == 0 {
		x.turn, x.looks = now, 0
		return
	}
	x.looks++
	how := int64(hangs)
	if x.looks < endAfter && x.spins() {
		x.looks, how = endAfter, spins
	}
	switch {
	case x.looks == endAfter:
		x.p.shared.hung().Store(how)
		x.p.cmd.Process.Signal(showSignal)
	case x.looks == endAfter+aSecond*showFor:
		x.p.cmd.Process.Kill()
	case x.looks >= askAfter && x.looks&(x.looks-1) == 0 && x.looks < endAfter:
		x.p.cmd.Process.Signal(askSignal)
	}
}

// spins reports whether the turn has taken too much of a processor. It looks once a second.
func (x *watchdog) spins() bool {
	if x.looks == 1 {
		x.used = x.time()
	}
	return x.looks%aSecond == 0 && x.used > 0 && !instrumented && x.time()-x.used >= spinning*time.Second
}

// showFor is how many seconds a process may take to show its goroutines.
const showFor = 10
